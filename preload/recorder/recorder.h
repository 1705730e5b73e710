/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder.h: what the hooks tell, and what becomes of it.
 *
 * Every function may be called from any thread and from signal handlers, keeps errno, never
 * allocates through malloc and never ends the program. Before recorder_start(), in forked
 * children, and when recording could not begin, all of them do nothing.
 *
 * Order: tell of a free before the real free, and of an allocation after the real one; a
 * reallocation or an unmapping is told in two halves around the real call. Between the halves
 * of another order a second thread could be given the address.
 */
#pragma once

#include "blocks.h"
#include "mappings.h"
#include "trace_layout.h"
#include "votrace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thread is doing. Zero, nearly always: the program's own code. */
enum thread_doing {
    THREAD_IN_REAL = 1,   /* the real allocator: what it calls is its own business */
    THREAD_BUSY = 2,      /* in the recorder: the events of a signal handler must queue */
    THREAD_UNWINDING = 4, /* in the unwinder: allocations count, but get no stack */
    THREAD_NOTED = 8,     /* a signal handler has left notes: they have to be booked */
};

/* What the library knows of a thread. Kept small: it lives in the static TLS block. */
struct thread_state {
    struct lane *lane; /* lanes.h; its own if the lane's owner is @lease. NULL: none */
    uint64_t lease;
    uint32_t doing;     /* enum thread_doing, or-ed */
    uint32_t number;    /* tells threads apart; 0 until its first stack */
    uint32_t kernel_id; /* gettid(), once it was asked; else 0 */
    uint32_t forks;     /* a bit for each fork() it is in, the latest last: see children.c */
    uintptr_t last_allocated; /* the block of its latest event, if that was an allocation */
};

extern _Thread_local struct thread_state recorder_thread
    __attribute__((tls_model("initial-exec")));

/* A page that forked children find zeroed, whatever way they were forked. */
struct recorder_gate {
    uint32_t recording;
};
extern struct recorder_gate *recorder_gate;
extern struct recorder_gate recorder_closed_gate; /* never opened */

static inline bool recorder_active(void) {
    return __atomic_load_n(&recorder_gate->recording, __ATOMIC_RELAXED) != 0;
}

/*
 * A forked child that is to be followed sleeps until its first event: many exec at once, and
 * leave nothing. Waking begins its trace; false when it stays muted.
 */
extern bool recorder_asleep;
bool recorder_wake(void);

/* The gate, for all but the hot ones. */
static inline bool recorder_awake(void) {
    return recorder_active() || (__builtin_expect(recorder_asleep, 0) && recorder_wake());
}

/*
 * Before recorder_start(): malloc_usable_size() of the allocator that is behind the hooks, or
 * NULL where it has none. Called if the settings ask for it, for blocks that are known.
 */
void recorder_offer_usable_size(size_t (*usable_size)(void *block));

/* Read the settings, create the trace, begin the process region. Later calls do nothing. */
void recorder_start(void);

/* The program's malloc is not this library's: its heap is not seen. */
void recorder_malloc_elsewhere(void);

/* Whether programs that this one starts are to run without the library. */
bool recorder_hides_from_children(void);

/* Heap events. @frame is the hook's __builtin_frame_address(0), @bytes as requested. */
void recorder_allocated(uintptr_t address, uint64_t bytes, const uintptr_t *frame);
/*
 * What most events of most programs are: a block that is freed before the next is allocated.
 * Only for a thread that has a lane and is nowhere in the recorder. False: nothing was done.
 */
bool recorder_allocated_young(uintptr_t address, uint64_t bytes, uint32_t site);
bool recorder_freed_young(uintptr_t address);
/*
 * Whether recorder_allocated() is going to look at the stack; if not, this one books on @site.
 */
bool recorder_needs_stack(void);
void recorder_allocated_by(uintptr_t address, uint64_t bytes, uint32_t site);
void recorder_freed(uintptr_t address);
void recorder_failed(enum trace_space space);

/* A block taken out of the table while the real realloc decides what becomes of it. */
struct recorder_taken {
    struct block block;
    uintptr_t address;
    uint64_t usable_bytes; /* what the allocator gave for it; 0: not asked */
    bool known;            /* the block was in the table */
    bool queued;           /* told from a signal handler: the free is on its way already */
};

