/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * backtrace.h: the call stack of an allocation. One function, two backends: the machine's
 * (backtrace_unwind.c), and a scripted one for tests (tests/unit/backtrace_fake.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKTRACE_DEPTH_MAX 256u
/* Frames of ours that libunwind sees inside of the allocation's. */
#define BACKTRACE_OWN_MAX 8u
#define BACKTRACE_ROOM    (2 * BACKTRACE_DEPTH_MAX + BACKTRACE_OWN_MAX + 1)

/*
 * The latest stack of a thread, kept from one allocation to the next: most of it is the same
 * the next time. Zero-initialised it is empty. One thread at a time may use it.
 *
 * Arrays have the outermost frame first. What lies beyond BACKTRACE_DEPTH_MAX is room to work
 * in.
 */
struct backtrace {
    _Atomic bool taken; /* in use; for the owner of several */
    bool truncated;     /* the stack went on beyond the limit */
    bool walked;        /* the arrays marked (walk) describe these frames */
    uint32_t depth_frames;
    uint32_t known_nodes;                 /* of nodes[]: they belong to these frames */
    uint32_t nodes_version;               /* stacktree's when they were found */
    uint32_t nodes[BACKTRACE_DEPTH_MAX];  /* stacktree's, see stacktree.h */
    uintptr_t addresses[BACKTRACE_ROOM];  /* return addresses */
    uintptr_t rsps[BACKTRACE_ROOM];       /* (walk) stack pointer after that return */
    uintptr_t rbps[BACKTRACE_ROOM];       /* (walk) rbp after that return ... */
    uintptr_t rbp_places[BACKTRACE_ROOM]; /* (walk) where it was saved; 0: nowhere */
    uint8_t rbp_matters[BACKTRACE_ROOM];  /* (walk) the outer frames depend on it */
};

/* Once, before the first backtrace_take(). */
void backtrace_init(void);

/*
 * Make @backtrace the stack of the caller of an allocation function. @frame is that function's
 * __builtin_frame_address(0): [0] the caller's frame pointer, [1] the return address into it.
 * At most @depth_limit innermost frames are kept (1 to BACKTRACE_DEPTH_MAX). known_nodes falls
 * to the number of outermost frames that are still the same.
 *
 * Returns false when the stack could not be unwound even as far as that return address, which
 * then is the only frame. errno may change. No lock of ours may be held.
 */
bool backtrace_take(struct backtrace *backtrace, const uintptr_t *frame, size_t depth_limit);

/*
 * The two ways by which the machine's backend does it, for tests to compare. backtrace_walk()
 * follows the usual frames itself and returns false where it meets another; backtrace_unwind()
 * asks libunwind.
 */
bool backtrace_walk(struct backtrace *backtrace, const uintptr_t *frame, size_t depth_limit);
bool backtrace_unwind(struct backtrace *backtrace, const uintptr_t *frame, size_t depth_limit);

/*
 * Make @backtrace the @depth_frames addresses at @innermost_first, which end at the limit if
 * @truncated; for the backends.
 */
void backtrace_set(struct backtrace *backtrace, const uintptr_t *innermost_first,
                   size_t depth_frames, bool truncated);

/*
 * Whether @bytes may be used below @frame. An alternate signal stack may be as small as what
 * delivering the signal takes; of another stack it is taken for granted. A system call, but
 * inside a sandbox, see sandbox.h.
 */
bool backtrace_has_room(const void *frame, size_t bytes);

/* A module was unloaded: forget what is known of its code. */
void backtrace_forget(void);
