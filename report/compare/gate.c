/* SPDX-License-Identifier: BSD-3-Clause */
/* gate.c: one row at a time, by its own limits, then the worst of them. */
#include "gate.h"

#include "likeness.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row and how it is to be judged. */
struct judging {
    struct gate *gate;
    const struct gate_limits *limits;
    const struct diff_row *row;
    struct gate_finding *finding; /* filled but for the verdict */
    bool failed;                  /* no memory for a reason */
};

static bool is_default(enum metric metric) {
    return metric == METRIC_PEAK_ADDED || metric == METRIC_COMBINED;
}

bool gate_wants(const struct gate_limits *limits, enum metric metric) {
    return is_default(metric) ||
           (limits->thresholds && thresholds_have(limits->thresholds, metric));
}

static const char *words(struct judging *j, const char *format, ...) _printf_(2, 3);

static const char *words(struct judging *j, const char *format, ...) {
    va_list arguments;
    char *text;
    const char *kept = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        kept = arena_text(&j->gate->arena, text, (size_t)length);
        free(text);
    }
    j->failed |= !kept;
    return kept ? kept : "";
}

static void verdict_set(struct judging *j, enum gate_verdict verdict, const char *reason) {
    j->finding->verdict = verdict;
    j->finding->reason = reason;
}

/* The limits of the row. False when the metric is not judged for it. */
static bool limits_find(struct judging *j) {
    const struct thresholds *thresholds = j->limits->thresholds;
    const struct diff_row *row = j->row;
    enum metric metric = j->finding->metric;
    const struct thresholds_rule *rule = NULL;
    if (thresholds && j->finding->with_baseline)
        rule =
            thresholds_find(thresholds, THRESHOLDS_DRIFT, metric, row->benchmark, row->region);
    if (thresholds && !rule)
        rule =
            thresholds_find(thresholds, THRESHOLDS_LIMIT, metric, row->benchmark, row->region);
    if (rule) {
        j->finding->max_ratio = rule->max_ratio;
        j->finding->max_added = rule->max_added;
        return !rule->off;
    }
    j->finding->max_ratio = j->limits->max_ratio;
    j->finding->max_added = j->limits->max_added_bytes;
    return is_default(metric);
}

static bool grew_too_much(const struct gate_finding *finding, int64_t before, int64_t after) {
    return after - before > finding->max_added &&
           (long double)after > (long double)before * (long double)finding->max_ratio;
}

/* What is on one side only. True when that was the answer. */
static bool one_side_judge(struct judging *j) {
    const struct diff_row *row = j->row;
    bool with_baseline = j->finding->with_baseline;
    if (row->status == DIFF_REMOVED && j->limits->allow_missing)
        verdict_set(j, GATE_PASS, "no longer measured");
    else if (row->status == DIFF_REMOVED)
        verdict_set(j, GATE_UNANSWERED, "not measured in the new store");
    else if (row->status == DIFF_ADDED && (j->limits->allow_incomplete || !row->after.unfit))
        verdict_set(j, GATE_PASS,
                    with_baseline ? "not in the baseline" : "new: nothing to compare with");
    else
        return false;
    return true;
}

/* Is there something that makes the numbers worth nothing? True when that was the answer. */
static bool fitness_judge(struct judging *j) {
    const struct diff_row *row = j->row;
    const struct run *unfit = row->after.unfit ? row->after.unfit : row->before.unfit;
    if (unfit && !j->limits->allow_incomplete) {
        j->finding->unfit = unfit;
        verdict_set(j, GATE_UNANSWERED, run_is_unfit(unfit));
        return true;
    }
    if (row->status == DIFF_UNKNOWN) {
        verdict_set(
            j, GATE_UNANSWERED,
            words(j, "%s is not known on both sides", metric_facts[j->finding->metric].name));
        return true;
    }
    if (j->limits->allow_unlike)
        return false;
    char *unlike = likeness_fault(row->before.run, row->after.run, j->finding->metric);
    bool differs = !unlike || unlike[0] != '\0';
    if (differs)
        verdict_set(j, GATE_UNANSWERED, words(j, "%s", unlike ? unlike : "out of memory"));
    free(unlike);
    return differs;
}

/*
 * Repeats that vary: what may be noise does not fail, what cannot be told is no answer. Where
 * the least after is beyond what the most before allows, no statistics are needed; a metric
 * that varies by nature is never that sure. True when that was the answer.
 */
static bool noise_judge(struct judging *j) {
    const struct diff_row *row = j->row;
    if (row->certainty == DIFF_EXACT || row->certainty == DIFF_SURE)
        return false;
    if (!metric_facts[j->finding->metric].varies &&
        grew_too_much(j->finding, row->before.most, row->after.least))
        return false;
    if (row->certainty == DIFF_NOISE) {
        verdict_set(j, GATE_PASS, words(j, "grew, within noise (p %.2g)", row->p));
        return true;
    }
    size_t least = statistics_least_repeats();
    verdict_set(j, GATE_UNANSWERED,
                words(j, "grew, but it varies: at least %zu repeats on each side are needed",
                      row->need > least ? row->need : least));
    return true;
}

