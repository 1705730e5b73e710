/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scopes.c: searches that libdw does not do, or not well enough.
 *
 * dwarf_getscopes() passes by a namespace, which has no addresses of its own; gcc defines
 * functions outside of it, clang within. And libdw knows no parent of a DIE, only by walking the
 * unit from its start for each; so a unit is walked once, and what holds functions is kept in
 * the order of the walk, which is that of the offsets.
 */
#include "scopes.h"

#include "textstream.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Namespaces and classes deeper than this are taken for nonsense and passed by. */
#define DEPTH_MAX 64

#define NO_PARENT SIZE_MAX

struct scopes_entry {
    Dwarf_Off offset;
    size_t parent; /* its namespace or class in the same unit, NO_PARENT outside of all */
    const char *name;
    char *qualified; /* NULL until asked for */
};

struct scopes_unit {
    Dwarf_Off offset;
    Dwarf *dwarf;
    struct vector entries; /* struct scopes_entry, by offset */
};

static bool tag_encloses_names(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/*
 * The function in @parent, or in a namespace or class of it, whose code @address is in. With
 * @in_functions also those of classes within functions, where gcc puts them.
 */
static bool function_find(Dwarf_Die *parent, Dwarf_Addr address, bool in_functions, int depth,
                          Dwarf_Die *ret_function) {
    Dwarf_Die child;
    if (depth == DEPTH_MAX || dwarf_child(parent, &child) != 0)
        return false;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram && dwarf_haspc(&child, address) > 0) {
            *ret_function = child;
            return true;
        }
        bool enter =
            tag_encloses_names(tag) ||
            (in_functions && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block));
        if (enter && function_find(&child, address, in_functions, depth + 1, ret_function))
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* From @scope to the innermost block or inlined function around @address. */
static void scope_descend(Dwarf_Die *scope, Dwarf_Addr address) {
    Dwarf_Die child;
    bool more = dwarf_child(scope, &child) == 0;
    while (more) {
        if (dwarf_haspc(&child, address) > 0) {
            *scope = child;
            more = dwarf_child(scope, &child) == 0;
        } else {
            more = dwarf_siblingof(&child, &child) == 0;
        }
    }
}

static bool innermost_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *ret_innermost) {
    Dwarf_Die *scopes = NULL;
    if (dwarf_getscopes(unit, address, &scopes) > 0) {
        *ret_innermost = scopes[0];
        free(scopes);
        if (dwarf_tag(ret_innermost) != DW_TAG_compile_unit)
            return true;
    }
    if (!function_find(unit, address, false, 0, ret_innermost) &&
        !function_find(unit, address, true, 0, ret_innermost))
        return false;
    scope_descend(ret_innermost, address);
    return true;
}

int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **ret_scopes) {
    Dwarf_Die innermost;
    Dwarf_Die *scopes = NULL;
    if (!innermost_at(unit, address, &innermost))
        return 0;
    int count = dwarf_getscopes_die(&innermost, &scopes);
    if (count > 0)
        *ret_scopes = scopes;
    return count;
}

static const char *die_name(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

/* Where the function is first declared: what its copies and its definition refer to. */
static Dwarf_Die declaration_of(Dwarf_Die die) {
    static const unsigned int references[] = {DW_AT_abstract_origin, DW_AT_specification};
    for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die to;
        if (dwarf_formref_die(dwarf_attr(&die, references[i], &attribute), &to))
            die = to;
    }
    return die;
}

static const char *enclosing_name(Dwarf_Die *die) {
    const char *name = dwarf_diename(die);
    if (name)
        return name;
    return dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
}

