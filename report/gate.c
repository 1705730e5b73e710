/* SPDX-License-Identifier: BSD-3-Clause */
/* gate.c: one row at a time, then the worst of them. */
#include "gate.h"

static bool grew_too_much(int64_t before, int64_t after, const struct gate_limits *limits) {
    return after - before > limits->max_added_bytes &&
           (long double)after > (long double)before * (long double)limits->max_ratio;
}

static struct gate_finding row_judge(const struct diff_row *row,
                                     const struct gate_limits *limits) {
    if (row->status == DIFF_REMOVED)
        return limits->allow_missing
                   ? (struct gate_finding){GATE_PASS, "no longer measured", false}
                   : (struct gate_finding){GATE_UNANSWERED, "not measured in the new store",
                                           false};
    if (!limits->allow_incomplete && row->after.unfit)
        return (struct gate_finding){GATE_UNANSWERED, row->after.unfit, false};
    if (row->status == DIFF_ADDED)
        return (struct gate_finding){GATE_PASS, "new: nothing to compare with", false};
    if (!limits->allow_incomplete && row->before.unfit)
        return (struct gate_finding){GATE_UNANSWERED, row->before.unfit, false};
    if (grew_too_much(row->before.peak_added, row->after.peak_added, limits))
        return (struct gate_finding){GATE_REGRESSION, NULL, false};
    if (grew_too_much(row->before.combined, row->after.combined, limits))
        return (struct gate_finding){GATE_REGRESSION,
                                     "heap and anonymous mappings together grew", true};
    return (struct gate_finding){GATE_PASS, NULL, false};
}

enum gate_verdict gate_judge(const struct diff *diff, const struct gate_limits *limits,
                             struct gate_finding *ret_findings) {
    enum gate_verdict all = diff->common_count > 0 ? GATE_PASS : GATE_UNANSWERED;
    for (size_t i = 0; i < diff->row_count; i++) {
        ret_findings[i] = row_judge(&diff->rows[i], limits);
        if (ret_findings[i].verdict == GATE_REGRESSION)
            all = GATE_REGRESSION;
        if (ret_findings[i].verdict == GATE_UNANSWERED && all == GATE_PASS)
            all = GATE_UNANSWERED;
    }
    return all;
}
