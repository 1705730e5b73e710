/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes_close.c: how lanes are closed, and what is learnt from it.
 *
 * Closing costs as much as some events under the lock when the other threads come by soon, as a
 * hundred when they have to be fenced. So lanes that turned out to be open for too short a time
 * stay closed the longer the next time: threads that push the peak up together, or free each
 * other's blocks all the time, are better off under the lock.
 */
#include "booking.h"
#include "lanes_own.h"
#include "sandbox.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORTH_EVENTS_MARKED 50000
#define PATIENCE_MIN        1
#define PAUSES_BEFORE_SLEEP 2000
#define SLEEPS_AT_MOST      3200ul /* some 400 ms */
#define FENCE_PAUSES        100000 /* a millisecond or more */

/* What a closing costs, in events under the lock. */
struct price {
    int64_t worth_events;     /* lanes that were open for fewer cost more than they saved */
    uint32_t wait_events_min; /* before lanes open again */
    uint32_t wait_events_max;
};

static const struct price price_seen = {64, 1, 1024};
static const struct price price_fenced = {1000, LANES_WAIT_EVENTS, 8192};

/*
 * Make every thread's earlier stores visible here and ours there. If the kernel has begun to
 * refuse (a sandbox), or must not be asked, wait: no processor keeps a store to itself for a
 * millisecond.
 */
static void fence_all_threads(void) {
    int saved_errno = errno;
    if (sandbox_inside()) {
        lock_pause(FENCE_PAUSES);
        return;
    }
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
        recorder.lanes_allowed = false;
        struct timespec pause = {.tv_nsec = 1000000};
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    errno = saved_errno;
}

/* Returns whether the owner has come out; if @patient that is waited for. */
static bool wait_for_owner(const struct lane *lane, bool patient) {
    unsigned stalls = atomic_load_explicit(&recorder.stalls, memory_order_relaxed);
    unsigned long pauses_left = (SLEEPS_AT_MOST >> stalls) * PAUSES_BEFORE_SLEEP;
    while (__atomic_load_n(&lane->record->updating, __ATOMIC_ACQUIRE) != 0) {
        lock_pause(1);
        if (--pauses_left == 0 && !patient)
            return false;
        if (pauses_left % PAUSES_BEFORE_SLEEP != 0 || sandbox_inside())
            continue;
        int saved_errno = errno;
        struct timespec pause = {.tv_nsec = 50000};
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
        errno = saved_errno;
    }
    return true;
}

/* The latest block of a closed lane goes to its page. */
static void settle(struct lane *lane) {
    struct block old;
    bool stale = false;
    if (lane->latest_address == LANES_NO_ADDRESS)
        return;
    if (!blocks_can_hold(lane->latest_address, lane->latest.size_bytes)) {
        book_lost(lane->latest);
    } else if (blocks_page_insert(&recorder.blocks, lane->latest_address, &lane->latest, &old,
                                  &stale) < 0) {
        recorder_completeness()->table_refused++;
        book_lost(lane->latest);
    }
    if (stale)
        book_lost(old);
    lane->latest_address = LANES_NO_ADDRESS;
}

/* Blocks allocated less freed since the lane was opened: its events tell, nothing is counted. */
static uint64_t live_blocks_of(const struct lane *lane, uint64_t events) {
    uint64_t reallocations = lane->record->reallocations - lane->base_reallocations;
    uint64_t allocations =
        lane_allocations(lane->record) - lane->base_allocations - reallocations;
    uint64_t frees = events - allocations - reallocations;
    return allocations - frees;
}

/* The sums of a lane that was closed go to the record. Returns its events while it was open. */
static int64_t flush(struct lane *lane) {
    struct ledger_region *process = &recorder.ledger.open[0];
    struct trace_totals *heap = &process->record->space[TRACE_HEAP];
    int64_t live_bytes = lane_live(lane);
    process->left_events -= lane_take_events(lane);
    uint64_t live_blocks = live_blocks_of(lane, (uint64_t)lane->recent_events);
    ledger_pair_set(&heap->live, ledger_pair_get(&heap->live) +
                                     (ledger_pair){live_blocks, (uint64_t)live_bytes});
    if (lane->record->largest_bytes > heap->largest_bytes)
        heap->largest_bytes = lane->record->largest_bytes;
    lane_hold(lane, live_bytes);
    lane_set_live(lane, 0);
    return lane->recent_events;
}

