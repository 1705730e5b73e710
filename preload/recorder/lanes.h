/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.h: heap events without a lock.
 *
 * While no marked region is open, a thread that allocates has a lane: rows of counters,
 * pages of the table of blocks and a credit, none of which another thread touches. The credits
 * together are no more than the gap between live and the peak, so that no event inside them can
 * be a new peak, in whatever order the threads run. A lane that runs out of credit has the
 * others closed; then the sums are exact. A lane that is open alone raises the peak itself.
 *
 *     lanes open      each event in its thread's lane, nothing is shared
 *     lanes closed    each event under the recorder's lock, in lane 0: booking.h
 *
 * Lanes are opened and closed under the lock. An owner says `updating` before it looks whether
 * its lane is open; who closes a lane says so before it looks whether the owner is updating. The
 * full fences that this takes are paid by the closer for both: membarrier(2), some ten
 * microseconds. An owner that works comes by much sooner, finds its lane closed and says so
 * itself: the closer waits for that first. Where there is no membarrier(2) lanes stay closed. A
 * forked child finds the lanes' memory wiped, hence closed.
 */
#pragma once

#include "blocks.h"
#include "children.h"
#include "ledger.h"
#include "trace_layout.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_NO_ADDRESS 1u         /* no block is there: latest_address when there is none */
#define LANES_NO_SITE    UINT32_MAX /* for lanes_prepare() */

/* In lane.lease: marked regions are open, and what is done for young blocks is not enough. */
#define LANES_MARKED (UINT64_C(1) << 63)
/* In lane.lease: closed, the rest is the number of that closing. */
#define LANES_CLOSED (UINT64_C(1) << 62)

struct lane {
    /* The owner's while the lane is open. */
    _Alignas(64) _Atomic uint64_t lease; /* the owner's number; 0 or LANES_CLOSED: closed */
    struct trace_lane *record;
    struct trace_row **rows;    /* the process region's, see struct ledger_region */
    uint64_t epoch;             /* of the process region's heap peak */
    _Atomic int64_t live_bytes; /* allocated less freed since the lane was opened */
    int64_t limit_bytes;        /* with more than that live there may be a new peak */
    int64_t left_events;        /* until lanes_tick() */
    uintptr_t latest_address;
    struct block latest;
    uint32_t birth;           /* of blocks allocated now */
    uint32_t inherited_birth; /* of a forked child: blocks of that or before are its parent's */
    uint16_t number;
    bool alone;  /* no other lane is open */
    bool marked; /* events count in marked regions as well; then it is alone */
    _Atomic uint64_t seen_closing; /* the latest that the owner has seen, outside its lane */

    /* Under the lock. */
    _Atomic uint64_t owner;      /* lease of the thread that has the lane; 0: nobody */
    uint32_t owner_tid;          /* its kernel thread id */
    int64_t held_bytes;          /* what the owner has allocated less freed, lane open or not */
    int64_t high_bytes;          /* the most it held or asked for */
    int64_t given_events;        /* left_events when it was last looked at */
    uint64_t base_allocations;   /* of the record when the lane was opened */
    uint64_t base_reallocations; /* likewise */
    int64_t recent_events;       /* of the owner when lanes were last open */
    bool asks;                   /* the owner had events under the lock since */
    bool closing;                /* it has no lease any more, and is not flushed yet */
};

struct lanes {
    struct lane lane[TRACE_LANES_MAX];
    uint32_t count;         /* lanes that have had an owner */
    uint32_t open_count;    /* lanes that are open, or closing */
    uint64_t closings;      /* so far */
    uint64_t forget_at;     /* closings, when a part of what was needed is forgotten */
    int64_t closed_events;  /* of the lanes that are being closed, while they were open */
    bool closed_others;     /* other threads' are among them */
    bool fenced;            /* some of these did not come by */
    unsigned patience;      /* pauses to wait for them */
    uint64_t leases;        /* given so far */
    uint32_t next_idle;     /* lane to be looked at when one is wanted and all have owners */
    uint32_t wait_events;   /* to be booked under the lock before lanes open again */
    uint32_t waited_events; /* so far */
    int64_t base_bytes;     /* live heap of the process region when lanes were last opened */
};

/*
 * Look whether lanes are possible here and make lane 0, which every trace has. Returns 0 or
 * -ENOMEM.
 */
int lanes_init(void);

/* In a forked child, whose lanes' memory the kernel has wiped: begin again. */
void lanes_restart(void);

/* From now on lanes stay closed. The lock is held, and they are. */
void lanes_forbid(void);

