/* SPDX-License-Identifier: BSD-3-Clause */
/* gate_input.c: load up to three stores, compare two or three times in each metric. */
#include "gate_input.h"

#include <errno.h>
#include <stdlib.h>

static int sides_load(const struct gate_stores *stores, const char *name,
                      struct gate_input *input, const char **ret_path, struct fault *fault) {
    const struct {
        const char *where;
        struct selection *into;
    } sides[] = {
        {stores->base, &input->base},
        {stores->new, &input->new},
        {stores->baseline, &input->baseline},
    };
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(sides) / sizeof(sides[0]); i++) {
        *ret_path = sides[i].where;
        if (sides[i].where)
            r = selection_load_from(sides[i].where, name, sides[i].into, fault);
    }
    return r;
}

static int compare_with(struct gate_input *input, const struct selection *before,
                        bool with_baseline, const struct comparison_settings *settings,
                        const struct gate_limits *limits) {
    for (enum metric metric = 0; metric < METRICS; metric++) {
        if (!gate_wants(limits, metric))
            continue;
        const struct diff_settings how = {metric, settings->with_process, settings->by};
        struct gate_comparison *comparison = &input->comparisons[input->count];
        int r = diff_compare_by(before->runs, before->count, input->new.runs, input->new.count,
                                &how, &comparison->diff);
        if (r < 0)
            return r;
        comparison->with_baseline = with_baseline;
        input->count++;
    }
    return 0;
}

int gate_input_load(const struct gate_stores *stores,
                    const struct comparison_settings *settings,
                    const struct gate_limits *limits, struct gate_input *ret_input,
                    const char **ret_path, struct fault *fault) {
    struct gate_input input = {0};
    int r = sides_load(stores, settings->name, &input, ret_path, fault);
    if (r == 0) {
        input.comparisons = calloc((size_t)2 * METRICS, sizeof(*input.comparisons));
        r = input.comparisons ? compare_with(&input, &input.base, false, settings, limits)
                              : -ENOMEM;
        if (r == 0 && stores->baseline)
            r = compare_with(&input, &input.baseline, true, settings, limits);
        if (r < 0) {
            *ret_path = stores->new;
            fault_set(fault, r, "out of memory");
        }
    }
    if (r < 0)
        gate_input_finish(&input);
    else
        *ret_input = input;
    return r;
}

void gate_input_finish(struct gate_input *input) {
    for (size_t i = 0; i < input->count; i++)
        diff_finish(&input->comparisons[i].diff);
    free(input->comparisons);
    selection_finish(&input->base);
    selection_finish(&input->new);
    selection_finish(&input->baseline);
    *input = (struct gate_input){0};
}
