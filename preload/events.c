/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * events.c: what the hooks tell.
 *
 * An allocation becomes: its stack's site (no lock if that is known), then under the lock an
 * entry in the table of blocks and a booking in the ledger. A signal handler that allocates
 * while its own thread is in there finds that and leaves a note in the queue.
 */
#include "booking.h"
#include "sites.h"

/* The thread was interrupted inside the recorder: leave a note. */
static __attribute__((noinline, cold)) void queue(struct pending_event event) {
    if (!pending_push(&recorder.pending, event))
        __atomic_fetch_add(&recorder_completeness()->events_lost, 1, __ATOMIC_RELAXED);
}

/* Heap */

/* A block that was taken out for a realloc that failed. */
static void book_again(const struct recorder_taken *taken_out) {
    const struct block *block = &taken_out->block;
    if (!keep_block(taken_out->address, block->size_bytes, block->site, block->birth))
        book_freed_block(*block, false);
}

void recorder_allocated(uintptr_t address, uint64_t bytes, const uintptr_t *frame) {
    uint32_t site = sites_of(TRACE_HEAP, frame);
    recorder_thread.last_allocated = address;
    if (__builtin_expect(recorder_busy(), 0)) {
        queue((struct pending_event){
            .kind = PENDING_ALLOCATED, .address = address, .bytes = bytes, .site = site});
        return;
    }
    bool taken = booking_enter();
    book_allocated(address, bytes, site);
    booking_leave(taken);
}

void recorder_freed(uintptr_t address) {
    bool temporary = recorder_thread.last_allocated == address;
    recorder_thread.last_allocated = 0;
    if (__builtin_expect(recorder_busy(), 0)) {
        queue((struct pending_event){
            .kind = PENDING_FREED, .address = address, .temporary = temporary});
        return;
    }
    bool taken = booking_enter();
    book_freed(address, temporary);
    booking_leave(taken);
}

__attribute__((noinline)) void recorder_failed(enum trace_space space) {
    if (!recorder_active() || recorder_busy())
        return;
    bool taken = booking_enter();
    ledger_count_failed(&recorder.ledger, space);
    booking_leave(taken);
}

void recorder_reallocating(uintptr_t address, struct recorder_taken *ret_taken) {
    *ret_taken = (struct recorder_taken){.address = address};
    if (!recorder_active())
        return;
    recorder_thread.last_allocated = 0;
    if (recorder_busy()) {
        ret_taken->queued = true;
        queue((struct pending_event){.kind = PENDING_FREED, .address = address});
        return;
    }
    bool taken = booking_enter();
    ret_taken->known = blocks_remove(&recorder.blocks, address, &ret_taken->block);
    booking_leave(taken);
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
    bool taken = booking_enter();
    if (taken_out->known)
        book_freed_block(taken_out->block, false);
    else
        recorder_completeness()->unknown_frees++;
    if (address != 0) {
        book_allocated(address, bytes, site);
        ledger_count_reallocation(&recorder.ledger, TRACE_HEAP);
    }
    booking_leave(taken);
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
    if (recorder_busy()) {
        queue((struct pending_event){.kind = PENDING_MAPPED,
                                     .space = space,
                                     .address = address,
                                     .bytes = bytes,
                                     .site = site});
        return;
    }
    bool taken = booking_enter();
    book_mapped(address, bytes, space, site);
    booking_leave(taken);
}

void recorder_unmapping(uintptr_t address, uint64_t bytes, struct recorder_unmapping *ret) {
    *ret = (struct recorder_unmapping){.queued = recorder_busy()};
    if (!recorder_active() || ret->queued)
        return;
    bool taken = booking_enter();
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
    if (unmapping->queued) {
        queue((struct pending_event){
            .kind = PENDING_UNMAPPED, .address = address, .bytes = bytes});
        return;
    }
    bool taken = booking_enter();
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
        queue((struct pending_event){.kind = PENDING_REMAPPED,
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
