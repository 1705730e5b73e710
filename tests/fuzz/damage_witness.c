/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * damage_witness.c: the second opinion. A file of its own, since the witness and the reader
 * have types of the same name.
 */
#include "damage.h"
#include "trace_check.h"

#include <stdio.h>
#include <stdlib.h>

static struct damage_sums sums_of(struct trace_check *check, uint32_t region,
                                  enum trace_space space) {
    struct trace_check_sums sums = trace_check_sum(check, region, space);
    return (struct damage_sums){
        .start_blocks = sums.start_blocks,
        .start_bytes = sums.start_bytes,
        .live_blocks = sums.live_blocks,
        .live_bytes = sums.live_bytes,
        .peak_bytes = sums.peak_bytes,
        .allocated_blocks = (int64_t)sums.allocations,
        .allocated_bytes = (int64_t)sums.allocated_bytes,
        .freed_blocks = (int64_t)sums.frees,
        .freed_bytes = (int64_t)sums.freed_bytes,
    };
}

int damage_witness(const uint8_t *bytes, size_t size, struct damage_sums **ret_sums,
                   unsigned *ret_in_event, char why[DAMAGE_WHY_BYTES]) {
    struct trace_check check;
    struct damage_sums *sums = NULL;
    int r = trace_check(&check, bytes, size);
    if (r < 0 || check.cut) {
        snprintf(why, DAMAGE_WHY_BYTES, "accepted, but the witness says: %s",
                 check.cut ? "tables are cut" : check.fault);
        trace_check_finish(&check);
        return -1;
    }
    uint32_t count = check.header->region_count;
    sums = calloc((size_t)count * TRACE_SPACES, sizeof(*sums));
    if (sums == NULL)
        abort();
    for (uint32_t region = 0; region < count; region++)
        for (unsigned space = 0; space < TRACE_SPACES; space++)
            sums[region * TRACE_SPACES + space] =
                sums_of(&check, region, (enum trace_space)space);
    *ret_sums = sums;
    *ret_in_event = check.updating;
    trace_check_finish(&check);
    return 0;
}