/*
 * Close the lanes that are open: their sums go to the process region's record, their latest
 * blocks to the table. The lock is held. If not @patient, false when an owner does not come out of
 * its lane: nothing may be booked then, and the next call goes on.
 */
bool lanes_close(bool patient);

/*
 * A heap event of this thread, at @address or LANES_NO_ADDRESS, was booked under the lock:
 * @bytes more are live.
 */
void lanes_note_event(uintptr_t address, int64_t bytes);

/*
 * This thread's @lane is closed. If that is news, let the closer know, wait until it is through,
 * and return whether the lane was opened again: then the event need not close it.
 */
bool lanes_await(struct lane *lane);

/* Open lanes if it is time. The lock is held. */
void lanes_reconsider(void);

/*
 * Provide what an event in this thread's lane may have lacked: rows for @site (or
 * LANES_NO_SITE), room for the latest block, the page of @address. Returns whether it is worth
 * another try; otherwise the event has to be booked under the lock, which is not held here.
 */
bool lanes_prepare(struct lane *lane, uint32_t site, uintptr_t address);

/* A point of a timeline is due. The lock is not held. */
void lanes_tick(struct lane *lane);

/* More is live than the limit of the only open lane. */
void lanes_raise(struct lane *lane);

/* The events of a marked lane in the marked regions, before those in the process region. */
bool lanes_inner_ready(uint32_t site);
void lanes_inner_allocated(uint32_t site, uint64_t bytes);
void lanes_inner_freed(const struct block *block, bool temporary);
void lanes_inner_reallocated(void);
bool lanes_inner_event(void);

/* One event in a lane. The order of the stores is part of the trace format, as in ledger.h. */

/* Whether the lane is open for the thread with @lease and that thread is not in it already. */
static inline bool lane_enter(struct lane *lane, uint64_t lease) {
    /* A forked child must learn here that it has no lane: the record is its parent's. */
    if (__builtin_expect(atomic_load_explicit(&lane->lease, memory_order_acquire) != lease, 0))
        return false;
    uint64_t *updating = &lane->record->updating;
    if (__builtin_expect(__atomic_load_n(updating, __ATOMIC_RELAXED) != 0, 0))
        return false;
    __atomic_store_n(updating, 1, __ATOMIC_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&lane->lease, memory_order_acquire) == lease, 1))
        return true;
    __atomic_store_n(updating, 0, __ATOMIC_RELEASE);
    return false;
}

static inline bool lane_lease_is_closed(uint64_t lease) {
    return lease == 0 || (lease & LANES_CLOSED) != 0;
}

/* Whether the lane is open for the thread with @lease, marked or not. */
static inline bool lane_is_open(const struct lane *lane, uint64_t lease) {
    return (atomic_load_explicit(&lane->lease, memory_order_relaxed) & ~LANES_MARKED) == lease;
}

/* lane_enter(), marked or not. */
static inline bool lane_enter_any(struct lane *lane, uint64_t lease) {
    return lane_enter(lane, lease | (atomic_load_explicit(&lane->lease, memory_order_relaxed) &
                                     LANES_MARKED));
}

static inline void lane_leave(struct lane *lane) {
    __atomic_store_n(&lane->record->updating, 0, __ATOMIC_RELEASE);
}

static inline struct trace_row *lane_row(const struct lane *lane, uint32_t site) {
    struct trace_row *rows = lane->rows[site / TRACE_ROWS_PER_CHUNK];
    return __builtin_expect(rows == NULL, 0) ? NULL : &rows[site % TRACE_ROWS_PER_CHUNK];
}

static inline int64_t lane_live(const struct lane *lane) {
    return atomic_load_explicit(&lane->live_bytes, memory_order_relaxed);
}

static inline void lane_set_live(struct lane *lane, int64_t bytes) {
    atomic_store_explicit(&lane->live_bytes, bytes, memory_order_relaxed);
}

/* Returns whether lanes_tick() is due. */
static inline bool lane_count_event(struct lane *lane) {
    bool due = --lane->left_events <= 0;
    if (__builtin_expect(lane->marked, 0))
        due |= lanes_inner_event();
    return __builtin_expect(due, 0);
}

/* The row of @site, if the marked regions have theirs as well. */
static inline struct trace_row *lane_row_ready(const struct lane *lane, uint32_t site) {
    if (__builtin_expect(lane->marked, 0) && !lanes_inner_ready(site))
        return NULL;
    return lane_row(lane, site);
}