/* A growth beyond the limits that somebody wrote down. True when that was the answer. */
static bool allowance_judge(struct judging *j) {
    const struct diff_row *row = j->row;
    const struct thresholds_rule *rule =
        j->limits->thresholds
            ? thresholds_find_allowance(j->limits->thresholds, j->finding->metric,
                                        row->benchmark, row->region, diff_difference(row),
                                        j->limits->today)
            : NULL;
    if (!rule)
        return false;
    if (thresholds_is_over(rule, j->limits->today))
        verdict_set(j, GATE_REGRESSION,
                    words(j, "its allowance ended on %s: %s", rule->until, rule->reason));
    else
        verdict_set(j, GATE_PASS, words(j, "allowed until %s: %s", rule->until, rule->reason));
    return true;
}

static const char *growth_words(struct judging *j) {
    const char *of = metric_facts[j->finding->metric].words;
    if (gate_is_headline(j->finding))
        return NULL;
    if (!j->finding->with_baseline)
        return words(j, "%s grew", of);
    return words(j, "%s grew since the baseline", of);
}

static void row_judge(struct judging *j) {
    const struct diff_row *row = j->row;
    if (one_side_judge(j) || fitness_judge(j))
        return;
    if (!grew_too_much(j->finding, row->before.value, row->after.value)) {
        verdict_set(j, GATE_PASS, NULL);
        return;
    }
    if (noise_judge(j) || allowance_judge(j))
        return;
    verdict_set(j, GATE_REGRESSION, growth_words(j));
}

static void gate_count(struct gate *gate, const struct gate_finding *finding) {
    gate->finding_count++;
    gate->counts[finding->verdict]++;
    if (finding->verdict == GATE_REGRESSION)
        gate->verdict = GATE_REGRESSION;
    if (finding->verdict == GATE_UNANSWERED && gate->verdict == GATE_PASS)
        gate->verdict = GATE_UNANSWERED;
}

/*
 * Heap and mappings together are worth a word only where the heap alone has not said it: it is
 * part of both.
 */
static bool is_said_already(const struct gate *gate, const struct gate_finding *finding) {
    if (finding->metric != METRIC_COMBINED)
        return false;
    if (finding->verdict == GATE_PASS)
        return true;
    for (size_t i = 0; i < gate->finding_count; i++) {
        const struct gate_finding *other = &gate->findings[i];
        if (other->metric == METRIC_PEAK_ADDED && other->verdict != GATE_PASS &&
            other->with_baseline == finding->with_baseline &&
            strcmp(other->row->region, finding->row->region) == 0 &&
            run_compare_benchmark(other->row->benchmark, finding->row->benchmark) == 0)
            return true;
    }
    return false;
}

static int comparison_judge(struct gate *gate, const struct gate_comparison *comparison,
                            const struct gate_limits *limits) {
    const struct diff *diff = &comparison->diff;
    for (size_t i = 0; i < diff->row_count; i++) {
        struct gate_finding *finding = &gate->findings[gate->finding_count];
        struct judging j = {
            .gate = gate, .limits = limits, .row = &diff->rows[i], .finding = finding};
        *finding = (struct gate_finding){
            .row = &diff->rows[i],
            .metric = diff->metric,
            .with_baseline = comparison->with_baseline,
        };
        if (!limits_find(&j))
            continue;
        row_judge(&j);
        if (j.failed)
            return -ENOMEM;
        if (!is_said_already(gate, finding))
            gate_count(gate, finding);
    }
    return 0;
}

int gate_judge(const struct gate_comparison *comparisons, size_t count,
               const struct gate_limits *limits, struct gate *ret_gate) {
    struct gate gate = {0};
    size_t rows = 0;
    int r = 0;
    for (size_t i = 0; i < count; i++)
        rows += comparisons[i].diff.row_count;
    gate.findings = calloc(rows + 1, sizeof(*gate.findings));
    if (!gate.findings)
        return -ENOMEM;
    gate.has_common = comparisons[0].diff.common_count > 0;
    gate.verdict = gate.has_common ? GATE_PASS : GATE_UNANSWERED;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = comparison_judge(&gate, &comparisons[i], limits);
    if (r < 0)
        gate_finish(&gate);
    else
        *ret_gate = gate;
    return r;
}

bool gate_is_headline(const struct gate_finding *finding) {
    return finding->metric == METRIC_PEAK_ADDED && !finding->with_baseline;
}

void gate_finish(struct gate *gate) {
    free(gate->findings);
    arena_finish(&gate->arena);
    *gate = (struct gate){0};
}
