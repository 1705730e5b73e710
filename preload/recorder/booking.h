/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * booking.h: taking the recorder's lock, and what is done under it: one event into the table of
 * blocks or mappings, and into the ledger.
 *
 * All but booking_enter() needs the lock. What is refused for want of memory is counted in the
 * completeness record, and the sums hold without it.
 */
#pragma once

#include "children.h"
#include "recorder_state.h"

#include <errno.h>

/* Book what signal handlers left in the queue. */
void book_pending(void);

/* Leave a note there: the thread was interrupted inside the recorder. Needs no lock. */
void book_later(struct pending_event event);

/*
 * Take the lock, for what concerns no block, no mapping and no region: lanes stay as they are.
 * Returns what booking_leave_beside() has to be given.
 */
static inline bool booking_enter_beside(void) {
    recorder_thread.doing |= THREAD_BUSY;
    atomic_signal_fence(memory_order_seq_cst);
    bool taken = lock_acquire(&recorder.lock);
    recorder.ledger.thread = recorder_thread.number;
    return taken;
}

static inline void booking_leave_beside(bool taken) {
    lock_release(&recorder.lock, taken);
    atomic_signal_fence(memory_order_seq_cst);
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
}

/*
 * Take the lock and close the lanes. Returns what booking_leave() has to be given. What signal
 * handlers left comes first: it happened before what is to be booked now.
 */
static inline bool booking_enter(void) {
    bool taken = booking_enter_beside();
    recorder_thread.doing &= ~(uint32_t)THREAD_NOTED;
    if (recorder.lanes->open_count > 0)
        lanes_close(true);
    if (__builtin_expect(pending_any(&recorder.pending), 0))
        book_pending();
    return taken;
}

/*
 * The same, for mappings, unless this thread is in the recorder already (a signal handler has
 * interrupted it), or another one does not come out: it may have been stopped there by a signal,
 * and go on only when this one is through, as with collectors that stop the world. False: leave a
 * note. Who allocates while the world is stopped may find the allocator's own locks held as well.
 */
bool booking_try(bool *ret_taken);
/* The same beside open lanes. */
bool booking_try_beside(bool *ret_taken);

static inline void booking_leave(bool taken) {
    if (recorder.lanes_allowed)
        lanes_reconsider();
    booking_leave_beside(taken);
}

/* @usable_bytes: what the allocator gave for the block; 0 where that was not asked. */
static inline void book_freed_block(struct block block, uint64_t usable_bytes, bool temporary) {
    recorder.ledger.usable_bytes = usable_bytes;
    ledger_free(&recorder.ledger, TRACE_HEAP, block.site, 1, block.size_bytes, block.birth,
                temporary);
}

/* @block was taken out of the table: it may be a forked child's parent's. */
static inline void book_taken(struct block *block) {
    if (__builtin_expect(block->birth <= recorder.inherited_birth, 0))
        children_adopt(block);
}

/* A block whose size is no longer known, or whose free went by unseen. */
static __attribute__((noinline, cold)) void book_lost(struct block block) {
    recorder_completeness()->events_lost++;
    book_taken(&block);
    book_freed_block(block, block.size_bytes, false); /* it had that at least */
}

/*
 * What is to be booked as usable. An allocator that is not ready yet (tcmalloc before its
 * constructor) says less than was requested, and the truth when the block is freed: such blocks
 * are remembered, and count as requested both times.
 */
uint64_t book_usable_allocated(uintptr_t address, uint64_t bytes, uint64_t usable_bytes);
uint64_t book_usable_freed(uintptr_t address, uint64_t bytes, uint64_t usable_bytes);

/* Enter a block in the table. Returns false when it was not. */
static inline bool keep_block(uintptr_t address, uint64_t bytes, uint32_t site,
                              uint32_t birth) {
    struct block old;
    bool stale;
    int r = blocks_insert(&recorder.blocks, address, bytes, site, birth, &old, &stale);
    if (__builtin_expect(r == -ERANGE, 0)) {
        recorder_completeness()->events_lost++;
        return false;
    }
    if (__builtin_expect(r < 0, 0))
        recorder_completeness()->table_refused++;
    if (__builtin_expect(r < 0 || stale, 0))
        book_lost(old);
    return true;
}

static inline void book_allocated(uintptr_t address, uint64_t bytes, uint64_t usable_bytes,
                                  uint32_t site) {
    uint32_t birth = ledger_birth(&recorder.ledger);
    if (__builtin_expect(!keep_block(address, bytes, site, birth), 0))
        return;
    recorder.ledger.usable_bytes = usable_bytes;
    if (__builtin_expect(recorder.ledger.usable, 0))
        recorder.ledger.usable_bytes = book_usable_allocated(address, bytes, usable_bytes);
    if (__builtin_expect(!ledger_allocate(&recorder.ledger, TRACE_HEAP, site, 1, bytes), 0)) {
        struct block unbooked;
        blocks_remove(&recorder.blocks, address, &unbooked);
        return;
    }
}

/* Returns the size of the block; 0 if it is not known, and @usable_bytes is not either. */
static inline uint64_t book_freed(uintptr_t address, uint64_t usable_bytes, bool temporary) {
    struct block block;
    if (__builtin_expect(!blocks_remove(&recorder.blocks, address, &block), 0)) {
        recorder_completeness()->unknown_frees++;
        return 0;
    }
    book_taken(&block);
    if (__builtin_expect(recorder.ledger.usable, 0))
        usable_bytes = book_usable_freed(address, block.size_bytes, usable_bytes);
    book_freed_block(block, usable_bytes, temporary);
    return block.size_bytes;
}

/* A heap event is booked, whole. */
static inline void book_point(void) {
    if (ledger_count_event(&recorder.ledger))
        ledger_add_points(&recorder.ledger, recorder_elapsed_ns());
}

/* Take what is no later than @serial in [start, end) out of the mappings and the ledger. */
void book_unmapped(uintptr_t start, uintptr_t end, uint64_t serial);

/* Book a mapping where nothing is known. */
void book_mapping(struct mapping mapping);

/* Book one that is born now; whatever was known there is gone. */
void book_mapping_over(struct mapping mapping);

/* Reserved addresses in [start, end) became memory, by @site of TRACE_MAP_ANON. */
void book_protected(uintptr_t start, uintptr_t end, uint32_t site);

/* A shared memory segment came; what is left of it and no later than @serial goes. */
void book_attached(uintptr_t address, uint64_t bytes, uint32_t site);
void book_detached(uintptr_t address, uint64_t serial);

/* VOTRACE_SIGNAL came: begin its region, or end it. In recorder.c, with the other markers. */
void book_signalled(const struct ledger_moment *now);

/* Book a mapping; whatever was known there is gone. */
void book_mapped(uintptr_t address, uint64_t bytes, enum trace_space space, uint32_t site);
