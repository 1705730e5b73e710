/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * events.c: what the hooks tell.
 *
 * An allocation becomes: its stack's site (no lock if that is known), then an entry in the
 * table of blocks and a booking in the ledger, in the thread's lane if that is open, else under
 * the lock. A signal handler that allocates while its own thread is in there finds that and
 * leaves a note in the queue.
 */
#include "booking.h"
#include "sites.h"

/* Heap */

static __attribute__((noinline, cold)) uint64_t ask_usable(uintptr_t address) {
    uint32_t doing = recorder_thread.doing;
    recorder_thread.doing |= THREAD_IN_REAL;
    uint64_t bytes = recorder.usable_size((void *)address);
    recorder_thread.doing =
        (doing & THREAD_IN_REAL) | (recorder_thread.doing & ~(uint32_t)THREAD_IN_REAL);
    return bytes;
}

/* What the allocator gave for a block; 0 where nobody wants to know. No lock of ours is held. */
static inline uint64_t usable_of(uintptr_t address) {
    return __builtin_expect(recorder.usable_size == NULL, 1) ? 0 : ask_usable(address);
}

/* Of their own, for the sake of small stacks: the event must not be in their callers' frames. */
static __attribute__((noinline, cold)) void queue_allocated(uintptr_t address, uint64_t bytes,
                                                            uint32_t site) {
    book_later((struct pending_event){.kind = PENDING_ALLOCATED,
                                      .address = address,
                                      .bytes = bytes,
                                      .usable_bytes = usable_of(address),
                                      .site = site});
}

static __attribute__((noinline, cold)) void queue_freed(uintptr_t address, bool temporary) {
    book_later((struct pending_event){.kind = PENDING_FREED,
                                      .address = address,
                                      .usable_bytes = usable_of(address),
                                      .temporary = temporary});
}

/* This thread's lane, if it may try there what has to be booked; else NULL. */
static inline struct lane *lane_to_try(void) {
    struct lane *lane = recorder_thread.lane;
    bool otherwise = (recorder_thread.doing & (THREAD_BUSY | THREAD_NOTED)) != 0;
    return __builtin_expect(otherwise, 0) ? NULL : lane;
}

/* Whether an event that did not fit in the lane does now; lanes are then as they were. */
static bool prepare(struct lane *lane, uint32_t site, uintptr_t address) {
    if (lane == NULL || recorder_busy())
        return false;
    return lane_is_open(lane, recorder_thread.lease) ? lanes_prepare(lane, site, address)
                                                     : lanes_await(lane);
}

static __attribute__((noinline)) void allocated_slowly(struct lane *lane, uintptr_t address,
                                                       uint64_t bytes, uint32_t site) {
    if (!recorder_active())
        return;
    if (prepare(lane, site, LANES_NO_ADDRESS) &&
        lane_allocate(lane, recorder_thread.lease, &recorder.blocks, address, bytes, site))
        return;
    if (recorder_busy()) {
        queue_allocated(address, bytes, site);
        return;
    }
    uint64_t usable_bytes = usable_of(address);
    bool taken = booking_enter();
    book_allocated(address, bytes, usable_bytes, site);
    book_point();
    lanes_note_event(address, (int64_t)bytes);
    booking_leave(taken);
}

bool recorder_allocated_young(uintptr_t address, uint64_t bytes, uint32_t site) {
    struct lane *lane = recorder_thread.lane;
    if (!lane_allocate_young(lane, recorder_thread.lease, address, bytes, site))
        return false;
    recorder_thread.last_allocated = address;
    return true;
}

bool recorder_freed_young(uintptr_t address) {
    bool temporary = recorder_thread.last_allocated == address;
    if (!lane_free_young(recorder_thread.lane, recorder_thread.lease, address, temporary))
        return false;
    recorder_thread.last_allocated = 0;
    return true;
}

bool recorder_needs_stack(void) {
    return atomic_load_explicit(&recorder.unwinds, memory_order_relaxed);
}

void recorder_allocated_by(uintptr_t address, uint64_t bytes, uint32_t site) {
    struct lane *lane = lane_to_try();
    recorder_thread.last_allocated = address;
    if (__builtin_expect(lane == NULL, 0) ||
        !lane_allocate(lane, recorder_thread.lease, &recorder.blocks, address, bytes, site))
        allocated_slowly(lane, address, bytes, site);
}

void recorder_allocated(uintptr_t address, uint64_t bytes, const uintptr_t *frame) {
    recorder_allocated_by(address, bytes, sites_of(TRACE_HEAP, frame));
}

/* The block was taken out, and the lane has no row for its site. */
static __attribute__((noinline)) void freed_taken(struct lane *lane, const struct block *block,
                                                  bool temporary) {
    if (prepare(lane, block->site, LANES_NO_ADDRESS) &&
        lane_free_taken(lane, recorder_thread.lease, block, temporary))
        return;
    bool taken = booking_enter();
    book_freed_block(*block, 0, temporary);
    book_point();
    lanes_note_event(LANES_NO_ADDRESS, -(int64_t)block->size_bytes);
    booking_leave(taken);
}

