/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * events_map.c: what becomes of mappings beside mmap(), munmap() and mremap() that work: those
 * that fail halfway, reserved addresses, the data segment, shared memory segments.
 *
 * All of them end in the table of mappings and in the ledger, under the lock (booking.h), or as
 * a note in the queue when a signal handler has interrupted the recorder.
 */
#include "booking.h"
#include "sandbox.h"
#include "sites.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static uintptr_t round_down(uintptr_t address) {
    return address & ~(uintptr_t)(recorder.page_bytes - 1);
}

static uintptr_t round_up(uintptr_t address) {
    return round_down(address + recorder.page_bytes - 1);
}

/* Failed remappings */

/* Inside a sandbox the kernel cannot be asked: what was known is taken to be there still. */
static bool is_mapped(uintptr_t address) {
    unsigned char resident;
    if (sandbox_inside()) {
        recorder_completeness()->events_lost++;
        return true;
    }
    int saved_errno = errno;
    bool mapped =
        syscall(SYS_mincore, round_down(address), recorder.page_bytes, &resident) == 0 ||
        errno != ENOMEM;
    errno = saved_errno;
    return mapped;
}

/* Take what is known in [start, end), no later than @serial, and no longer there. */
static void book_lost_mappings(uintptr_t start, uintptr_t end, uint64_t serial) {
    while (start < end) {
        const struct mapping *found = mappings_find(&recorder.mappings, start, end);
        if (found == NULL)
            return;
        uintptr_t from = found->start > start ? found->start : start;
        uintptr_t to = found->end < end ? found->end : end;
        if (!is_mapped(from))
            book_unmapped(from, to, serial);
        start = to;
    }
}

/*
 * mremap(2) does not tell, but the kernel first unmaps the target, then the end of the old
 * mapping that is not wanted, and only then looks whether the rest can be moved.
 */
void recorder_remap_failed(struct recorder_range old, struct recorder_range wanted,
                           const struct recorder_unmapping *unmapping) {
    if (!recorder_active() || unmapping->queued)
        return;
    bool taken = booking_enter();
    book_lost_mappings(wanted.address, wanted.address + round_up(wanted.bytes),
                       unmapping->serial);
    book_lost_mappings(old.address, old.address + round_up(old.bytes), unmapping->serial);
    booking_leave(taken);
}

/* Reserved addresses */

void book_protected(uintptr_t start, uintptr_t end, uint32_t site) {
    const struct mapping *found;
    while ((found = mappings_find_space(&recorder.mappings, start, end, TRACE_MAP_RESERVED)) !=
           NULL) {
        struct mapping part = *found;
        part.start = part.start > start ? part.start : start;
        part.end = part.end < end ? part.end : end;
        part.space = TRACE_MAP_ANON;
        part.site = site;
        part.birth = ledger_birth(&recorder.ledger);
        uint64_t lost = recorder_completeness()->events_lost;
        book_unmapped(part.start, part.end, UINT64_MAX);
        if (recorder_completeness()->events_lost != lost)
            return; /* no memory to cut it: it stays reserved */
        book_mapping(part);
        start = part.end;
    }
}

void recorder_protected(uintptr_t address, uint64_t bytes, const uintptr_t *frame) {
    if (!recorder_active() ||
        atomic_load_explicit(&recorder.mappings.reserved_count, memory_order_relaxed) == 0)
        return;
    uintptr_t end = address + round_up(bytes);
    bool taken;
    bool busy = !booking_try(&taken);
    if (!busy) {
        bool reserved =
            mappings_find_space(&recorder.mappings, address, end, TRACE_MAP_RESERVED) != NULL;
        booking_leave(taken);
        if (!reserved)
            return;
    }
    uint32_t site = sites_of(TRACE_MAP_ANON, frame);
    if (busy || !booking_try(&taken)) {
        book_later((struct pending_event){.kind = PENDING_PROTECTED,
                                          .address = address,
                                          .bytes = end - address,
                                          .site = site});
        return;
    }
    book_protected(address, end, site);
    booking_leave(taken);
}

/* The data segment */

void recorder_break_moved(uintptr_t old, uintptr_t new, const uintptr_t *frame) {
    if (!recorder_active() || old == new)
        return;
    bool grows = new > old;
    struct pending_event event = {
        .kind = grows ? PENDING_MAPPED : PENDING_UNMAPPED,
        .space = TRACE_MAP_ANON,
        .address = grows ? old : new,
        .bytes = grows ? new - old : old - new,
        .site = grows ? sites_of(TRACE_MAP_ANON, frame) : 0,
    };
    bool taken;
    if (!booking_try(&taken)) {
        book_later(event);
        return;
    }
    if (grows)
        book_mapped(event.address, event.bytes, TRACE_MAP_ANON, event.site);
    else
        book_unmapped(event.address, event.address + event.bytes, UINT64_MAX);
    booking_leave(taken);
}

/* Shared memory segments */

void book_attached(uintptr_t address, uint64_t bytes, uint32_t site) {
    book_mapping_over((struct mapping){
        .start = address,
        .end = address + bytes,
        .site = site,
        .space = TRACE_MAP_ANON,
        .attached_at = address,
    });
}

void book_detached(uintptr_t address, uint64_t serial) {
    const struct mapping *found;
    bool any = false;
    while ((found = mappings_find_attached(&recorder.mappings, address)) != NULL &&
           found->serial <= serial) {
        uint64_t lost = recorder_completeness()->events_lost;
        book_unmapped(found->start, found->end, serial);
        if (recorder_completeness()->events_lost != lost)
            return;
        any = true;
    }
    /* One that mremap() has moved is a mapping like any other. */
    found = any ? NULL : mappings_find(&recorder.mappings, address, address + 1);
    if (found != NULL && found->start == address)
        book_unmapped(found->start, found->end, serial);
}

void recorder_attached(uintptr_t address, uint64_t bytes, const uintptr_t *frame) {
    if (!recorder_active())
        return;
    if (bytes == 0) {
        __atomic_fetch_add(&recorder_completeness()->events_lost, 1, __ATOMIC_RELAXED);
        return;
    }
    uint32_t site = sites_of(TRACE_MAP_ANON, frame);
    bytes = round_up(bytes);
    if (recorder_busy()) {
        book_later((struct pending_event){
            .kind = PENDING_ATTACHED, .address = address, .bytes = bytes, .site = site});
        return;
    }
    bool taken = booking_enter();
    book_attached(address, bytes, site);
    booking_leave(taken);
}

void recorder_detached(uintptr_t address, const struct recorder_unmapping *unmapping) {
    if (!recorder_active())
        return;
    if (unmapping->queued) {
        book_later((struct pending_event){.kind = PENDING_DETACHED, .address = address});
        return;
    }
    bool taken = booking_enter();
    book_detached(address, unmapping->serial);
    booking_leave(taken);
}