/* Whether @live may be reached in this lane. */
static inline bool lane_allows(const struct lane *lane, int64_t live) {
    return __builtin_expect(live <= lane->limit_bytes || lane->alone, 1);
}

/* The block at @address becomes the latest; the one that was goes to its page. */
static inline bool lane_keep_block(struct lane *lane, struct blocks *blocks, uintptr_t address,
                                   uint64_t bytes, uint32_t site) {
    if (lane->latest_address != LANES_NO_ADDRESS &&
        (lane->latest_address == address ||
         blocks_lane_insert(blocks, lane->number, lane->latest_address, &lane->latest) !=
             BLOCKS_DONE))
        return false;
    lane->latest_address = address;
    lane->latest.size_bytes = bytes;
    lane->latest.site = site;
    lane->latest.birth = lane->birth;
    return true;
}

static inline bool lane_take_block(struct lane *lane, struct blocks *blocks, uintptr_t address,
                                   struct block *ret_block) {
    if (lane->latest_address != address) {
        if (blocks_lane_remove(blocks, lane->number, address, ret_block) != BLOCKS_DONE)
            return false;
        if (__builtin_expect(ret_block->birth <= lane->inherited_birth, 0))
            children_adopt(ret_block);
        return true;
    }
    /* Field by field, as it was written: a wide load over narrow stores would have to wait. */
    ret_block->size_bytes = lane->latest.size_bytes;
    ret_block->site = lane->latest.site;
    ret_block->birth = lane->latest.birth;
    lane->latest_address = LANES_NO_ADDRESS;
    return true;
}

static inline void lane_book(struct lane *lane, struct trace_row *row, uint64_t bytes) {
    ledger_row_before_change(row, lane->epoch);
    ledger_pair_set(&row->allocated,
                    ledger_pair_get(&row->allocated) + (ledger_pair){1, bytes});
    lane_set_live(lane, lane_live(lane) + (int64_t)bytes);
    ledger_count_size(lane->record, bytes);
}

static inline void lane_book_allocated(struct lane *lane, struct trace_row *row, uint32_t site,
                                       uint64_t bytes) {
    if (__builtin_expect(lane->marked, 0))
        lanes_inner_allocated(site, bytes);
    lane_book(lane, row, bytes);
    if (lane_live(lane) > lane->limit_bytes)
        lanes_raise(lane);
}

static inline void lane_book_freed(struct lane *lane, struct trace_row *row, uint64_t bytes,
                                   bool temporary) {
    ledger_row_before_change(row, lane->epoch);
    ledger_pair_set(&row->freed, ledger_pair_get(&row->freed) + (ledger_pair){1, bytes});
    row->temporary += temporary;
    lane_set_live(lane, lane_live(lane) - (int64_t)bytes);
}

static inline void lane_book_freed_block(struct lane *lane, struct trace_row *row,
                                         const struct block *block, bool temporary) {
    if (__builtin_expect(lane->marked, 0))
        lanes_inner_freed(block, temporary);
    lane_book_freed(lane, row, block->size_bytes, temporary);
}

/*
 * An event of the thread with @lease. False: nothing was done; lanes_prepare() may help.
 */
static inline bool lane_allocate(struct lane *lane, uint64_t lease, struct blocks *blocks,
                                 uintptr_t address, uint64_t bytes, uint32_t site) {
    if (!lane_enter_any(lane, lease))
        return false;
    struct trace_row *row = lane_row_ready(lane, site);
    bool done = row != NULL && lane_allows(lane, lane_live(lane) + (int64_t)bytes) &&
                lane_keep_block(lane, blocks, address, bytes, site);
    bool tick = false;
    if (__builtin_expect(done, 1)) {
        lane_book_allocated(lane, row, site, bytes);
        tick = lane_count_event(lane);
    }
    lane_leave(lane);
    if (tick)
        lanes_tick(lane);
    return done;
}

/*
 * The same where no block waits to be settled and there can be no new peak: what a program does
 * over and over again, and calls nothing.
 */
static inline bool lane_allocate_young(struct lane *lane, uint64_t lease, uintptr_t address,
                                       uint64_t bytes, uint32_t site) {
    /* Look before entering: it is worth nothing where blocks live on. */
    if (__atomic_load_n(&lane->latest_address, __ATOMIC_RELAXED) != LANES_NO_ADDRESS ||
        !lane_enter(lane, lease))
        return false;
    struct trace_row *row = lane_row(lane, site);
    if (__builtin_expect(row == NULL || lane->latest_address != LANES_NO_ADDRESS ||
                             lane_live(lane) + (int64_t)bytes > lane->limit_bytes ||
                             lane->left_events <= 1,
                         0)) {
        lane_leave(lane);
        return false;
    }
    lane->latest_address = address;
    lane->latest.size_bytes = bytes;
    lane->latest.site = site;
    lane->latest.birth = lane->birth;
    lane_book(lane, row, bytes);
    lane->left_events--;
    lane_leave(lane);
    return true;
}

