/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_trace.c: any bytes as a trace file, as far as `votreport import` takes them before
 * symbols and store.
 *
 * What is accepted has to pass its own check again, and the call sites of each region have to
 * add up to its peak: a fuzzer then finds not only crashes, but sums that do not hold.
 */
#include "callsite.h"
#include "corpus.h"
#include "profile.h"
#include "trace_reader.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_region(const struct profile *profile, const struct profile_region *region) {
    struct callsite_list list;
    if (!region->has_rows || callsite_collect(profile, region, TRACE_HEAP, &list) < 0)
        return;
    int64_t at_peak = 0;
    for (size_t i = 0; i < list.count; i++)
        at_peak += list.items[i].peak.bytes;
    if (at_peak != region->totals[TRACE_HEAP].peak_bytes)
        abort();
    free(list.items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fault fault = {0};
    struct profile profile;
    struct trace *trace;
    if (trace_from_bytes(data, size, &trace, &fault) < 0) {
        if (fault.text[0] == '\0')
            abort();
        return 0;
    }
    if (profile_from_trace(trace, &profile, &fault) == 0) {
        if (profile_check(&profile, &fault) < 0)
            abort();
        for (size_t i = 0; i < profile.region_count; i++)
            check_region(&profile, &profile.regions[i]);
        profile_finish(&profile);
    }
    trace_close(trace);
    return 0;
}

#ifndef FUZZER_LIBFUZZER
int main(int argc, char **argv) {
    return corpus_run(argc, argv, LLVMFuzzerTestOneInput);
}
#endif
