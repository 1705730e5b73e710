/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render_tree.c: names of frames in a row, the last with its place, and numbers beside them.
 */
#include "render_tree.h"

#include "amount.h"
#include "callsite.h"
#include "render.h"
#include "table.h"
#include "textstream.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INDENT       2
#define NUMBERS_WIDE 42 /* the columns left of the label, about */

static bool is_in_system(const struct calltree_node *node) {
    return callsite_module_is_system(node->profile, node->frame->module);
}

static const char *module_name(const struct calltree_node *node) {
    return callsite_basename(node->profile->modules[node->frame->module].path);
}

/* What runs before main(), or a thread's function, is no news on the way to it. */
static bool is_beginning(const struct calltree_node *node) {
    static const char *const names[] = {"_start",
                                        "__libc_start_main",
                                        "__libc_start_main_impl",
                                        "start_thread",
                                        "clone3",
                                        "__libc_start_call_main",
                                        "__clone3"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(node->frame->function, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void write_last(FILE *stream, const struct calltree_node *node, enum calltree_by by) {
    const struct profile_frame *frame = node->frame;
    fputs(node->name, stream);
    if (by == CALLTREE_BY_MODULE || by == CALLTREE_BY_FILE || frame->function[0] == '\0')
        return;
    if (frame->file[0] != '\0') {
        fputs(" (", stream);
        render_file_line(stream, frame);
        fputs(")", stream);
    } else if (module_name(node)[0] != '\0')
        fprintf(stream, " (%s)", module_name(node));
}

/* One frame on the way: a library of the system goes by its name. */
static const char *passed_name(const struct calltree_node *node, enum calltree_by by) {
    bool as_module = by == CALLTREE_BY_FUNCTION || by == CALLTREE_BY_LINE;
    return as_module && is_in_system(node) ? module_name(node) : node->name;
}

static char *text_of(const struct calltree *tree, enum calltree_by by, uint32_t node,
                     bool last) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    if (last)
        write_last(stream, &tree->nodes[node], by);
    else
        fputs(passed_name(&tree->nodes[node], by), stream);
    char *said = textstream_take(&text);
    if (said)
        utf8_clean(said);
    return said;
}

/* The frames of a line from the outermost; false when there is no memory. */
static bool chain_list(const struct calltree *tree, const struct outline_line *line,
                       struct vector *chain) {
    for (uint32_t node = line->last;; node = tree->nodes[node].parent) {
        uint32_t *kept = vector_add(chain);
        if (!kept)
            return false;
        *kept = node;
        if (node == line->first)
            break;
    }
    uint32_t *nodes = chain->items;
    for (size_t i = 0; i < chain->count / 2; i++) {
        uint32_t node = nodes[i];
        nodes[i] = nodes[chain->count - 1 - i];
        nodes[chain->count - 1 - i] = node;
    }
    return true;
}

static bool repeats_module(const struct calltree *tree, enum calltree_by by, uint32_t node,
                           uint32_t next) {
    const char *name = passed_name(&tree->nodes[node], by);
    return is_in_system(&tree->nodes[node]) && is_in_system(&tree->nodes[next]) &&
           strcmp(name, passed_name(&tree->nodes[next], by)) == 0;
}

/* How many of @names, from the last outwards, fit into @width. */
static size_t names_that_fit(char *const *names, size_t count, size_t width) {
    size_t shown = 0;
    for (size_t i = count; i-- > 0; shown++) {
        size_t columns = utf8_width(names[i]) + strlen(" > ");
        if (columns + (i > 0 ? strlen("... > ") : 0) > width)
            break;
        width -= columns;
    }
    return shown;
}

/* The names on the way to the last frame, without beginnings and repeated libraries. */
static int names_list(const struct calltree *tree, enum calltree_by by, const uint32_t *chain,
                      size_t count, struct vector *names) {
    for (size_t i = 0; i + 1 < count; i++) {
        bool passes = !is_beginning(&tree->nodes[chain[i]]) &&
                      (i + 2 == count || !repeats_module(tree, by, chain[i], chain[i + 1]));
        if (!passes)
            continue;
        char **name = vector_add(names);
        if (!name)
            return -ENOMEM;
        *name = text_of(tree, by, chain[i], false);
        if (!*name)
            return -ENOMEM;
    }
    return 0;
}

/* The last name in any case, those before it while there is room, and "..." for the others. */
static int chain_write(FILE *stream, const struct calltree *tree, enum calltree_by by,
                       const uint32_t *chain, size_t count, size_t width) {
    struct vector list = VECTOR_OF(char *);
    char *last = text_of(tree, by, chain[count - 1], true);
    int r = last ? names_list(tree, by, chain, count, &list) : -ENOMEM;
    char **names = list.items;
    if (r == 0) {
        size_t used = utf8_width(last);
        size_t shown = names_that_fit(names, list.count, width > used ? width - used : 0);
        if (shown < list.count)
            fputs("... > ", stream);
        for (size_t i = list.count - shown; i < list.count; i++)
            fprintf(stream, "%s > ", names[i]);
        fputs(last, stream);
    }
    for (size_t i = 0; i < list.count; i++)
        free(names[i]);
    vector_finish(&list);
    free(last);
    return r;
}

static int frames_write(FILE *stream, const struct calltree *tree, enum calltree_by by,
                        const struct outline_line *line, size_t width, bool tagged) {
    const struct calltree_node *node = &tree->nodes[line->last];
    struct vector chain = VECTOR_OF(uint32_t);
    if (node->kind != CALLTREE_FRAME) {
        fputs(node->kind == CALLTREE_OTHER ? "(other: the table of stacks was full)"
                                           : "(no call stack taken)",
              stream);
        return 0;
    }
    if (tagged && !node->in[CALLTREE_BEFORE])
        fputs("[NEW] ", stream);
    else if (tagged && !node->in[CALLTREE_AFTER])
        fputs("[GONE] ", stream);
    int r = chain_list(tree, line, &chain)
                ? chain_write(stream, tree, by, chain.items, chain.count, width)
                : -ENOMEM;
    vector_finish(&chain);
    return r;
}

static char *label_of(const struct calltree *tree, enum calltree_by by,
                      const struct outline_line *line, size_t width, size_t indent,
                      bool tagged) {
    struct textstream text;
    int r = 0;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    fprintf(stream, "%*s", (int)indent, "");
    if (line->kind == OUTLINE_FRAMES)
        r = frames_write(stream, tree, by, line, width > indent + 20 ? width - indent : 20,
                         tagged);
    else if (line->kind == OUTLINE_SELF)
        fputs("(itself)", stream);
    else
        fprintf(stream, "[%zu other%s]", line->count, line->count == 1 ? "" : "s");
    char *label = textstream_take(&text);
    if (r == 0)
        return label;
    free(label);
    return NULL;
}

char *render_tree_label(const struct calltree *tree, enum calltree_by by,
                        const struct outline_line *line, size_t width) {
    size_t indent = (size_t)INDENT * (line->depth < 40 ? line->depth : 40);
    return label_of(tree, by, line, width, indent, true);
}

char *render_tree_path(const struct calltree *tree, enum calltree_by by,
                       const struct outline_line *line, size_t width) {
    return label_of(tree, by, line, width, 0, false);
}

static void difference_cells(struct table *table, const struct term *term,
                             enum metric_unit unit, int64_t before, int64_t after) {
    char text[AMOUNT_TEXT_BYTES];
    int64_t difference = after - before;
    enum term_color color = difference > 0   ? TERM_RED
                            : difference < 0 ? TERM_GREEN
                                             : TERM_PLAIN;
    table_cell(table, color, "%s", amount_text(term, text, unit, difference, true));
    table_cell(table, TERM_PLAIN, "%s", amount_text(term, text, unit, before, false));
    table_cell(table, TERM_PLAIN, "%s", amount_text(term, text, unit, after, false));
}

int render_tree_difference(const struct term *term, const struct calltree *tree,
                           enum calltree_by by, const struct outline *outline,
                           enum metric_unit unit) {
    static const char *const heads[] = {"difference", "before", "after"};
    static const char *const words[] = {
        [CALLTREE_BY_FUNCTION] = "call tree",
        [CALLTREE_BY_FILE] = "call tree, by file",
        [CALLTREE_BY_MODULE] = "call tree, by module",
        [CALLTREE_BY_LINE] = "call tree, by line",
    };
    size_t width = term->width > NUMBERS_WIDE + 40 ? term->width - NUMBERS_WIDE : 40;
    struct table table = table_new("rrrl");
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        table_cell(&table, TERM_DIM, "%s", heads[i]);
    table_cell(&table, TERM_DIM, "%s", words[by]);
    for (size_t i = 0; i < outline->count; i++) {
        const struct outline_line *line = &outline->lines[i];
        char *label = render_tree_label(tree, by, line, width);
        difference_cells(&table, term, unit, line->before, line->after);
        table_cell(&table, line->kind == OUTLINE_FRAMES ? TERM_PLAIN : TERM_DIM, "%s",
                   label ? label : "?");
        table.failed |= !label;
        free(label);
    }
    difference_cells(&table, term, unit, outline->before, outline->after);
    table_cell(&table, TERM_BOLD, "TOTAL");
    return table_print(&table, term, "  ");
}
