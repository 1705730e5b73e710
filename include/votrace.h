/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * votrace.h: mark the regions whose memory votrace is to measure.
 *
 *     #include <votrace.h>
 *
 *     votrace_region_begin("parse");
 *     table = parse(file);
 *     votrace_region_end("parse");
 *
 * Nothing has to be linked. The functions are weak references that libvotrace.so provides when
 * it is preloaded; without it every call below does nothing and costs one test of a pointer.
 *
 * A weak reference is resolved by the dynamic loader only in position-independent code (the
 * default of today's compilers). In a static program, and in code compiled with -fno-pie, it
 * stays NULL and nothing is measured.
 *
 * All functions may be called from any thread. None of them changes errno. In a child of fork()
 * they do nothing unless it is to be followed (libvotrace(7), VOTRACE_CHILDREN); none of its
 * parent's regions is open there.
 */
#pragma once

#include <errno.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The running totals of one region instance. Heap sizes are what the program requested, in
 * bytes, exact; `live` is the sum of the blocks that exist, by whatever code they were
 * allocated.
 */
struct votrace_region_totals {
    uint64_t instance;        /* 1 for the first region of this name, 2 for the second ... */
    uint64_t open;            /* 1 between begin and end, 0 after the end */
    int64_t live_start_bytes; /* live when the region began */
    int64_t live_bytes;       /* live now, or when the region ended */
    int64_t live_peak_bytes;  /* largest live since the region began */
    int64_t peak_added_bytes; /* live_peak - live_start: what the region needed on top */
    int64_t net_bytes;        /* live - live_start: what it kept; negative when it freed more */
    int64_t owned_peak_bytes; /* largest sum of blocks that were allocated inside the region */
    uint64_t allocations;     /* blocks handed out; a realloc that moves or resizes counts */
    uint64_t frees;           /* blocks given back; a realloc that moves or resizes counts */
    uint64_t allocated_bytes; /* sum of the sizes of all allocations */
    uint64_t freed_bytes;     /* sum of the sizes of all frees */
    int64_t
        map_anon_peak_added_bytes; /* the same for anonymous mappings the program made itself */
    int64_t combined_peak_added_bytes; /* heap + anonymous mappings, a peak of their sum */
};

/*
 * Begin a region named @name (copied; at most 63 bytes are kept; "process" is taken). Regions
 * nest and repeat: each begin makes a new instance with its own start, peak and end.
 */
void votrace_region_begin(const char *name) __attribute__((weak));

/*
 * End the youngest open region named @name, whichever thread began it. An end without a begin
 * is counted in the trace as unbalanced and changes nothing else.
 */
void votrace_region_end(const char *name) __attribute__((weak));

/*
 * The same for a region of the calling thread: only what this thread allocates and frees is in
 * it, whoever allocated what it frees. It begins with nothing live, so that live and net are
 * what the thread took less what it gave, and may be negative. Several threads may have regions
 * of one name open at a time; an end ends the youngest of that name that the calling thread
 * has begun, and one that it has not begun is unbalanced.
 */
void votrace_thread_region_begin(const char *name) __attribute__((weak));
void votrace_thread_region_end(const char *name) __attribute__((weak));

/*
 * Write the totals of the youngest instance of @name, open or ended, to @ret_totals. "process"
 * is the region that every program has, from load to exit. @totals_bytes is
 * sizeof(*ret_totals): a newer library fills no more than the caller knows.
 *
 * Returns 0; -ENOSYS when votrace is not loaded or does not record; -ENOENT when no region of
 * that name has begun. @ret_totals is written only on success.
 */
int votrace_region_query(const char *name, struct votrace_region_totals *ret_totals,
                         uint64_t totals_bytes) __attribute__((weak));

/* Calls through a weak reference have to test it; these macros of the same names do. */
#ifndef VOTRACE_IMPLEMENTATION
#define votrace_region_begin(name)                                                             \
    (votrace_region_begin ? votrace_region_begin(name) : (void)(name))
#define votrace_region_end(name) (votrace_region_end ? votrace_region_end(name) : (void)(name))
#define votrace_thread_region_begin(name)                                                      \
    (votrace_thread_region_begin ? votrace_thread_region_begin(name) : (void)(name))
#define votrace_thread_region_end(name)                                                        \
    (votrace_thread_region_end ? votrace_thread_region_end(name) : (void)(name))
#define votrace_region_query(name, ret_totals, totals_bytes)                                   \
    (votrace_region_query ? votrace_region_query((name), (ret_totals), (totals_bytes))         \
                          : -ENOSYS)
#endif

#ifdef __cplusplus
}
#endif
