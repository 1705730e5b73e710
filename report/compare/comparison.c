/* SPDX-License-Identifier: BSD-3-Clause */
/* comparison.c: load one side, load the other, compare. */
#include "comparison.h"

#include <errno.h>

bool comparison_option(struct comparison_settings *settings, int option, const char *argument) {
    switch (option) {
    case COMPARISON_NAME:
        settings->name = argument;
        return true;
    case COMPARISON_ALL:
        settings->with_process = true;
        return true;
    case COMPARISON_NATIVE:
        settings->native = true;
        return true;
    default:
        return false;
    }
}

int comparison_load(const char *before, const char *after,
                    const struct comparison_settings *settings,
                    struct comparison *ret_comparison, const char **ret_path,
                    struct fault *fault) {
    struct comparison comparison = {0};
    *ret_path = before;
    int r = selection_load_from(before, settings->name, &comparison.before, fault);
    if (r == 0) {
        *ret_path = after;
        r = selection_load_from(after, settings->name, &comparison.after, fault);
    }
    if (r == 0 && settings->native) {
        selection_unfold(&comparison.before);
        selection_unfold(&comparison.after);
    }
    if (r == 0) {
        const struct diff_settings how = {settings->metric, settings->with_process,
                                          settings->by};
        r = diff_compare_by(comparison.before.runs, comparison.before.count,
                            comparison.after.runs, comparison.after.count, &how,
                            &comparison.diff);
        if (r < 0)
            fault_set(fault, r, "out of memory");
    }
    if (r < 0)
        comparison_finish(&comparison);
    else
        *ret_comparison = comparison;
    return r;
}

void comparison_finish(struct comparison *comparison) {
    diff_finish(&comparison->diff);
    selection_finish(&comparison->before);
    selection_finish(&comparison->after);
}