/*
 * With usable sizes, which may be asked for known blocks only and without the lock: between
 * the halves the block is out of the table, but nobody else can be given its address.
 */
static __attribute__((noinline, cold)) void freed_asking(uintptr_t address, bool temporary) {
    struct block block;
    bool taken = booking_enter();
    bool known = blocks_remove(&recorder.blocks, address, &block);
    if (known)
        book_taken(&block);
    booking_leave(taken);
    uint64_t usable_bytes = known ? usable_of(address) : 0;
    taken = booking_enter();
    if (known)
        book_freed_block(block, book_usable_freed(address, block.size_bytes, usable_bytes),
                         temporary);
    else
        recorder_completeness()->unknown_frees++;
    book_point();
    booking_leave(taken);
}

static __attribute__((noinline)) void freed_slowly(struct lane *lane, uintptr_t address,
                                                   bool temporary) {
    struct block block;
    if (!recorder_active())
        return;
    if (prepare(lane, LANES_NO_SITE, address)) {
        enum lane_answer answer = lane_free(lane, recorder_thread.lease, &recorder.blocks,
                                            address, temporary, &block);
        if (answer == LANE_TAKEN)
            freed_taken(lane, &block, temporary);
        if (answer != LANE_NOTHING)
            return;
    }
    if (recorder_busy()) {
        queue_freed(address, temporary);
        return;
    }
    if (recorder.usable_size != NULL) {
        freed_asking(address, temporary);
        return;
    }
    bool taken = booking_enter();
    uint64_t bytes = book_freed(address, 0, temporary);
    book_point();
    lanes_note_event(bytes > 0 ? address : LANES_NO_ADDRESS, -(int64_t)bytes);
    booking_leave(taken);
}

void recorder_freed(uintptr_t address) {
    bool temporary = recorder_thread.last_allocated == address;
    struct lane *lane = lane_to_try();
    struct block block;
    recorder_thread.last_allocated = 0;
    enum lane_answer answer = LANE_NOTHING;
    if (__builtin_expect(lane != NULL, 1))
        answer = lane_free(lane, recorder_thread.lease, &recorder.blocks, address, temporary,
                           &block);
    if (__builtin_expect(answer == LANE_DONE, 1))
        return;
    if (answer == LANE_TAKEN)
        freed_taken(lane, &block, temporary);
    else
        freed_slowly(lane, address, temporary);
}

__attribute__((noinline)) void recorder_failed(enum trace_space space) {
    if (!recorder_active() || recorder_busy())
        return;
    bool taken = booking_enter_beside();
    ledger_count_failed(&recorder.ledger, space);
    booking_leave_beside(taken);
}

/* A block that was taken out for a realloc that failed. */
static void book_again(const struct recorder_taken *taken_out) {
    struct block block = taken_out->block;
    children_give_back(&block);
    if (!keep_block(taken_out->address, block.size_bytes, block.site, block.birth))
        book_freed_block(taken_out->block, taken_out->usable_bytes, false);
}

static __attribute__((noinline)) void take_slowly(struct lane *lane,
                                                  struct recorder_taken *taken_out) {
    uintptr_t address = taken_out->address;
    if (prepare(lane, LANES_NO_SITE, address) &&
        lane_take(lane, recorder_thread.lease, &recorder.blocks, address, &taken_out->block)) {
        taken_out->known = true;
        return;
    }
    if (recorder_busy()) {
        taken_out->queued = true;
        queue_freed(address, false);
        return;
    }
    bool taken = booking_enter();
    taken_out->known = blocks_remove(&recorder.blocks, address, &taken_out->block);
    if (taken_out->known)
        book_taken(&taken_out->block);
    booking_leave(taken);
}

void recorder_reallocating(uintptr_t address, struct recorder_taken *ret_taken) {
    *ret_taken = (struct recorder_taken){.address = address};
    if (!recorder_active())
        return;
    struct lane *lane = lane_to_try();
    recorder_thread.last_allocated = 0;
    if (lane != NULL &&
        lane_take(lane, recorder_thread.lease, &recorder.blocks, address, &ret_taken->block))
        ret_taken->known = true;
    else
        take_slowly(lane, ret_taken);
    if (ret_taken->known)
        ret_taken->usable_bytes = usable_of(address);
}

void recorder_realloc_failed(const struct recorder_taken *taken_out) {
    if (!recorder_active())
        return;
    if (taken_out->queued) {
        __atomic_fetch_add(&recorder_completeness()->events_lost, 1, __ATOMIC_RELAXED);
        return;
    }
    bool taken = booking_enter();
    if (taken_out->known)
        book_again(taken_out);
    ledger_count_failed(&recorder.ledger, TRACE_HEAP);
    booking_leave(taken);
}

