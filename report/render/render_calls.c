/* SPDX-License-Identifier: BSD-3-Clause */
/* render_calls.c: numbers on the left, names on the right; below a line stands what adds up to it. */
#include "render_calls.h"

#include "amount.h"
#include "json.h"
#include "render.h"
#include "render_tree.h"
#include "table.h"
#include "textstream.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX    40 /* deeper lines are drawn as if they were this deep */
#define NUMBERS_WIDE 28 /* the columns left of the names, about */
#define SHARE_BYTES  24
#define LINES_USUAL  20

static const char *share_text(char ret_text[SHARE_BYTES], int64_t part, int64_t whole) {
    ret_text[0] = '\0';
    if (whole > 0)
        snprintf(ret_text, SHARE_BYTES, "%.1f %%", 100.0 * (double)part / (double)whole);
    return ret_text;
}

static void value_cells(struct table *table, const struct term *term, enum term_color color,
                        enum metric metric, int64_t part, int64_t whole) {
    char amount[AMOUNT_TEXT_BYTES], share[SHARE_BYTES];
    table_cell(table, color, "%s",
               amount_text(term, amount, metric_facts[metric].unit, part, false));
    table_cell(table, color, "%s", share_text(share, part, whole));
}

/* Tree */

struct branches {
    const char *fork; /* a line hangs here, and more follow */
    const char *end;
    const char *past; /* lines of an outer fork follow */
    const char *none;
};

/* Is there a line of @depth below the same line, after line @at? */
static bool has_sibling(const struct outline *outline, size_t at, uint32_t depth) {
    for (size_t i = at + 1; i < outline->count; i++) {
        if (outline->lines[i].depth < depth)
            return false;
        if (outline->lines[i].depth == depth)
            return true;
    }
    return false;
}

/* What stands in front of the names of line @at. */
static char *branch_text(const struct term *term, const struct outline *outline, size_t at) {
    static const struct branches drawn = {"\u251c\u2500 ", "\u2514\u2500 ", "\u2502  ", "   "};
    static const struct branches plain = {"|- ", "`- ", "|  ", "   "};
    const struct branches *look = term->blocks ? &drawn : &plain;
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    uint32_t depth =
        outline->lines[at].depth < DEPTH_MAX ? outline->lines[at].depth : DEPTH_MAX;
    for (uint32_t i = 1; i < depth; i++)
        fputs(has_sibling(outline, at, i) ? look->past : look->none, stream);
    if (depth > 0)
        fputs(has_sibling(outline, at, outline->lines[at].depth) ? look->fork : look->end,
              stream);
    return textstream_take(&text);
}

static int tree_line(struct table *table, const struct term *term, const struct calltree *tree,
                     const struct outline *outline, size_t at,
                     const struct render_calls *options) {
    const struct outline_line *line = &outline->lines[at];
    char *branch = branch_text(term, outline, at);
    size_t used = NUMBERS_WIDE + (branch ? utf8_width(branch) : 0);
    char *path = branch ? render_tree_path(tree, options->by, line,
                                           term->width > used + 40 ? term->width - used : 40)
                        : NULL;
    int r = path ? 0 : -ENOMEM;
    if (r == 0) {
        bool second = options->side == CALLTREE_AFTER;
        value_cells(table, term, TERM_PLAIN, options->metric,
                    second ? line->after : line->before,
                    second ? outline->after : outline->before);
        table_cell(table, line->kind == OUTLINE_FRAMES ? TERM_PLAIN : TERM_DIM, "%s%s", branch,
                   path);
    }
    free(branch);
    free(path);
    return r;
}

int render_calls_tree(const struct term *term, const struct calltree *tree,
                      const struct outline *outline, const struct render_calls *options) {
    struct table table = table_new("rrl");
    int64_t whole = options->side == CALLTREE_AFTER ? outline->after : outline->before;
    int r = 0;
    table_cell(&table, TERM_DIM, "%s", options->metric == METRIC_COUNT ? "count" : "bytes");
    table_cell(&table, TERM_DIM, "%s", "share");
    table_cell(&table, TERM_DIM, "%s", "call tree");
    for (size_t i = 0; r == 0 && i < outline->count; i++)
        r = tree_line(&table, term, tree, outline, i, options);
    value_cells(&table, term, TERM_BOLD, options->metric, whole, whole);
    table_cell(&table, TERM_BOLD, "%s", "TOTAL");
    int printed = table_print(&table, term, "  ");
    return r < 0 ? r : printed;
}

int render_calls_region(const struct term *term, const struct profile *profile,
                        const struct profile_region *region, size_t lines_max) {
    static const struct calltree_settings settings = {
        .by = CALLTREE_BY_FUNCTION,
        .space = TRACE_HEAP,
        .fold_helpers = true,
    };
    const struct calltree_source sources[CALLTREE_SIDES] = {
        [CALLTREE_AFTER] = {profile, region}};
    const struct render_calls options = {.side = CALLTREE_AFTER, .metric = METRIC_PEAK_ADDED};
    struct calltree tree;
    struct outline outline;
    if (!region->has_rows) {
        fputs("  (call sites were not kept)\n", term->stream);
        return 0;
    }
    int r = calltree_build(sources, &settings, &tree);
    if (r < 0)
        return r;
    r = outline_make(&tree, CALLTREE_PEAK_ADDED, lines_max > 0 ? lines_max : LINES_USUAL,
                     &outline);
    if (r == 0) {
        r = render_calls_tree(term, &tree, &outline, &options);
        outline_finish(&outline);
    }
    calltree_finish(&tree);
    return r;
}

