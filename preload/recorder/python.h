/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * python.h: which Python functions are running in this thread, for CPython 3.9 to 3.14.
 *
 * Nothing is installed in the interpreter: no profile function, which would make it allocate a
 * frame object for every call and so change what is measured. Its own list of running frames is
 * read when a stack is taken, by the thread that they belong to, which stands still meanwhile.
 *
 * They are not known of what a thread other than the main one allocates in C code that has given
 * Python's lock away: an interpreter that is ended frees them under its feet. Nor of stacks that
 * cannot be walked, as a signal handler's: the list may be half changed where it interrupted the
 * interpreter.
 */
#pragma once

#include "backtrace.h"
#include "tracefile.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Look for an interpreter in this process, once. Without one, or with one whose frames are not
 * known here (a newer version, a build without the GIL), there are no Python frames. An
 * interpreter that is loaded later is not found.
 */
void python_find(void);

/* In a forked child, with a trace of its own: code is to be noted anew. */
void python_restart(void);

/* Is there an interpreter? */
extern bool python_is_here __attribute__((visibility("hidden")));

/*
 * Put this thread's Python frames among @native's: those that an invocation of the interpreter's
 * loop runs come inside of its frame. Returns false, and nothing in @ret_mixed, where the thread
 * runs no Python. @ret_mixed keeps from one call to the next what has not changed. At most
 * @depth_limit innermost frames. No lock of ours may be held.
 */
bool python_mix(const struct backtrace *native, struct backtrace *ret_mixed,
                size_t depth_limit);