/* Functions outside of everything need no entry: their plain name is the whole. */
static int unit_walk(struct scopes_unit *unit, Dwarf_Die *parent, size_t entry, int depth) {
    Dwarf_Die child;
    if (depth == DEPTH_MAX || dwarf_child(parent, &child) != 0)
        return 0;
    do {
        int tag = dwarf_tag(&child);
        bool encloses = tag_encloses_names(tag);
        if (!encloses && (tag != DW_TAG_subprogram || entry == NO_PARENT))
            continue;
        struct scopes_entry *added = vector_add(&unit->entries);
        if (!added)
            return -ENOMEM;
        *added = (struct scopes_entry){
            .offset = dwarf_dieoffset(&child),
            .parent = entry,
            .name = encloses ? enclosing_name(&child) : dwarf_diename(&child),
        };
        int r = encloses ? unit_walk(unit, &child, unit->entries.count - 1, depth + 1) : 0;
        if (r < 0)
            return r;
    } while (dwarf_siblingof(&child, &child) == 0);
    return 0;
}

/* C has nothing that encloses a function's name, and structures that are not worth a walk. */
static bool unit_is_c(Dwarf_Die *root) {
    int language = dwarf_srclang(root);
    return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
           language == DW_LANG_C11;
}

/* The unit @die is in. NULL: no memory. */
static struct scopes_unit *unit_of(struct scopes *scopes, Dwarf_Die *die) {
    Dwarf_Die root;
    if (!dwarf_diecu(die, &root, NULL, NULL))
        return NULL;
    Dwarf *dwarf = dwarf_cu_getdwarf(die->cu);
    Dwarf_Off offset = dwarf_dieoffset(&root);
    struct scopes_unit *known = scopes->units.items;
    for (size_t i = scopes->units.count; i > 0; i--)
        if (known[i - 1].offset == offset && known[i - 1].dwarf == dwarf)
            return &known[i - 1];

    if (scopes->units.item_bytes == 0)
        scopes->units = VECTOR_OF(struct scopes_unit);
    struct scopes_unit *unit = vector_add(&scopes->units);
    if (!unit)
        return NULL;
    *unit = (struct scopes_unit){
        .offset = offset, .dwarf = dwarf, .entries = VECTOR_OF(struct scopes_entry)};
    int r = unit_is_c(&root) ? 0 : unit_walk(unit, &root, NO_PARENT, 0);
    return r == 0 ? unit : NULL;
}

static struct scopes_entry *entry_find(const struct scopes_unit *unit, Dwarf_Off offset) {
    struct scopes_entry *entries = unit->entries.items;
    size_t low = 0;
    size_t high = unit->entries.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entries[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < unit->entries.count && entries[low].offset == offset ? &entries[low] : NULL;
}

static char *entry_qualify(const struct scopes_unit *unit, const struct scopes_entry *entry) {
    const struct scopes_entry *all = unit->entries.items;
    const struct scopes_entry *outwards[DEPTH_MAX + 1];
    size_t count = 0;
    struct textstream text;
    for (size_t at = entry->parent; at != NO_PARENT; at = all[at].parent)
        outwards[count++] = &all[at];
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    while (count-- > 0)
        fprintf(stream, "%s::", outwards[count]->name);
    fputs(entry->name, stream);
    return textstream_take(&text);
}

int scopes_name(struct scopes *scopes, Dwarf_Die *function, const char **ret_name) {
    Dwarf_Die declaration = declaration_of(*function);
    const char *plain = die_name(function);
    if (!plain) {
        *ret_name = NULL;
        return 0;
    }
    struct scopes_unit *unit = unit_of(scopes, &declaration);
    if (!unit)
        return -ENOMEM;
    struct scopes_entry *entry = entry_find(unit, dwarf_dieoffset(&declaration));
    if (entry && entry->name && !entry->qualified) {
        entry->qualified = entry_qualify(unit, entry);
        if (!entry->qualified)
            return -ENOMEM;
    }
    *ret_name = entry && entry->qualified ? entry->qualified : plain;
    return 0;
}

void scopes_finish(struct scopes *scopes) {
    struct scopes_unit *units = scopes->units.items;
    for (size_t i = 0; i < scopes->units.count; i++) {
        struct scopes_entry *entries = units[i].entries.items;
        for (size_t j = 0; j < units[i].entries.count; j++)
            free(entries[j].qualified);
        vector_finish(&units[i].entries);
    }
    vector_finish(&scopes->units);
}
