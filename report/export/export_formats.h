/* SPDX-License-Identifier: BSD-3-Clause */
/* export_formats.h: one writer for each format, and what they share; for export*.c only. */
#pragma once

#include "export.h"

/* Each writes all of @request to @stream: 0, or a negative errno and @fault. */
typedef int export_writer(FILE *stream, const struct export_request *request,
                          struct fault *fault);

export_writer export_asv;
export_writer export_asv_benchmarks;
export_writer export_asv_machine;
export_writer export_bencher;
export_writer export_csv;
export_writer export_csv_sites;
export_writer export_difffolded;
export_writer export_folded;
export_writer export_github;
export_writer export_massif;
export_writer export_pprof;
export_writer export_speedscope;

int export_no_memory(struct fault *fault) _nonnull_;

/*
 * The tree of one request, whole stacks, merged by its `by`. 0, or a negative errno and @fault.
 * End with calltree_finish().
 */
int export_tree(const struct export_request *request, struct calltree *ret_tree,
                struct fault *fault) _must_check_ _nonnull_;

/* What the tree calls the metric. */
enum calltree_metric export_tree_metric(enum export_metric metric);

/*
 * The words for one node of the tree, not the root, without what no terminal should get; NULL
 * when there is no memory, else free() it.
 */
char *export_node_words(const struct calltree_node *node, const struct export_request *request,
                        bool with_line) _must_check_ _nonnull_;

/* One number of one side of a row: of the run that counts, of its repeats the median. */
int64_t export_value(const struct diff_value *value, const struct export_request *request,
                     enum export_metric metric) _nonnull_;

/* Is the number known of @region? Of a trace that was cut off the allocations may not be. */
static inline bool export_is_known(const struct profile_region *region,
                                   enum export_metric metric) {
    return (metric != EXPORT_TOTAL && metric != EXPORT_COUNT) ||
           profile_counts_are_known(region);
}

/* The difference of two numbers of a file that may be hostile. */
static inline int64_t export_less(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Why a site of @run has no call stack; constant text. */
const char *export_no_stack(const struct run *run, uint16_t flags) _nonnull_;
