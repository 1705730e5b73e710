/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbols.c: elfutils' libdwfl, each module opened once, offline, at the address it likes.
 *
 * An unwound address is where a call returns to; the call itself is before it, so everything is
 * looked up at offset - 1 (the last call of a function that never returns would otherwise be
 * given to its neighbour). Inlined functions are taken apart: the line table names the
 * innermost one, and each DW_TAG_inlined_subroutine says where it was called.
 */
#include "symbols.h"

#include "demangle.h"
#include "scopes.h"
#include "units.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Deeper inlining than this is cut: its outermost functions are missing, no number changes. */
#define LEVELS_MAX 32

struct symbol {
    const char *function; /* of libdwfl, NULL when unknown, likewise file and folder */
    const char *file;
    const char *folder; /* what a relative file is relative to */
    uint32_t lineno;
};

struct symbols {
    Dwfl *dwfl;
    Dwfl_Module **modules; /* by module of the profile; NULL: no names to be had */
    struct units *units;   /* likewise */
    struct scopes scopes;
    size_t module_count;
    size_t changed;
};

/* Where the frames of one old frame are in the new table: first is the innermost. */
struct expansion {
    uint32_t first;
    uint32_t count;
};

static int build_id_matches(Dwfl_Module *dwfl_module, const struct profile_module *module) {
    const unsigned char *bits;
    GElf_Addr address;
    int bytes = dwfl_module_build_id(dwfl_module, &bits, &address);
    if (module->build_id[0] == '\0' || bytes <= 0)
        return module->build_id[0] == '\0';
    if ((size_t)bytes > TRACE_BUILD_ID_MAX)
        bytes = TRACE_BUILD_ID_MAX;
    char text[PROFILE_BUILD_ID_BYTES] = "";
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < bytes; i++) {
        text[2 * i] = digits[bits[i] >> 4];
        text[2 * i + 1] = digits[bits[i] & 15];
    }
    return strcmp(text, module->build_id) == 0;
}

static Dwfl_Module *module_report(struct symbols *symbols,
                                  const struct profile_module *module) {
    struct stat status;
    if (module->path[0] != '/')
        return NULL;
    int fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return NULL;
    }
    /* Owns fd from here on, unless it fails. */
    Dwfl_Module *reported = dwfl_report_offline(symbols->dwfl, module->path, module->path, fd);
    if (!reported)
        close(fd);
    return reported;
}

static int modules_open(struct symbols *symbols, const struct profile *profile) {
    static char *no_debuginfo_path = NULL;
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &no_debuginfo_path,
    };
    symbols->modules = calloc(profile->module_count, sizeof(*symbols->modules));
    symbols->units = calloc(profile->module_count, sizeof(*symbols->units));
    symbols->dwfl = dwfl_begin(&callbacks);
    if (!symbols->modules || !symbols->units || !symbols->dwfl)
        return -ENOMEM;
    symbols->module_count = profile->module_count;

    dwfl_report_begin(symbols->dwfl);
    for (size_t i = 1; i < profile->module_count; i++) {
        /* The same file twice (unloaded, loaded again) is reported once. */
        for (size_t j = 1; j < i && !symbols->modules[i]; j++)
            if (strcmp(profile->modules[j].path, profile->modules[i].path) == 0)
                symbols->modules[i] = symbols->modules[j];
        if (!symbols->modules[i])
            symbols->modules[i] = module_report(symbols, &profile->modules[i]);
    }
    dwfl_report_end(symbols->dwfl, NULL, NULL);

    for (size_t i = 1; i < profile->module_count; i++) {
        GElf_Addr bias;
        if (!symbols->modules[i])
            continue;
        if (!dwfl_module_getelf(symbols->modules[i], &bias)) {
            symbols->modules[i] = NULL;
        } else if (!build_id_matches(symbols->modules[i], &profile->modules[i])) {
            symbols->modules[i] = NULL;
            symbols->changed++;
        }
    }
    return 0;
}

static bool die_is_function(Dwarf_Die *die) {
    int tag = dwarf_tag(die);
    return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram ||
           tag == DW_TAG_entry_point;
}

static const char *unit_folder(Dwarf_Die *unit) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

static void call_place(Dwarf_Die *inlined, Dwarf_Files *files, struct symbol *ret) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (files && dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) == 0)
        ret->file = dwarf_filesrc(files, value, NULL, NULL);
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0)
        ret->lineno = (uint32_t)value;
}

/* Where the innermost code at @address comes from, by the line table. */
static void line_place(Dwarf_Die *unit, Dwarf_Addr address, struct symbol *ret) {
    int lineno = 0;
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    if (!line)
        return;
    ret->file = dwarf_linesrc(line, NULL, NULL);
    ret->folder = unit_folder(unit);
    if (dwarf_lineno(line, &lineno) == 0 && lineno > 0)
        ret->lineno = (uint32_t)lineno;
}