static __attribute__((noinline)) void reallocated_slowly(struct lane *lane,
                                                         const struct recorder_taken *taken_out,
                                                         uintptr_t address, uint64_t bytes,
                                                         uint32_t site) {
    const struct block *old = &taken_out->block;
    if (taken_out->known && address != 0) {
        /* One site at a time: the rows of both are needed. */
        bool provided = prepare(lane, old->site, LANES_NO_ADDRESS);
        provided |= prepare(lane, site, LANES_NO_ADDRESS);
        if (provided && lane_reallocate(lane, recorder_thread.lease, &recorder.blocks, old,
                                        address, bytes, site))
            return;
    }
    uint64_t usable_bytes = address != 0 ? usable_of(address) : 0;
    bool taken = booking_enter();
    if (taken_out->known) {
        uint64_t old_usable_bytes = taken_out->usable_bytes;
        if (__builtin_expect(recorder.ledger.usable, 0))
            old_usable_bytes =
                book_usable_freed(taken_out->address, old->size_bytes, old_usable_bytes);
        book_freed_block(*old, old_usable_bytes, false);
        lanes_note_event(LANES_NO_ADDRESS, -(int64_t)old->size_bytes);
    } else {
        recorder_completeness()->unknown_frees++;
    }
    if (address != 0) {
        book_allocated(address, bytes, usable_bytes, site);
        ledger_count_reallocation(&recorder.ledger, TRACE_HEAP);
        lanes_note_event(address, (int64_t)bytes);
    }
    book_point();
    booking_leave(taken);
}

void recorder_reallocated(const struct recorder_taken *taken_out, uintptr_t address,
                          uint64_t bytes, const uintptr_t *frame) {
    if (!recorder_active())
        return;
    if (taken_out->queued) {
        if (address != 0)
            recorder_allocated(address, bytes, frame);
        return;
    }
    uint32_t site = address != 0 ? sites_of(TRACE_HEAP, frame) : 0;
    struct lane *lane = lane_to_try();
    if (lane == NULL || !taken_out->known || address == 0 ||
        !lane_reallocate(lane, recorder_thread.lease, &recorder.blocks, &taken_out->block,
                         address, bytes, site))
        reallocated_slowly(lane, taken_out, address, bytes, site);
    recorder_thread.last_allocated = address;
}

/* Mappings */

static uint64_t round_to_pages(uint64_t bytes) {
    return (bytes + recorder.page_bytes - 1) & ~(recorder.page_bytes - 1);
}

void recorder_mapped(uintptr_t address, uint64_t bytes, enum trace_space space,
                     const uintptr_t *frame) {
    if (!recorder_active())
        return;
    uint32_t site = sites_of(space, frame);
    bytes = round_to_pages(bytes);
    bool taken;
    if (!booking_try(&taken)) {
        book_later((struct pending_event){.kind = PENDING_MAPPED,
                                          .space = space,
                                          .address = address,
                                          .bytes = bytes,
                                          .site = site});
        return;
    }
    book_mapped(address, bytes, space, site);
    booking_leave(taken);
}

void recorder_unmapping(uintptr_t address, uint64_t bytes, struct recorder_unmapping *ret) {
    bool taken;
    *ret = (struct recorder_unmapping){0};
    if (!recorder_active())
        return;
    ret->queued = !booking_try(&taken);
    if (ret->queued)
        return;
    const struct mapping *found =
        mappings_find(&recorder.mappings, address, address + (bytes > 0 ? bytes : 1));
    ret->serial = recorder.mappings.serial;
    ret->known = found != NULL;
    if (found != NULL)
        ret->space = found->space;
    booking_leave(taken);
}

void recorder_unmapped(uintptr_t address, uint64_t bytes,
                       const struct recorder_unmapping *unmapping) {
    if (!recorder_active())
        return;
    bytes = round_to_pages(bytes);
    bool taken;
    if (unmapping->queued || !booking_try(&taken)) {
        book_later((struct pending_event){
            .kind = PENDING_UNMAPPED, .address = address, .bytes = bytes});
        return;
    }
    book_unmapped(address, address + bytes, unmapping->serial);
    booking_leave(taken);
}

void recorder_remapped(struct recorder_range old, struct recorder_range new, bool keeps_old,
                       const struct recorder_unmapping *unmapping, const uintptr_t *frame) {
    if (!recorder_active())
        return;
    old.bytes = round_to_pages(old.bytes);
    new.bytes = round_to_pages(new.bytes);
    if (unmapping->queued) {
        book_later((struct pending_event){.kind = PENDING_REMAPPED,
                                          .address = new.address,
                                          .bytes = new.bytes,
                                          .old_address = old.address,
                                          .old_bytes = old.bytes,
                                          .keeps_old = keeps_old});
        return;
    }
    if (!unmapping->known)
        return;
    uint32_t site = sites_of(unmapping->space, frame);
    bool taken = booking_enter();
    if (!keeps_old)
        book_unmapped(old.address, old.address + old.bytes, unmapping->serial);
    book_mapped(new.address, new.bytes, unmapping->space, site);
    ledger_count_reallocation(&recorder.ledger, unmapping->space);
    booking_leave(taken);
}
