/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.c: who has a lane, when lanes open, and what each may spend.
 *
 * A lane's credit is what its owner used to need beyond what it holds, and an equal share of
 * the rest of the gap. Where the gap is less than what all need, who asks comes first.
 */
#include "booking.h"
#include "lanes_own.h"
#include "sandbox.h"
#include "sysmem.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORGET_CLOSINGS 64 /* until a part of what was needed once is forgotten */
#define ACTIVE_SHARE    16 /* of the events in lanes, to get one again without asking */

static bool membarrier_works(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

int lanes_init(void) {
    int saved_errno = errno;
    struct lanes *lanes = sysmem_map(sizeof(*lanes));
    if (lanes == NULL)
        return -ENOMEM;
    recorder.lanes = lanes;
    lanes->wait_events = LANES_WAIT_EVENTS;
    lanes->patience = LANES_PATIENCE_MAX;
    recorder.lanes_allowed =
        syscall(SYS_madvise, lanes, sizeof(*lanes), MADV_WIPEONFORK) == 0 && membarrier_works();
    errno = saved_errno;
    return 0;
}

void lanes_restart(void) {
    *recorder.lanes =
        (struct lanes){.wait_events = LANES_WAIT_EVENTS, .patience = LANES_PATIENCE_MAX};
    recorder.lanes_allowed = recorder.lanes_allowed && membarrier_works();
}

void lanes_forbid(void) {
    recorder.lanes_allowed = false;
}

/* Owners */

/*
 * A thread that has ended. Of one that lives nobody knows whether it stands between its look at
 * the lease and its store of `updating`, which it takes back when it finds that it came too
 * late: in the middle of an event of the lane's next owner.
 */
static bool owner_has_ended(const struct lane *lane) {
    int saved_errno = errno;
    bool ended =
        syscall(SYS_tgkill, syscall(SYS_getpid), lane->owner_tid, 0) != 0 && errno == ESRCH;
    errno = saved_errno;
    return ended;
}

/* The lane of a thread that has ended, or NULL. One is looked at for each event that asks. */
static struct lane *find_idle(struct lanes *lanes) {
    if (lanes->count == 0)
        return NULL;
    struct lane *lane = &lanes->lane[lanes->next_idle++ % lanes->count];
    bool idle = lane->recent_events == 0 && !lane->asks;
    return idle && owner_has_ended(lane) ? lane : NULL;
}

static struct lane *lane_new(struct lanes *lanes) {
    /* Lane 0 has its record from the beginning. */
    int number = lanes->count == 0 ? 0 : ledger_add_lane(&recorder.ledger);
    if (number < 0)
        return find_idle(lanes);
    struct lane *lane = &lanes->lane[number];
    lane->number = (uint16_t)number;
    lane->record = recorder.ledger.lane_records[number];
    lane->rows = recorder.ledger.lane_rows[number];
    lane->latest_address = LANES_NO_ADDRESS;
    lanes->count++;
    return lane;
}

/* This thread's lane, one whose owner has ended, or NULL. Lanes are closed. */
static struct lane *find_lane(void) {
    struct lanes *lanes = recorder.lanes;
    struct lane *lane = lanes_own();
    if (lane != NULL)
        return lane;
    lane = sandbox_inside() ? NULL : lane_new(lanes);
    if (lane == NULL)
        return NULL;
    lane->held_bytes = 0;
    lane->high_bytes = 0;
    recorder_thread.lane = lane;
    recorder_thread.lease = ++lanes->leases;
    lane->owner_tid = (uint32_t)syscall(SYS_gettid);
    atomic_store_explicit(&lane->owner, recorder_thread.lease, memory_order_relaxed);
    return lane;
}

/* Opening */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* How much more may be live before a peak of the process region is new. */
static int64_t gap_below_peaks(void) {
    const struct trace_region *process = recorder.ledger.open[0].record;
    const struct trace_totals *heap = &process->space[TRACE_HEAP];
    return least((int64_t)(heap->peak.bytes - heap->live.bytes),
                 process->combined_peak_bytes - ledger_combined_live(process));
}

/*
 * Choose the lanes whose owners did something: under the lock just now, or much when lanes were
 * open. Returns how many.
 */
static uint32_t choose(const struct lanes *lanes, bool ret_chosen[TRACE_LANES_MAX]) {
    const struct lane *own = lanes_own();
    uint32_t chosen_count = 0;
    int64_t events = 0;
    for (uint32_t i = 0; i < lanes->count; i++)
        events += lanes->lane[i].recent_events;
    for (uint32_t i = 0; i < lanes->count; i++) {
        const struct lane *lane = &lanes->lane[i];
        ret_chosen[i] = __libc_single_threaded
                            ? lane == own
                            : lane->asks || lane->recent_events > events / ACTIVE_SHARE;
        chosen_count += ret_chosen[i];
    }
    return chosen_count;
}

/* What the owner used to need beyond what it holds. */
static int64_t need_of(const struct lane *lane) {
    return lane->high_bytes - lane->held_bytes;
}

/* What is to be divided among the lanes that are opened. */
struct budget {
    const struct lane *first; /* is given its credit before the others; or NULL */
    int64_t first_credit;
    int64_t gap;    /* for all; without the first's credit */
    int64_t needs;  /* of all; without the first's */
    uint32_t count; /* of lanes */
};

/* Whoever asked comes first: where the needs cannot all be met, the credit goes around. */
static struct budget make_budget(const struct lanes *lanes, const bool chosen[TRACE_LANES_MAX],
                                 uint32_t count) {
    struct budget budget = {.gap = gap_below_peaks(), .count = count};
    for (uint32_t i = 0; i < lanes->count; i++)
        if (chosen[i])
            budget.needs += need_of(&lanes->lane[i]);
    const struct lane *own = lanes_own();
    if (budget.needs <= budget.gap || own == NULL || !chosen[own->number])
        return budget;
    budget.first = own;
    budget.first_credit = least(need_of(own), budget.gap);
    budget.gap -= budget.first_credit;
    budget.needs -= need_of(own);
    return budget;
}

static int64_t credit_of(const struct lane *lane, const struct budget *budget) {
    int64_t need = need_of(lane);
    if (lane == budget->first)
        return budget->first_credit;
    if (budget->needs <= budget->gap)
        return need + (budget->gap - budget->needs) / budget->count;
    return (int64_t)((double)budget->gap * (double)need / (double)budget->needs);
}

/* What was needed once is not for ever; but to be told it anew costs closings. */
static void forget_some_need(struct lanes *lanes) {
    if (lanes->closings < lanes->forget_at)
        return;
    lanes->forget_at = lanes->closings + FORGET_CLOSINGS;
    for (uint32_t i = 0; i < lanes->count; i++)
        lanes->lane[i].high_bytes -= need_of(&lanes->lane[i]) / 8;
}

/*
 * The only lane goes on to count where the lock's events left off. Of several each counts a
 * whole interval: together they add as many points, whatever the share of each.
 */
static int64_t first_tick(bool alone) {
    const struct ledger_region *process = &recorder.ledger.open[0];
    if (alone || process->timeline == NULL)
        return process->left_events;
    return (int64_t)process->timeline->interval;
}

static void open_lane(struct lane *lane, int64_t credit_bytes, bool alone) {
    lane->epoch = recorder.ledger.open[0].record->space[TRACE_HEAP].peak.epoch;
    lane->birth = recorder.ledger.begun;
    lane->inherited_birth = recorder.inherited_birth;
    lane->limit_bytes = credit_bytes;
    lane->alone = alone;
    lane->marked = recorder.ledger.open_count > 1;
    lane->recent_events = 0;
    lane_give(lane, first_tick(alone));
    lane->base_allocations = lane_allocations(lane->record);
    lane->base_reallocations = lane->record->reallocations;
    uint64_t owner = atomic_load_explicit(&lane->owner, memory_order_relaxed);
    atomic_store_explicit(&lane->lease, owner | (lane->marked ? LANES_MARKED : 0),
                          memory_order_release);
}

/* The latest block of those booked under the lock goes to its page, where lanes find it. */
static void settle_booked(void) {
    struct block old;
    bool stale;
    int r = blocks_settle(&recorder.blocks, &old, &stale);
    if (r < 0)
        recorder_completeness()->table_refused++;
    if (r < 0 || stale)
        book_lost(old);
}

static void open_lanes(struct lanes *lanes) {
    bool chosen[TRACE_LANES_MAX];
    uint32_t count = choose(lanes, chosen);
    if (count == 0 ||
        (count > 1 && (gap_below_peaks() == 0 || recorder.ledger.open_count > 1))) {
        lanes->waited_events = 0;
        return;
    }
    settle_booked();
    forget_some_need(lanes);
    lanes->base_bytes = (int64_t)recorder.ledger.open[0].record->space[TRACE_HEAP].live.bytes;
    const struct budget budget = make_budget(lanes, chosen, count);
    lanes->open_count = count;
    for (uint32_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->lane[i];
        if (chosen[i])
            open_lane(lane, credit_of(lane, &budget), count == 1);
        else
            lane->recent_events = 0;
        lane->asks = false;
    }
}

void lanes_note_event(uintptr_t address, int64_t bytes) {
    struct lanes *lanes = recorder.lanes;
    if (!recorder.lanes_allowed)
        return;
    struct lane *lane = find_lane();
    lanes->waited_events++;
    if (lane == NULL)
        return;
    lane->asks = true;
    lane_hold(lane, bytes);
    /* Else the page would be lane 0's, and its owner in the way the next time. */
    if (!__libc_single_threaded && address != LANES_NO_ADDRESS)
        blocks_claim(&recorder.blocks, address, lane->number);
}

__attribute__((noinline)) void lanes_reconsider(void) {
    struct lanes *lanes = recorder.lanes;
    if (lanes->open_count > 0 || recorder.ledger.threads.open_count > 0)
        return;
    if (__libc_single_threaded) {
        if (lanes_own() != NULL)
            open_lanes(lanes);
    } else if (lanes->waited_events >= lanes->wait_events) {
        open_lanes(lanes);
    }
}

void lanes_raise(struct lane *lane) {
    struct trace_region *process = recorder.ledger.open[0].record;
    struct trace_totals *heap = &process->space[TRACE_HEAP];
    int64_t base_bytes = recorder.lanes->base_bytes;
    int64_t live_bytes = base_bytes + lane_live(lane);
    int64_t others_bytes = (int64_t)process->space[TRACE_MAP_ANON].live.bytes;

    if (live_bytes > (int64_t)heap->peak.bytes) {
        lane->epoch++;
        ledger_new_peak(heap, (uint64_t)live_bytes, lane->epoch);
    }
    if (live_bytes + others_bytes > process->combined_peak_bytes)
        process->combined_peak_bytes = live_bytes + others_bytes;
    lane->limit_bytes =
        least((int64_t)heap->peak.bytes, process->combined_peak_bytes - others_bytes) -
        base_bytes;
}