/*
 * Fill @found from DWARF scopes, innermost first; @found[0] already has file and line, which it
 * loses when the scopes cannot be read: the line may be an inlined function's then. How many, 0
 * when the address is in no function that is described; -ENOMEM.
 */
static int names_from_dwarf(struct symbols *symbols, Dwarf_Die *unit, Dwarf_Addr address,
                            struct symbol found[LEVELS_MAX]) {
    Dwarf_Die *scopes = NULL;
    Dwarf_Files *files = NULL;
    int levels = 0;
    int r = 0;
    int count = scopes_at(unit, address, &scopes);
    if (count < 0)
        found[0] = (struct symbol){0};
    if (count <= 0)
        return 0;
    if (dwarf_getsrcfiles(unit, &files, NULL) != 0)
        files = NULL;

    for (int i = 0; i < count && levels < LEVELS_MAX; i++) {
        if (!die_is_function(&scopes[i]))
            continue;
        r = scopes_name(&symbols->scopes, &scopes[i], &found[levels++].function);
        if (r < 0 || dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            break;
        if (levels == LEVELS_MAX)
            break;
        call_place(&scopes[i], files, &found[levels]);
        found[levels].folder = unit_folder(unit);
    }
    free(scopes);
    return r < 0 ? r : levels;
}

/* All functions at one offset, innermost first. Returns how many, at least 1; -ENOMEM. */
static int symbols_at(struct symbols *symbols, uint32_t index, uint64_t offset,
                      struct symbol found[LEVELS_MAX]) {
    memset(found, 0, LEVELS_MAX * sizeof(*found));
    Dwfl_Module *module = symbols->modules[index];
    GElf_Addr bias;
    if (!module || !dwfl_module_getelf(module, &bias))
        return 1;
    Dwarf_Addr address = offset - 1 + bias;

    Dwarf_Die unit;
    Dwarf_Addr in_dwarf;
    int levels = 0;
    int r = units_find(&symbols->units[index], module, address, &unit, &in_dwarf);
    if (r < 0)
        return r;
    if (r > 0) {
        line_place(&unit, in_dwarf, &found[0]);
        levels = names_from_dwarf(symbols, &unit, in_dwarf, found);
    }
    if (levels < 0)
        return levels;
    if (levels == 0) /* just a line table: what it describes was not inlined */
        levels = 1;
    if (!found[levels - 1].function)
        found[levels - 1].function = dwfl_module_addrname(module, address);
    return levels;
}

/* "/build/../driver/reader.c" -> "/driver/reader.c": the same file has one name. */
static void path_tidy(char *path) {
    char *out = path;
    const char *in = path;
    while (*in != '\0') {
        const char *end = strchrnul(in, '/');
        size_t length = (size_t)(end - in);
        size_t with_slash = length + (*end == '/');
        if (length == 2 && in[0] == '.' && in[1] == '.' && out > path + 1 &&
            !(out >= path + 3 && memcmp(out - 3, "../", 3) == 0)) {
            out--;
            while (out > path && out[-1] != '/')
                out--;
        } else if (!(length == 1 && in[0] == '.') && !(length == 0 && out > path)) {
            memmove(out, in, with_slash);
            out += with_slash;
        }
        in += with_slash;
    }
    *out = '\0';
}

static const char *text_keep(struct arena *arena, const char *text) {
    return text ? arena_text(arena, text, strlen(text)) : "";
}

/* A name from a table of symbols may be a mangled one. */
static const char *function_keep(struct arena *arena, const char *function) {
    char *demangled = function ? demangle(function) : NULL;
    const char *kept = text_keep(arena, demangled ? demangled : function);
    free(demangled);
    return kept;
}

static const char *file_keep(struct arena *arena, const struct symbol *symbol) {
    if (!symbol->file)
        return "";
    bool relative = symbol->file[0] != '/' && symbol->folder;
    size_t folder_length = relative ? strlen(symbol->folder) : 0;
    size_t file_length = strlen(symbol->file);
    char *path = arena_array(arena, folder_length + 1 + file_length + 1, 1);
    if (!path)
        return NULL;
    if (relative) {
        memcpy(path, symbol->folder, folder_length);
        path[folder_length] = '/';
    }
    memcpy(path + folder_length + relative, symbol->file, file_length);
    path_tidy(path);
    return path;
}

static int frames_expand(struct symbols *symbols, struct profile *profile,
                         struct expansion *expansions, struct profile_frame **ret_frames,
                         size_t *ret_count) {
    struct profile_frame *frames = NULL;
    size_t count = 0;
    size_t room = 0;
    for (size_t i = 0; i < profile->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[i];
        struct symbol found[LEVELS_MAX];
        bool is_code = profile->modules[frame->module].is_code;
        int r = is_code ? 1 : symbols_at(symbols, frame->module, frame->offset, found);
        if (r < 0)
            goto no_memory;
        size_t levels = (size_t)r;
        if (count + levels > room) {
            room = (count + levels) * 2;
            struct profile_frame *more = realloc(frames, room * sizeof(*frames));
            if (!more)
                goto no_memory;
            frames = more;
        }
        expansions[i] = (struct expansion){(uint32_t)count, (uint32_t)levels};
        if (is_code) {
            frames[count++] = *frame; /* the interpreter has said all */
            continue;
        }
        for (size_t level = 0; level < levels; level++) {
            const char *function = function_keep(&profile->arena, found[level].function);
            const char *file = file_keep(&profile->arena, &found[level]);
            if (!function || !file)
                goto no_memory;
            frames[count++] = (struct profile_frame){
                .module = frame->module,
                .level = (uint32_t)level,
                .offset = frame->offset,
                .function = function,
                .file = file,
                .lineno = found[level].lineno,
            };
        }
    }
    *ret_frames = frames;
    *ret_count = count;
    return 0;
no_memory:
    free(frames);
    return -ENOMEM;
}

/* Replace every node by one for each function at its place; @innermost gets the new numbers. */
static int nodes_expand(struct profile *profile, const struct expansion *expansions,
                        uint32_t *innermost, struct profile_node **ret_nodes,
                        size_t *ret_count) {
    size_t count = 1;
    for (size_t i = 1; i < profile->node_count; i++)
        count += expansions[profile->nodes[i].frame].count;
    struct profile_node *nodes =
        count <= UINT32_MAX ? arena_array(&profile->arena, count, sizeof(*nodes)) : NULL;
    if (!nodes)
        return -ENOMEM;
    uint32_t next = 1;
    innermost[0] = 0;
    for (size_t i = 1; i < profile->node_count; i++) {
        const struct expansion *expansion = &expansions[profile->nodes[i].frame];
        uint32_t parent = innermost[profile->nodes[i].parent];
        for (uint32_t level = expansion->count; level > 0; level--) {
            nodes[next] = (struct profile_node){parent, expansion->first + level - 1};
            parent = next++;
        }
        innermost[i] = parent;
    }
    *ret_nodes = nodes;
    *ret_count = count;
    return 0;
}

static int profile_expand(struct symbols *symbols, struct profile *profile) {
    struct expansion *expansions = calloc(profile->frame_count + 1, sizeof(*expansions));
    uint32_t *innermost = calloc(profile->node_count, sizeof(*innermost));
    struct profile_site *sites =
        arena_array(&profile->arena, profile->site_count, sizeof(*sites));
    struct profile_frame *found = NULL;
    struct profile_frame *frames = NULL;
    struct profile_node *nodes;
    size_t frame_count, node_count;
    int r = -ENOMEM;
    if (!expansions || !innermost || !sites)
        goto out;
    r = frames_expand(symbols, profile, expansions, &found, &frame_count);
    if (r < 0)
        goto out;
    r = -ENOMEM;
    frames = arena_array(&profile->arena, frame_count, sizeof(*frames));
    if (!frames)
        goto out;
    if (frame_count > 0)
        memcpy(frames, found, frame_count * sizeof(*frames));
    r = nodes_expand(profile, expansions, innermost, &nodes, &node_count);
    if (r < 0)
        goto out;
    for (size_t i = 0; i < profile->site_count; i++) {
        sites[i] = profile->sites[i];
        sites[i].node = innermost[sites[i].node];
    }
    profile->frames = frames;
    profile->frame_count = frame_count;
    profile->nodes = nodes;
    profile->node_count = node_count;
    profile->sites = sites;
out:
    free(found);
    free(innermost);
    free(expansions);
    return r;
}

int symbols_resolve(struct profile *profile, size_t *ret_changed) {
    struct symbols symbols = {0};
    int r = modules_open(&symbols, profile);
    if (r == 0)
        r = profile_expand(&symbols, profile);
    if (r == 0)
        *ret_changed = symbols.changed;
    for (size_t i = 0; i < symbols.module_count; i++)
        units_finish(&symbols.units[i]);
    scopes_finish(&symbols.scopes);
    if (symbols.dwfl)
        dwfl_end(symbols.dwfl);
    free(symbols.units);
    free(symbols.modules);
    return r;
}