/*
 * After lanes were open for @events, at the cost of stopping other threads. In a marked region
 * only one may be open: threads that take turns there are not worth it.
 */
static void learn(struct lanes *lanes, int64_t events) {
    const struct price *price = lanes->fenced ? &price_fenced : &price_seen;
    bool worth =
        events >= (recorder.ledger.open_count > 1 ? WORTH_EVENTS_MARKED : price->worth_events);
    if (!worth && lanes->wait_events < price->wait_events_max)
        lanes->wait_events *= 2;
    else if (worth)
        lanes->wait_events /= 4;
    if (lanes->wait_events < price->wait_events_min)
        lanes->wait_events = price->wait_events_min;
    lanes->waited_events = 0;
}

static bool has_seen(const struct lane *lane, uint64_t closing) {
    return atomic_load_explicit(&lane->seen_closing, memory_order_acquire) == closing;
}

/*
 * Whether all owners but this thread have come by since @closing, outside of their lanes. Those
 * that work are there within a few events; it is not worth waiting for the others, and the less
 * the more often they do not come.
 */
static bool all_have_seen(struct lanes *lanes, const struct lane *own, uint64_t closing) {
    unsigned pauses_left = lanes->patience;
    for (uint32_t i = 0; i < lanes->count; i++) {
        const struct lane *lane = &lanes->lane[i];
        while (lane->closing && lane != own && !has_seen(lane, closing)) {
            if (pauses_left-- == 0) {
                if (lanes->patience > PATIENCE_MIN)
                    lanes->patience /= 2;
                return false;
            }
            lock_pause(1);
        }
    }
    if (lanes->patience < LANES_PATIENCE_MAX)
        lanes->patience *= 2;
    return true;
}

/* Take the leases away. Afterwards no owner enters; some may be in their lanes. */
static void take_leases(struct lanes *lanes, const struct lane *own) {
    bool others = false;
    uint64_t closing = ++lanes->closings;
    for (uint32_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->lane[i];
        if (lane_lease_is_closed(atomic_load_explicit(&lane->lease, memory_order_relaxed)))
            continue;
        lane->closing = true;
        others |= lane != own;
        atomic_store_explicit(&lane->lease, LANES_CLOSED | closing, memory_order_release);
    }
    if (!others)
        return;
    lanes->closed_events = 0;
    lanes->closed_others = true;
    lanes->fenced = !all_have_seen(lanes, own, closing);
    if (lanes->fenced)
        fence_all_threads();
}

/* Whether all are out of the lanes; the sums of those that are have gone to the record. */
static __attribute__((noinline)) bool flush_closing(struct lanes *lanes, bool patient) {
    const struct lane *own = lanes_own();
    bool all = true;
    take_leases(lanes, own);
    for (uint32_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->lane[i];
        if (!lane->closing)
            continue;
        if (lane != own && !wait_for_owner(lane, patient)) {
            all = false;
            continue;
        }
        lanes->closed_events += flush(lane);
        lane->closing = false;
        lanes->open_count--;
    }
    return all;
}

/* In two steps for the sake of small stacks: the second goes deep into the table of blocks. */
bool lanes_close(bool patient) {
    struct lanes *lanes = recorder.lanes;
    if (!flush_closing(lanes, patient))
        return false;
    for (uint32_t i = 0; i < lanes->count; i++)
        settle(&lanes->lane[i]);
    if (lanes->closed_others)
        learn(lanes, lanes->closed_events);
    lanes->closed_others = false;
    return true;
}

bool lanes_await(struct lane *lane) {
    uint64_t lease = atomic_load_explicit(&lane->lease, memory_order_acquire);
    uint64_t closing = lease & ~LANES_CLOSED;
    if ((lease & LANES_CLOSED) == 0 || has_seen(lane, closing) ||
        __atomic_load_n(&lane->record->updating, __ATOMIC_RELAXED) != 0)
        return false;
    atomic_store_explicit(&lane->seen_closing, closing, memory_order_release);
    bool taken;
    if (!booking_try_beside(&taken))
        return false;
    bool open = lane_is_open(lane, recorder_thread.lease);
    booking_leave_beside(taken);
    return open;
}
