/* SPDX-License-Identifier: BSD-3-Clause */
/* gate.c: one row at a time, then the worst of them. */
#include "gate.h"

static bool grew_too_much(int64_t before, int64_t after, const struct gate_limits *limits) {
    return after - before > limits->max_added_bytes &&
           (long double)after > (long double)before * (long double)limits->max_ratio;
}

static struct gate_finding unfit(const struct run *run) {
    return (struct gate_finding){
        .verdict = GATE_UNANSWERED, .reason = run_is_unfit(run), .unfit = run};
}

static struct gate_finding finding(enum gate_verdict verdict, const char *reason) {
    return (struct gate_finding){.verdict = verdict, .reason = reason};
}

static struct gate_finding row_judge(const struct diff_row *row,
                                     const struct gate_limits *limits) {
    if (row->status == DIFF_REMOVED)
        return limits->allow_missing
                   ? finding(GATE_PASS, "no longer measured")
                   : finding(GATE_UNANSWERED, "not measured in the new store");
    if (!limits->allow_incomplete && row->after.unfit)
        return unfit(row->after.unfit);
    if (row->status == DIFF_ADDED)
        return finding(GATE_PASS, "new: nothing to compare with");
    if (!limits->allow_incomplete && row->before.unfit)
        return unfit(row->before.unfit);
    if (grew_too_much(row->before.peak_added, row->after.peak_added, limits))
        return finding(GATE_REGRESSION, NULL);
    if (grew_too_much(row->before.combined, row->after.combined, limits))
        return (struct gate_finding){
            .verdict = GATE_REGRESSION,
            .reason = "heap and anonymous mappings together grew",
            .by_combined = true,
        };
    return finding(GATE_PASS, NULL);
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
