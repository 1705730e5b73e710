/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comparison.h: two stores, opened, selected and compared: what diff and gate share, their
 * options, too.
 */
#pragma once

#include "attributes.h"
#include "diff.h"
#include "selection.h"

struct comparison {
    struct selection before;
    struct selection after;
    struct diff diff;
};

struct comparison_settings {
    const char *name;  /* only this benchmark; NULL: all */
    bool with_process; /* "process", too, where regions are marked */
    bool native;       /* with the interpreter's frames between two functions of its code */
    enum metric metric;
    enum calltree_by by; /* what the trees of calls merge */
};

/* What getopt_long() returns for them: beyond what commands use for options of their own. */
enum { COMPARISON_NAME = 512, COMPARISON_ALL, COMPARISON_NATIVE };

// clang-format off
#define COMPARISON_OPTIONS                                  \
    {"name", required_argument, NULL, COMPARISON_NAME},     \
    {"all",  no_argument,       NULL, COMPARISON_ALL}
/* For commands that show stacks. */
#define COMPARISON_NATIVE_OPTION {"native", no_argument, NULL, COMPARISON_NATIVE}
// clang-format on

/*
 * Take @option, which getopt_long() returned, with @argument (borrowed; NULL when it has none).
 * false when it is none of these options.
 */
bool comparison_option(struct comparison_settings *settings, int option, const char *argument);

/*
 * Compare the runs that @before and @after mean, STORE or STORE@WHAT (selection.h). Returns 0;
 * a negative errno, then @ret_path is the store that failed and @fault says why. End with
 * comparison_finish().
 */
int comparison_load(const char *before, const char *after,
                    const struct comparison_settings *settings,
                    struct comparison *ret_comparison, const char **ret_path,
                    struct fault *fault) _must_check_ _nonnull_;

void comparison_finish(struct comparison *comparison) _nonnull_;