/* List */

/* A node as the only frame of a line. */
static char *entry_name(const struct calltree *tree, const struct toplist_entry *entry,
                        enum calltree_by by) {
    uint32_t node = (uint32_t)(entry->node - tree->nodes);
    const struct outline_line line = {.kind = OUTLINE_FRAMES, .first = node, .last = node};
    return render_tree_path(tree, by, &line, SIZE_MAX / 2);
}

/* A caller that allocated nothing itself is no news in a list of who did. */
static bool entry_matters(const struct toplist *list, const struct toplist_entry *entry) {
    return entry->self != 0 || (list->by_all && entry->all != 0);
}

static int top_entry(struct table *table, const struct term *term, const struct calltree *tree,
                     const struct render_calls *options, const struct toplist_entry *entry) {
    int64_t whole = tree->nodes[0].subtree[options->side][metric_facts[options->metric].tree];
    char *name = entry_name(tree, entry, options->by);
    if (!name)
        return -ENOMEM;
    value_cells(table, term, TERM_PLAIN, options->metric, entry->self, whole);
    value_cells(table, term, TERM_PLAIN, options->metric, entry->all, whole);
    table_cell(table, TERM_BOLD, "%s", name);
    free(name);
    return 0;
}

static void top_others(struct table *table, const struct term *term,
                       const struct render_calls *options, size_t count, int64_t self,
                       int64_t whole) {
    if (count == 0)
        return;
    value_cells(table, term, TERM_DIM, options->metric, self, whole);
    table_cell(table, TERM_DIM, "%s", "");
    table_cell(table, TERM_DIM, "%s", "");
    table_cell(table, TERM_DIM, "[%zu other%s]", count, count == 1 ? "" : "s");
}

int render_calls_top(const struct term *term, const struct calltree *tree,
                     const struct toplist *list, const struct render_calls *options) {
    int64_t whole = tree->nodes[0].subtree[options->side][metric_facts[options->metric].tree];
    static const char *const heads[] = {"itself", "share", "with callees", "share"};
    static const char *const words[] = {"function", "file", "module", "function and line"};
    struct table table = table_new("rrrrl");
    size_t shown = 0;
    size_t others = 0;
    int64_t rest = 0;
    int r = 0;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        table_cell(&table, TERM_DIM, "%s", heads[i]);
    table_cell(&table, TERM_DIM, "%s", words[options->by]);
    for (size_t i = 0; r == 0 && i < list->count; i++) {
        const struct toplist_entry *entry = &list->items[i];
        if (entry_matters(list, entry) && shown < options->lines_max) {
            r = top_entry(&table, term, tree, options, entry);
            shown++;
            continue;
        }
        others += entry_matters(list, entry);
        rest += entry->self;
    }
    top_others(&table, term, options, others, rest, whole);
    value_cells(&table, term, TERM_BOLD, options->metric, whole, whole);
    value_cells(&table, term, TERM_BOLD, options->metric, whole, whole);
    table_cell(&table, TERM_BOLD, "%s", "TOTAL");
    int printed = table_print(&table, term, "  ");
    return r < 0 ? r : printed;
}

static void write_entry(struct json *json, const struct toplist_entry *entry) {
    const struct calltree_node *node = entry->node;
    bool is_frame = node->kind == CALLTREE_FRAME;
    json_begin(json, NULL, '{');
    json_text(json, "name", node->name);
    json_text(json, "function", is_frame ? node->frame->function : "");
    json_text(json, "file", is_frame ? node->frame->file : "");
    json_int(json, "line", is_frame ? node->frame->lineno : 0);
    json_text(json, "module", is_frame ? node->profile->modules[node->frame->module].path : "");
    json_int(json, "self", entry->self);
    json_int(json, "with_callees", entry->all);
    json_end(json, '}');
}

int render_calls_top_json(FILE *stream, const struct calltree *tree, const struct toplist *list,
                          const struct render_calls *options) {
    const struct metric_facts *facts = &metric_facts[options->metric];
    struct json json = {.stream = stream};
    json_begin(&json, NULL, '{');
    json_text(&json, "region", options->region);
    json_text(&json, "metric", facts->name);
    json_int(&json, "total", tree->nodes[0].subtree[options->side][facts->tree]);
    json_begin(&json, "entries", '[');
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].self != 0 || list->items[i].all != 0)
            write_entry(&json, &list->items[i]);
    json_end(&json, ']');
    json_end(&json, '}');
    return ferror(stream) ? -EIO : 0;
}
