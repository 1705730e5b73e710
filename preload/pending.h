/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.h: events of signal handlers that interrupted the recorder, until it is free again.
 *
 * Any number of threads may push; one at a time pops, under the recorder's lock.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PENDING_EVENTS 256u

enum pending_kind {
    PENDING_ALLOCATED,
    PENDING_FREED,
    PENDING_MAPPED,
    PENDING_UNMAPPED,
    PENDING_REMAPPED,
    PENDING_PROTECTED,
    PENDING_ATTACHED,
    PENDING_DETACHED,
    PENDING_SIGNALLED,
};

struct pending_event {
    enum pending_kind kind;
    uint32_t space; /* enum trace_space */
    uintptr_t address;
    uint64_t bytes;
    uint32_t site;
    uint32_t thread;     /* PENDING_SIGNALLED: struct ledger_moment */
    uint64_t elapsed_ns; /* likewise */
    uint64_t cpu_ns;     /* likewise */
    uint32_t number;     /* of the thread it happened in, as in struct thread_state */
    uint64_t
        usable_bytes; /* PENDING_ALLOCATED, _FREED: what the allocator gave; 0: not asked */
    bool temporary;
    bool keeps_old;        /* PENDING_REMAPPED: the old mapping stays */
    uintptr_t old_address; /* PENDING_REMAPPED */
    uint64_t old_bytes;
};

struct pending {
    _Atomic bool any; /* something was pushed since the last look */
    /* Events claimed and taken so far; the queue is empty when they are equal. */
    _Atomic uint32_t pushed;
    _Atomic uint32_t popped;
    struct {
        _Atomic bool ready;
        struct pending_event event;
    } slots[PENDING_EVENTS];
};

static inline bool pending_any(const struct pending *pending) {
    return atomic_load_explicit(&pending->any, memory_order_relaxed);
}

/* Returns false when the queue is full. */
static inline bool pending_push(struct pending *pending, struct pending_event event) {
    uint32_t at = atomic_load_explicit(&pending->pushed, memory_order_relaxed);
    do {
        if (at - atomic_load_explicit(&pending->popped, memory_order_acquire) >= PENDING_EVENTS)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        &pending->pushed, &at, at + 1, memory_order_acq_rel, memory_order_relaxed));
    pending->slots[at % PENDING_EVENTS].event = event;
    atomic_store_explicit(&pending->slots[at % PENDING_EVENTS].ready, true,
                          memory_order_release);
    atomic_store_explicit(&pending->any, true, memory_order_seq_cst);
    return true;
}

/* Before popping: what is pushed from here on sets pending_any() again. */
static inline void pending_look(struct pending *pending) {
    atomic_store_explicit(&pending->any, false, memory_order_seq_cst);
}

/* Returns false when there is none, or the oldest is still being written by its thread. */
static inline bool pending_pop(struct pending *pending, struct pending_event *ret_event) {
    uint32_t at = atomic_load_explicit(&pending->popped, memory_order_relaxed);
    if (!atomic_load_explicit(&pending->slots[at % PENDING_EVENTS].ready, memory_order_acquire))
        return false;
    *ret_event = pending->slots[at % PENDING_EVENTS].event;
    atomic_store_explicit(&pending->slots[at % PENDING_EVENTS].ready, false,
                          memory_order_relaxed);
    atomic_store_explicit(&pending->popped, at + 1, memory_order_release);
    return true;
}
