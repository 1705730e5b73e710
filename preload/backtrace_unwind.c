/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * backtrace_unwind.c: stacks by libunwind.
 *
 * The cache policy must be NONE: with the default, libunwind 1.6.2 holds its cache's lock while
 * it asks the loader, and a thread inside dl_iterate_phdr() that allocates holds the loader's
 * and wants the cache's. The fast path has a cache per thread of its own, so that nothing is
 * lost. No lock of ours is held here.
 */
#define UNW_LOCAL_ONLY
#include "backtrace.h"

#include <libunwind.h>

void backtrace_init(void) {
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
}

bool backtrace_take(uintptr_t caller, uintptr_t *buffer, size_t depth_limit,
                    struct backtrace *ret) {
    size_t wanted = depth_limit + BACKTRACE_OWN_FRAMES + 1;
    int got = unw_backtrace((void **)buffer, (int)wanted);
    size_t count = got > 0 ? (size_t)got : 0;

    size_t own = 0;
    while (own < count && own <= BACKTRACE_OWN_FRAMES && buffer[own] != caller)
        own++;
    if (own == count || own > BACKTRACE_OWN_FRAMES) {
        buffer[0] = caller;
        *ret = (struct backtrace){.depth_frames = 1, .frames = buffer};
        return false;
    }
    /* Some stacks end in zeros. */
    while (count > own + 1 && buffer[count - 1] == 0)
        count--;
    size_t depth = count - own;
    *ret = (struct backtrace){
        .depth_frames = depth > depth_limit ? depth_limit : depth,
        .truncated = depth > depth_limit,
        .frames = buffer + own,
    };
    return true;
}
