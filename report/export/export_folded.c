/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export_folded.c: `outermost;...;innermost NUMBER` on a line, and with two numbers what
 * difffolded.pl makes (https://github.com/brendangregg/FlameGraph).
 *
 * flamegraph.pl takes the last one or two words of a line for numbers when they are digits. So
 * the name of an innermost frame must not end in such a word, and no name may have a `;`.
 */
#include "export_formats.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "f; 12" becomes "f:_12". */
static void words_fold(char *words) {
    for (char *at = words; *at != '\0'; at++)
        if (*at == ';')
            *at = ':';
    char *blank = strrchr(words, ' ');
    if (blank && isdigit((unsigned char)blank[1]) &&
        blank[1 + strspn(blank + 1, "0123456789.")] == '\0')
        *blank = '_';
}

/* The words of all nodes; NULL when there is no memory. */
static char **labels_make(const struct calltree *tree, const struct export_request *request) {
    char **labels = calloc(tree->count, sizeof(*labels));
    for (size_t i = 1; labels && i < tree->count; i++) {
        labels[i] =
            export_node_words(&tree->nodes[i], request, request->by == CALLTREE_BY_LINE);
        if (labels[i])
            words_fold(labels[i]);
    }
    return labels;
}

static bool labels_are_there(char *const *labels, size_t count) {
    for (size_t i = 1; labels && i < count; i++)
        if (!labels[i])
            return false;
    return labels != NULL;
}

static void labels_free(char **labels, size_t count) {
    for (size_t i = 1; labels && i < count; i++)
        free(labels[i]);
    free(labels);
}

/* @path has room for the deepest stack. */
static void write_stack(FILE *stream, const struct calltree *tree, uint32_t node,
                        char *const *labels, uint32_t *path) {
    size_t depth = 0;
    for (; node != 0; node = tree->nodes[node].parent)
        path[depth++] = node;
    while (depth-- > 0)
        fprintf(stream, "%s%s", labels[path[depth]], depth > 0 ? ";" : "");
}

static void write_lines(FILE *stream, const struct calltree *tree, char *const *labels,
                        uint32_t *path, enum calltree_metric metric, bool pair) {
    for (uint32_t i = 1; i < tree->count; i++) {
        int64_t before = tree->nodes[i].self[CALLTREE_BEFORE][metric];
        int64_t after = tree->nodes[i].self[CALLTREE_AFTER][metric];
        if (before == 0 && after == 0)
            continue;
        write_stack(stream, tree, i, labels, path);
        if (pair)
            fprintf(stream, " %" PRId64, before);
        fprintf(stream, " %" PRId64 "\n", after);
    }
}

static int write_folded(FILE *stream, const struct export_request *request, bool pair,
                        struct fault *fault) {
    struct calltree tree;
    int r = export_tree(request, &tree, fault);
    if (r < 0)
        return r;
    char **labels = labels_make(&tree, request);
    uint32_t *path = calloc(tree.count, sizeof(*path));
    if (path && labels_are_there(labels, tree.count))
        write_lines(stream, &tree, labels, path, export_tree_metric(request->metric), pair);
    else
        r = export_no_memory(fault);
    free(path);
    labels_free(labels, tree.count);
    calltree_finish(&tree);
    return r;
}

int export_folded(FILE *stream, const struct export_request *request, struct fault *fault) {
    return write_folded(stream, request, false, fault);
}

int export_difffolded(FILE *stream, const struct export_request *request, struct fault *fault) {
    return write_folded(stream, request, true, fault);
}
