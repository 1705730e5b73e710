/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.h: events of signal handlers that interrupted the recorder, until it is free again.
 *
 * Any number of threads may push; one at a time pops, under the recorder's lock.
 *
 * Signals that begin and end a region may come faster than they are taken out. None may be lost,
 * or the next would end what it should begin: what the queue has no room for is counted, and of
 * an even number nothing is left to be done.
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
    _Atomic uint32_t toggles;           /* PENDING_SIGNALLED that found it full */
    _Atomic uint64_t toggle_elapsed_ns; /* the moment of the latest of them */
    _Atomic uint64_t toggle_cpu_ns;
    _Atomic uint32_t toggle_thread;
};

static inline bool pending_any(const struct pending *pending) {
    return atomic_load_explicit(&pending->any, memory_order_relaxed);
}

static inline bool pending_count(struct pending *pending, const struct pending_event *event) {
    if (event->kind != PENDING_SIGNALLED)
        return false;
    atomic_store_explicit(&pending->toggle_elapsed_ns, event->elapsed_ns, memory_order_relaxed);
    atomic_store_explicit(&pending->toggle_cpu_ns, event->cpu_ns, memory_order_relaxed);
    atomic_store_explicit(&pending->toggle_thread, event->thread, memory_order_relaxed);
    atomic_fetch_add_explicit(&pending->toggles, 1, memory_order_release);
    atomic_store_explicit(&pending->any, true, memory_order_seq_cst);
    return true;
}

/* Returns false when the queue is full, and the event is none that is counted. */
static inline bool pending_push(struct pending *pending, struct pending_event event) {
    uint32_t at = atomic_load_explicit(&pending->pushed, memory_order_relaxed);
    do {
        if (at - atomic_load_explicit(&pending->popped, memory_order_acquire) >= PENDING_EVENTS)
            return pending_count(pending, &event);
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

/* What was counted, when the queue is empty: one that stands for an odd number. */
static inline bool pending_pop_counted(struct pending *pending, uint32_t popped,
                                       struct pending_event *ret_event) {
    if (atomic_load_explicit(&pending->toggles, memory_order_relaxed) == 0 ||
        atomic_load_explicit(&pending->pushed, memory_order_relaxed) != popped)
        return false;
    uint32_t toggles = atomic_exchange_explicit(&pending->toggles, 0, memory_order_acquire);
    if (toggles % 2 == 0)
        return false;
    *ret_event = (struct pending_event){
        .kind = PENDING_SIGNALLED,
        .thread = atomic_load_explicit(&pending->toggle_thread, memory_order_relaxed),
        .elapsed_ns = atomic_load_explicit(&pending->toggle_elapsed_ns, memory_order_relaxed),
        .cpu_ns = atomic_load_explicit(&pending->toggle_cpu_ns, memory_order_relaxed),
    };
    return true;
}

/* Returns false when there is none, or the oldest is still being written by its thread. */
static inline bool pending_pop(struct pending *pending, struct pending_event *ret_event) {
    uint32_t at = atomic_load_explicit(&pending->popped, memory_order_relaxed);
    if (!atomic_load_explicit(&pending->slots[at % PENDING_EVENTS].ready, memory_order_acquire))
        return pending_pop_counted(pending, at, ret_event);
    *ret_event = pending->slots[at % PENDING_EVENTS].event;
    atomic_store_explicit(&pending->slots[at % PENDING_EVENTS].ready, false,
                          memory_order_relaxed);
    atomic_store_explicit(&pending->popped, at + 1, memory_order_release);
    return true;
}
