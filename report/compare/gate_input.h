/* SPDX-License-Identifier: BSD-3-Clause */
/* gate_input.h: the stores that gate compares, in every metric that is judged. */
#pragma once

#include "attributes.h"
#include "comparison.h"
#include "gate.h"
#include "selection.h"

struct gate_input {
    struct selection base;
    struct selection new;
    struct selection baseline;           /* empty when none is pinned */
    struct gate_comparison *comparisons; /* the first as gate_judge() wants it */
    size_t count;
};

/* Where the runs are, STORE or STORE@WHAT (selection.h). */
struct gate_stores {
    const char *base;
    const char *new;
    const char *baseline; /* NULL: none */
};

/*
 * Load and compare. Returns 0; a negative errno, then @ret_path is the store that failed and
 * @fault says why. End with gate_input_finish().
 */
int gate_input_load(const struct gate_stores *stores,
                    const struct comparison_settings *settings,
                    const struct gate_limits *limits, struct gate_input *ret_input,
                    const char **ret_path, struct fault *fault) _must_check_ _nonnull_;

void gate_input_finish(struct gate_input *input) _nonnull_;
