/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.c: who has a lane, when lanes open, how they are closed.
 *
 * Closing costs as much as some events under the lock when the other threads come by soon, as a
 * hundred when they have to be fenced. So lanes that turned out to be open for too short a time
 * stay closed the longer the next time: threads that push the peak up together, or free each
 * other's blocks all the time, are better off under the lock.
 *
 * A lane's credit is what its owner used to need beyond what it holds, and an equal share of
 * the rest of the gap. Where the gap is less than what all need, who asks comes first.
 */
#include "lanes.h"

#include "booking.h"
#include "recorder_state.h"
#include "sandbox.h"
#include "sysmem.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORTH_EVENTS_MARKED 50000
#define FORGET_CLOSINGS     64 /* until a part of what was needed once is forgotten */
#define PATIENCE_MAX        64 /* pauses: some two microseconds */
#define PATIENCE_MIN        1
#define ACTIVE_SHARE        16 /* of the events in lanes, to get one again without asking */
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
static const struct price price_fenced = {1000, 32, 8192};

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
    lanes->wait_events = price_fenced.wait_events_min;
    lanes->patience = PATIENCE_MAX;
    recorder.lanes_allowed =
        syscall(SYS_madvise, lanes, sizeof(*lanes), MADV_WIPEONFORK) == 0 && membarrier_works();
    errno = saved_errno;
    return 0;
}

void lanes_restart(void) {
    *recorder.lanes =
        (struct lanes){.wait_events = price_fenced.wait_events_min, .patience = PATIENCE_MAX};
    recorder.lanes_allowed = recorder.lanes_allowed && membarrier_works();
}

void lanes_forbid(void) {
    recorder.lanes_allowed = false;
}

/* Owners */

static struct lane *own_lane(void) {
    struct lane *lane = recorder_thread.lane;
    if (lane == NULL ||
        atomic_load_explicit(&lane->owner, memory_order_relaxed) != recorder_thread.lease)
        return NULL;
    return lane;
}

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
    struct lane *lane = own_lane();
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

/* Closing */

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

/* Events until lanes_tick(), from now on. */
static void give(struct lane *lane, int64_t events) {
    lane->given_events = events;
    lane->left_events = events;
}

/* Events since the last look are among the owner's from now on. Returns how many. */
static int64_t take_events(struct lane *lane) {
    int64_t events = lane->given_events - lane->left_events;
    lane->recent_events += events;
    lane->given_events = lane->left_events;
    return events;
}

static uint64_t allocations_in(const struct trace_lane *record) {
    uint64_t allocations = 0;
    for (unsigned i = 0; i < TRACE_SIZE_BUCKETS; i++)
        allocations += record->size_counts[i];
    return allocations;
}

/* Blocks allocated less freed since the lane was opened: its events tell, nothing is counted. */
static uint64_t live_blocks_of(const struct lane *lane, uint64_t events) {
    uint64_t reallocations = lane->record->reallocations - lane->base_reallocations;
    uint64_t allocations =
        allocations_in(lane->record) - lane->base_allocations - reallocations;
    uint64_t frees = events - allocations - reallocations;
    return allocations - frees;
}

static void hold(struct lane *lane, int64_t bytes) {
    lane->held_bytes += bytes;
    if (lane->held_bytes > lane->high_bytes)
        lane->high_bytes = lane->held_bytes;
}

/* The sums of a lane that was closed go to the record. Returns its events while it was open. */
static int64_t flush(struct lane *lane) {
    struct ledger_region *process = &recorder.ledger.open[0];
    struct trace_totals *heap = &process->record->space[TRACE_HEAP];
    int64_t live_bytes = lane_live(lane);
    process->left_events -= take_events(lane);
    uint64_t live_blocks = live_blocks_of(lane, (uint64_t)lane->recent_events);
    ledger_pair_set(&heap->live, ledger_pair_get(&heap->live) +
                                     (ledger_pair){live_blocks, (uint64_t)live_bytes});
    if (lane->record->largest_bytes > heap->largest_bytes)
        heap->largest_bytes = lane->record->largest_bytes;
    hold(lane, live_bytes);
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
    if (lanes->patience < PATIENCE_MAX)
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
    const struct lane *own = own_lane();
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
    const struct lane *own = own_lane();
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
    const struct lane *own = own_lane();
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
    give(lane, first_tick(alone));
    lane->base_allocations = allocations_in(lane->record);
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
    hold(lane, bytes);
    /* Else the page would be lane 0's, and its owner in the way the next time. */
    if (!__libc_single_threaded && address != LANES_NO_ADDRESS)
        blocks_claim(&recorder.blocks, address, lane->number);
}

__attribute__((noinline)) void lanes_reconsider(void) {
    struct lanes *lanes = recorder.lanes;
    if (lanes->open_count > 0 || recorder.ledger.threads.open_count > 0)
        return;
    if (__libc_single_threaded) {
        if (own_lane() != NULL)
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
            take_events(lane);
            give(lane, ledger_add_process_point(&recorder.ledger, live_now(recorder.lanes),
                                                elapsed_ns));
        }
        ledger_add_inner_points(&recorder.ledger, elapsed_ns);
    }
    booking_leave_beside(taken);
}
