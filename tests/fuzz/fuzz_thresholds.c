/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_thresholds.c: any bytes as the file of limits that gate reads.
 *
 * Properties: no crash, no leak; a refusal has a text and a line of the file; what is accepted
 * is within what thresholds.h promises, in the order of the file, and finds its lines again.
 */
#include "corpus.h"
#include "thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds) {
    if (!holds)
        abort();
}

static uint64_t count_lines(const uint8_t *data, size_t size) {
    uint64_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    return lines;
}

static void check_rule(const struct thresholds_rule *rule) {
    bool allows = rule->kind == THRESHOLDS_ALLOW;
    require(rule->kind <= THRESHOLDS_ALLOW);
    require(rule->metric < METRICS);
    require(rule->pattern && strlen(rule->pattern) <= THRESHOLDS_LINE_MAX);
    require(rule->max_added >= 0);
    require(allows || (isfinite(rule->max_ratio) && rule->max_ratio >= 1) || rule->off);
    require(!allows || (rule->reason && strlen(rule->until) + 1 == THRESHOLDS_DAY_BYTES));
}

/* A rule whose pattern is plain text is found by a run of that name, or a later one is. */
static void check_found(const struct thresholds *thresholds,
                        const struct thresholds_rule *rule) {
    const struct run run = {.benchmark = rule->pattern, .origin = origin_unknown};
    if (strpbrk(rule->pattern, "*?"))
        return;
    if (rule->kind == THRESHOLDS_ALLOW) {
        const struct thresholds_rule *found = thresholds_find_allowance(
            thresholds, rule->metric, &run, "region", rule->max_added, "2000-01-01");
        require(found && found->kind == THRESHOLDS_ALLOW && found->metric == rule->metric);
        return;
    }
    const struct thresholds_rule *found =
        thresholds_find(thresholds, rule->kind, rule->metric, &run, "region");
    require(found && found >= rule && found->kind == rule->kind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct thresholds thresholds;
    struct fault fault = {0};
    uint64_t lineno = 0;
    uint64_t lines = count_lines(data, size);
    if (thresholds_parse(size > 0 ? (const char *)data : "", size, &thresholds, &lineno,
                         &fault) < 0) {
        require(fault.text[0] != '\0' && lineno <= lines);
        return 0;
    }
    require(thresholds.count <= THRESHOLDS_RULES_MAX);
    for (size_t i = 0; i < thresholds.count; i++) {
        const struct thresholds_rule *rule = &thresholds.rules[i];
        require(rule->lineno >= 1 && rule->lineno <= lines);
        require(i == 0 || rule[-1].lineno < rule->lineno);
        require(thresholds_have(&thresholds, rule->metric) || rule->off ||
                rule->kind == THRESHOLDS_ALLOW);
        check_rule(rule);
        check_found(&thresholds, rule);
    }
    thresholds_finish(&thresholds);
    return 0;
}
