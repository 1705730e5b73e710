/* SPDX-License-Identifier: BSD-3-Clause */
/* api.c: the functions of votrace.h, which programs reach through weak references. */
#include "votrace.h"

#include "recorder.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void votrace_region_begin(const char *name) {
    recorder_region_begin(name);
}

EXPORT void votrace_region_end(const char *name) {
    recorder_region_end(name);
}

EXPORT void votrace_thread_region_begin(const char *name) {
    recorder_thread_region_begin(name);
}

EXPORT void votrace_thread_region_end(const char *name) {
    recorder_thread_region_end(name);
}

EXPORT int votrace_region_query(const char *name, struct votrace_region_totals *ret_totals,
                                uint64_t totals_bytes) {
    struct votrace_region_totals totals;
    int r = recorder_region_query(name, &totals);
    if (r < 0)
        return r;
    memset(ret_totals, 0, totals_bytes);
    memcpy(ret_totals, &totals, totals_bytes < sizeof(totals) ? totals_bytes : sizeof(totals));
    return 0;
}
