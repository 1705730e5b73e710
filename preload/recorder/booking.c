/* SPDX-License-Identifier: BSD-3-Clause */
/* booking.c: mappings, which are rare, and what signal handlers left in the queue. */
#include "booking.h"

void book_unmapped(uintptr_t start, uintptr_t end, uint64_t serial) {
    struct mapping part;
    int added;
    int r;
    while ((r = mappings_cut(&recorder.mappings, start, end, serial, &part, &added)) > 0) {
        if (added > 0)
            ledger_allocate(&recorder.ledger, part.space, part.site, 1, 0);
        if (part.birth <= recorder.inherited_birth)
            recorder_completeness()->inherited_freed++;
        ledger_free(&recorder.ledger, part.space, part.site, added < 0, part.end - part.start,
                    part.birth, false);
    }
    if (r < 0)
        recorder_completeness()->events_lost++;
}

void book_mapping(struct mapping mapping) {
    if (!ledger_allocate(&recorder.ledger, mapping.space, mapping.site, 1,
                         mapping.end - mapping.start))
        return;
    if (mappings_insert(&recorder.mappings, mapping) < 0) {
        recorder_completeness()->events_lost++;
        recorder_completeness()->table_refused++;
    }
}

void book_mapping_over(struct mapping mapping) {
    book_unmapped(mapping.start, mapping.end, UINT64_MAX);
    mapping.birth = ledger_birth(&recorder.ledger);
    book_mapping(mapping);
}

void book_mapped(uintptr_t address, uint64_t bytes, enum trace_space space, uint32_t site) {
    book_mapping_over((struct mapping){
        .start = address, .end = address + bytes, .site = site, .space = space});
}

/* The stack could only be looked up for a space, which is known only now. */
static void book_remapped_pending(const struct pending_event *event) {
    const struct mapping *found =
        mappings_find(&recorder.mappings, event->old_address,
                      event->old_address + (event->old_bytes > 0 ? event->old_bytes : 1));
    if (found == NULL)
        return;
    enum trace_space space = found->space;
    if (!event->keeps_old)
        book_unmapped(event->old_address, event->old_address + event->old_bytes, UINT64_MAX);
    __atomic_fetch_add(&recorder_completeness()->stacks_missing, 1, __ATOMIC_RELAXED);
    book_mapped(event->address, event->bytes, space, stacktree_site_no_stack(space));
}

/* Returns whether there was a note of @address, which is gone. */
static bool forget_untold(uintptr_t address) {
    for (uint32_t i = 0; i < recorder.untold_count; i++) {
        if (recorder.untold[i] != address)
            continue;
        recorder.untold[i] = recorder.untold[--recorder.untold_count];
        return true;
    }
    return false;
}

uint64_t book_usable_allocated(uintptr_t address, uint64_t bytes, uint64_t usable_bytes) {
    forget_untold(address); /* an older block's, whose free was not seen */
    if (usable_bytes >= bytes)
        return usable_bytes;
    if (recorder.untold_count < RECORDER_UNTOLD)
        recorder.untold[recorder.untold_count++] = address;
    return bytes;
}

uint64_t book_usable_freed(uintptr_t address, uint64_t bytes, uint64_t usable_bytes) {
    return forget_untold(address) || usable_bytes < bytes ? bytes : usable_bytes;
}

/*
 * How long to wait for a thread that does not come out: longer than one that was preempted takes,
 * and less each time that was not enough, as it is with collectors that stop the world often.
 */
#define PATIENCE_NS 400000000

static inline __attribute__((always_inline)) bool enter_within_patience(bool *ret_taken) {
    unsigned stalls = atomic_load_explicit(&recorder.stalls, memory_order_relaxed);
    const struct timespec timeout = {.tv_nsec = PATIENCE_NS >> stalls};
    recorder_thread.doing |= THREAD_BUSY;
    atomic_signal_fence(memory_order_seq_cst);
    if (!lock_acquire_within(&recorder.lock, &timeout, ret_taken))
        return false;
    recorder.ledger.thread = recorder_thread.number;
    return true;
}

/* It is nobody's turn to count exactly. */
static bool give_up(void) {
    unsigned stalls = atomic_load_explicit(&recorder.stalls, memory_order_relaxed);
    if (stalls < RECORDER_STALLS_MAX)
        atomic_store_explicit(&recorder.stalls, stalls + 1, memory_order_relaxed);
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
    return false;
}

bool booking_try_beside(bool *ret_taken) {
    return enter_within_patience(ret_taken) || give_up();
}

bool booking_try(bool *ret_taken) {
    if (recorder_busy())
        return false;
    if (!enter_within_patience(ret_taken))
        return give_up();
    if (recorder.lanes->open_count > 0 && !lanes_close(false)) {
        lock_release(&recorder.lock, *ret_taken);
        return give_up();
    }
    recorder_thread.doing &= ~(uint32_t)THREAD_NOTED;
    if (__builtin_expect(pending_any(&recorder.pending), 0))
        book_pending();
    return true;
}

__attribute__((noinline, cold)) void book_later(struct pending_event event) {
    event.number = recorder_thread.number;
    if (!pending_push(&recorder.pending, event))
        __atomic_fetch_add(&recorder_completeness()->events_lost, 1, __ATOMIC_RELAXED);
    recorder_thread.doing |= THREAD_NOTED;
}

__attribute__((noinline, cold)) void book_pending(void) {
    struct pending_event event;
    pending_look(&recorder.pending);
    while (pending_pop(&recorder.pending, &event)) {
        recorder.ledger.thread = event.number;
        switch (event.kind) {
        case PENDING_ALLOCATED:
            book_allocated(event.address, event.bytes, event.usable_bytes, event.site);
            book_point();
            break;
        case PENDING_FREED:
            book_freed(event.address, event.usable_bytes, event.temporary);
            book_point();
            break;
        case PENDING_MAPPED:
            book_mapped(event.address, event.bytes, event.space, event.site);
            break;
        case PENDING_UNMAPPED:
            book_unmapped(event.address, event.address + event.bytes, UINT64_MAX);
            break;
        case PENDING_REMAPPED:
            book_remapped_pending(&event);
            break;
        case PENDING_PROTECTED:
            book_protected(event.address, event.address + event.bytes, event.site);
            break;
        case PENDING_ATTACHED:
            book_attached(event.address, event.bytes, event.site);
            break;
        case PENDING_DETACHED:
            book_detached(event.address, UINT64_MAX);
            break;
        case PENDING_SIGNALLED:
            book_signalled(&(struct ledger_moment){.elapsed_ns = event.elapsed_ns,
                                                   .cpu_ns = event.cpu_ns,
                                                   .thread = event.thread});
            break;
        }
    }
    recorder.ledger.thread = recorder_thread.number;
}