void recorder_reallocating(uintptr_t address, struct recorder_taken *ret_taken);
/* The call failed: the old block is as it was. */
void recorder_realloc_failed(const struct recorder_taken *taken);
/* It succeeded: one event. @address 0: the block was freed (size 0). */
void recorder_reallocated(const struct recorder_taken *taken, uintptr_t address, uint64_t bytes,
                          const uintptr_t *frame);

/*
 * Mapping events: [address, address + bytes), bytes rounded up to pages by the recorder.
 *
 * An unmapping is told in two halves around the real call and booked in the second, when it is
 * known to have worked. What another thread was given in the same place in between is told
 * apart by its serial.
 */
struct recorder_unmapping {
    uint64_t serial;        /* of the latest mapping when the call began */
    enum trace_space space; /* of the first mapping in the range */
    bool known;             /* there is one */
    bool queued;            /* told from a signal handler that interrupted the recorder */
};

void recorder_mapped(uintptr_t address, uint64_t bytes, enum trace_space space,
                     const uintptr_t *frame);
void recorder_unmapping(uintptr_t address, uint64_t bytes, struct recorder_unmapping *ret);
void recorder_unmapped(uintptr_t address, uint64_t bytes,
                       const struct recorder_unmapping *unmapping);

/* mremap() worked. @keeps_old: the old mapping stays. */
struct recorder_range {
    uintptr_t address;
    uint64_t bytes;
};
void recorder_remapped(struct recorder_range old, struct recorder_range new, bool keeps_old,
                       const struct recorder_unmapping *unmapping, const uintptr_t *frame);

/* It failed with MREMAP_FIXED: the kernel may have unmapped what was in the way before. */
void recorder_remap_failed(struct recorder_range old, struct recorder_range wanted,
                           const struct recorder_unmapping *unmapping);

/* mprotect() made [address, address + bytes) accessible. */
void recorder_protected(uintptr_t address, uint64_t bytes, const uintptr_t *frame);

/* The program moved the end of its data segment: exact to the byte, like the heap. */
void recorder_break_moved(uintptr_t old, uintptr_t new, const uintptr_t *frame);

/*
 * shmat() attached a segment, @bytes 0: of unknown size; shmdt() detached it, between whose
 * halves as above.
 */
void recorder_attached(uintptr_t address, uint64_t bytes, const uintptr_t *frame);
void recorder_detached(uintptr_t address, const struct recorder_unmapping *unmapping);

/* Regions, see votrace.h. */
void recorder_region_begin(const char *name);
void recorder_region_end(const char *name);
void recorder_thread_region_begin(const char *name);
void recorder_thread_region_end(const char *name);
int recorder_region_query(const char *name, struct votrace_region_totals *ret_totals);

/* VOTRACE_SIGNAL was delivered: begin its region, or end it. */
void recorder_signalled(void);

/* dlclose() was called: what is known of the program's code may be wrong. */
void recorder_module_unloaded(void);

/*
 * The process is about to put itself into a sandbox, @strict: where it can only read, write and
 * exit; and the kernel has refused to. Each before anything else is done. See sandbox.h.
 */
void recorder_sandbox_entering(bool strict);
void recorder_sandbox_refused(bool strict);

/* Around fork(), by pthread_atfork(): see children.c. */
void recorder_fork_prepare(void);
void recorder_fork_parent(void);
void recorder_fork_child(void);
/* There is no child: recorder_fork_parent() was called all the same. */
void recorder_fork_failed(void);

/*
 * exec is about to be called: write what is not in the file, and note it. Returns whether that
 * was done, and recorder_exec_failed() must be called if exec comes back: not in a child of
 * vfork(), whose trace would be its parent's.
 */
bool recorder_exec_begin(void);
void recorder_exec_failed(void);

/* exit() or _exit() was called: note it, write what is not in the file, say the summary. */
void recorder_exiting(void);

/* Forget everything, for tests that start again. Not thread-safe. */
void recorder_reset_for_tests(void);
/* The trace, for tests that look into it: what lanes hold is in the record by then. */
const struct trace_header *recorder_header_for_tests(void);
