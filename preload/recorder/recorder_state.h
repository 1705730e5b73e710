/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder_state.h: what the files of the recorder share. Nobody else includes it.
 *
 *     recorder.c        start, regions
 *     recorder_ends.c   exec, exit
 *     children.c        fork
 *     events.c          what the hooks tell
 *     sites.c           stacks
 *     booking.c         under the lock: tables and ledger
 *     lanes.c           without the lock: threads with rows of their own
 */
#pragma once

#include "backtrace.h"
#include "blocks.h"
#include "lanes.h"
#include "ledger.h"
#include "lock.h"
#include "mappings.h"
#include "modules.h"
#include "pending.h"
#include "recorder.h"
#include "settings.h"
#include "stacktree.h"
#include "tracefile.h"

#include <stdatomic.h>

#define RECORDER_UNTOLD     64u /* blocks whose usable size the allocator could not tell yet */
#define RECORDER_STALLS_MAX 6u
#define RECORDER_BACKTRACES 64u /* more threads than can be unwinding at one time */

/* What is read outside of the lock is kept off the cache lines that are written under it. */
#define RECORDER_CACHE_LINE 64

struct recorder {
    _Alignas(RECORDER_CACHE_LINE) struct lock lock;
    _Alignas(RECORDER_CACHE_LINE) _Atomic int start_state;
    _Atomic bool unwinds; /* take stacks: always, or while a marked region is open */
    struct lanes *lanes;  /* in memory that a forked child finds wiped */
    struct settings settings;
    struct tracefile file;
    _Alignas(RECORDER_CACHE_LINE) struct blocks blocks;
    struct mappings mappings;
    struct ledger ledger;
    bool lanes_allowed;                 /* under the lock */
    _Atomic unsigned stalls;            /* threads that did not come out; counted that far */
    size_t (*usable_size)(void *block); /* NULL: usable sizes are not asked for */
    uintptr_t untold[RECORDER_UNTOLD];  /* addresses */
    uint32_t untold_count;
    _Alignas(RECORDER_CACHE_LINE) struct stacktree stacks;
    struct modules modules;
    struct pending pending;
    _Atomic uint32_t threads_numbered;
    struct backtrace backtraces[RECORDER_BACKTRACES];
    struct backtrace mixed[RECORDER_BACKTRACES]; /* with Python's frames among theirs */
    _Atomic uint64_t loader_changes; /* loads and unloads when modules were last noted */
    _Atomic bool module_unloaded;    /* since then, perhaps */
    uint64_t start_ns;
    uint64_t page_bytes;
    bool signal_region_open;        /* VOTRACE_SIGNAL has begun its region */
    struct ledger_moment signalled; /* when it last did, or ended it */
    uint32_t execs;                 /* that were begun and did not come back */
    bool fork_lock_taken;           /* by the thread that forks with the lock held */
    uint32_t inherited_birth;   /* blocks and mappings born so early were a parent's; 0: none */
    struct recorder_gate *gate; /* where recorder_gate points while anything is recorded */
};

/*
 * Begin a trace at @path (NULL: in memory), for this process: a header, the facts, "process",
 * and tables of modules, stacks and regions that know nothing but what @restart keeps: the
 * modules of a forked child. Returns false when even memory is refused.
 */
bool recorder_begin_trace(const char *path, bool restart);

/* Open the gate. */
void recorder_open_gate(void);

extern struct recorder recorder __attribute__((visibility("hidden")));

static inline struct trace_completeness *recorder_completeness(void) {
    return &recorder.file.header->completeness;
}

/* The header's process, and not a child of vfork(): inside a sandbox that is taken for granted. */
bool recorder_is_own_process(void);

/* Read a /proc file whole, up to @size bytes. Returns the bytes read. */
size_t recorder_read_proc(const char *path, char *buffer, size_t size);

/* Time since the start of the trace. */
uint64_t recorder_elapsed_ns(void);

/* This thread is in the recorder already: a signal handler has interrupted it. */
static inline bool recorder_busy(void) {
    if (__builtin_expect((recorder_thread.doing & THREAD_BUSY) != 0, 0))
        return true;
    const struct lane *lane = recorder_thread.lane;
    return lane != NULL &&
           atomic_load_explicit(&lane->owner, memory_order_relaxed) == recorder_thread.lease &&
           __atomic_load_n(&lane->record->updating, __ATOMIC_RELAXED) != 0;
}
