/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes_beside.c: what is done for a lane that stays open: its events in marked regions, rows and
 * pages that it lacks, points of the timeline.
 */
#include "booking.h"
#include "lanes_own.h"

/* In marked regions */

bool lanes_inner_ready(uint32_t site) {
    return ledger_inner_ready(&recorder.ledger, site);
}

void lanes_inner_allocated(uint32_t site, uint64_t bytes) {
    ledger_allocate_inner(&recorder.ledger, site, bytes);
}

void lanes_inner_freed(const struct block *block, bool temporary) {
    ledger_free_inner(&recorder.ledger, block->site, block->size_bytes, block->birth,
                      temporary);
}

void lanes_inner_reallocated(void) {
    ledger_count_inner_reallocation(&recorder.ledger);
}

bool lanes_inner_event(void) {
    return ledger_count_inner_event(&recorder.ledger);
}

/* Beside open lanes */

/* Make the page of @address this lane's. False: it is another's that is open. */
static bool take_page(struct lane *lane, uintptr_t address) {
    if (address == LANES_NO_ADDRESS || address >> BLOCKS_ADDRESS_BITS != 0)
        return false;
    const struct blocks_page *page = blocks_page_of(&recorder.blocks, address);
    if (page != NULL && page->lane != lane->number && !lane->alone &&
        !lane_lease_is_closed(atomic_load_explicit(&recorder.lanes->lane[page->lane].lease,
                                                   memory_order_relaxed)))
        return false;
    return blocks_claim(&recorder.blocks, address, lane->number);
}

static bool lacks_page(const struct lane *lane, uintptr_t address) {
    if (address == LANES_NO_ADDRESS || !blocks_can_hold(address, 0))
        return false; /* whatever a program says that it frees */
    const struct blocks_page *page = blocks_page_of(&recorder.blocks, address);
    return page == NULL || page->lane != lane->number || !blocks_has_room(page);
}

bool lanes_prepare(struct lane *lane, uint32_t site, uintptr_t address) {
    bool provided = false;
    bool taken;
    if (!booking_try_beside(&taken))
        return false;
    if (lane_is_open(lane, recorder_thread.lease)) {
        if (site != LANES_NO_SITE && lane_row_ready(lane, site) == NULL)
            provided |= ledger_reserve_lane_row(&recorder.ledger, lane->number, site) &&
                        ledger_reserve_inner(&recorder.ledger, site);
        if (lacks_page(lane, address))
            provided |= take_page(lane, address);
        if (lacks_page(lane, lane->latest_address))
            provided |= take_page(lane, lane->latest_address);
    }
    booking_leave_beside(taken);
    return provided;
}

/*
 * What is live by what the lanes have booked as of now, none of which is stopped. Never above
 * the peak, as no lane is above its credit; but blocks that are handed on may be seen to be
 * freed before they are seen to be allocated.
 */
static int64_t live_now(const struct lanes *lanes) {
    int64_t live_bytes = lanes->base_bytes;
    for (uint32_t i = 0; i < lanes->count; i++)
        live_bytes += lane_live(&lanes->lane[i]);
    return live_bytes > 0 ? live_bytes : 0;
}

__attribute__((noinline)) void lanes_tick(struct lane *lane) {
    bool taken;
    if (!booking_try_beside(&taken))
        return;
    if (lane_is_open(lane, recorder_thread.lease)) {
        uint64_t elapsed_ns = recorder_elapsed_ns();
        if (lane->left_events <= 0) {
            lane_take_events(lane);
            lane_give(lane, ledger_add_process_point(&recorder.ledger, live_now(recorder.lanes),
                                                     elapsed_ns));
        }
        ledger_add_inner_points(&recorder.ledger, elapsed_ns);
    }
    booking_leave_beside(taken);
}