/* Take a block out of the table, to be booked later. */
static inline bool lane_take(struct lane *lane, uint64_t lease, struct blocks *blocks,
                             uintptr_t address, struct block *ret_block) {
    if (!lane_enter_any(lane, lease))
        return false;
    bool taken = lane_take_block(lane, blocks, address, ret_block);
    lane_leave(lane);
    return taken;
}

/* Book what was taken out as freed, if the lane has a row for it. */
static inline bool lane_book_if_row(struct lane *lane, const struct block *block,
                                    bool temporary) {
    struct trace_row *row = lane_row_ready(lane, block->site);
    if (__builtin_expect(row != NULL, 1))
        lane_book_freed_block(lane, row, block, temporary);
    return row != NULL;
}

/* Book as freed what was taken out. */
static inline bool lane_free_taken(struct lane *lane, uint64_t lease, const struct block *block,
                                   bool temporary) {
    if (!lane_enter_any(lane, lease))
        return false;
    bool done = lane_book_if_row(lane, block, temporary);
    bool tick = done && lane_count_event(lane);
    lane_leave(lane);
    if (tick)
        lanes_tick(lane);
    return done;
}

enum lane_answer {
    LANE_DONE,
    LANE_NOTHING, /* nothing was done */
    LANE_TAKEN,   /* the block is out of the table, but not booked as freed */
};

/*
 * Free the latest block. False: it is another that is freed, and nothing was done.
 */
static inline bool lane_free_young(struct lane *lane, uint64_t lease, uintptr_t address,
                                   bool temporary) {
    if (__atomic_load_n(&lane->latest_address, __ATOMIC_RELAXED) != address ||
        !lane_enter(lane, lease))
        return false;
    if (lane->latest_address != address || __builtin_expect(lane->left_events <= 1, 0)) {
        lane_leave(lane);
        return false;
    }
    lane->latest_address = LANES_NO_ADDRESS;
    /* It was allocated in this lane: there is a row. */
    uint32_t site = lane->latest.site;
    lane_book_freed(lane, &lane->rows[site / TRACE_ROWS_PER_CHUNK][site % TRACE_ROWS_PER_CHUNK],
                    lane->latest.size_bytes, temporary);
    lane->left_events--;
    lane_leave(lane);
    return true;
}

/*
 * lane_take() and lane_free_taken() in one. @ret_block is written unless nothing was done.
 */
static inline enum lane_answer lane_free(struct lane *lane, uint64_t lease,
                                         struct blocks *blocks, uintptr_t address,
                                         bool temporary, struct block *ret_block) {
    enum lane_answer answer = LANE_DONE;
    bool tick = false;
    if (!lane_enter_any(lane, lease))
        return LANE_NOTHING;
    if (!lane_take_block(lane, blocks, address, ret_block))
        answer = LANE_NOTHING;
    else if (!lane_book_if_row(lane, ret_block, temporary))
        answer = LANE_TAKEN;
    else
        tick = lane_count_event(lane);
    lane_leave(lane);
    if (tick)
        lanes_tick(lane);
    return answer;
}

/* The block @old, taken out before, was reallocated: one event. */
static inline bool lane_reallocate(struct lane *lane, uint64_t lease, struct blocks *blocks,
                                   const struct block *old, uintptr_t address, uint64_t bytes,
                                   uint32_t site) {
    if (!lane_enter_any(lane, lease))
        return false;
    struct trace_row *old_row = lane_row_ready(lane, old->site);
    struct trace_row *row = lane_row_ready(lane, site);
    int64_t live = lane_live(lane) - (int64_t)old->size_bytes + (int64_t)bytes;
    bool done = old_row != NULL && row != NULL && lane_allows(lane, live) &&
                lane_keep_block(lane, blocks, address, bytes, site);
    bool tick = false;
    if (__builtin_expect(done, 1)) {
        lane_book_freed_block(lane, old_row, old, false);
        lane_book_allocated(lane, row, site, bytes);
        lane->record->reallocations++;
        if (__builtin_expect(lane->marked, 0))
            lanes_inner_reallocated();
        tick = lane_count_event(lane);
    }
    lane_leave(lane);
    if (tick)
        lanes_tick(lane);
    return done;
}
