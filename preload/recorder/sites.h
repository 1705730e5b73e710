/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.h: the site that an event of this thread belongs to. */
#pragma once

#include "recorder_state.h"

/* By unwinding from @frame, see backtrace.h. Not with the lock held. errno is kept. */
uint32_t sites_by_stack(enum trace_space space, const uintptr_t *frame);

/* Note in the trace what was loaded since the last look. Not with the lock held. */
void sites_note_modules(void);

static inline uint32_t sites_of(enum trace_space space, const uintptr_t *frame) {
    if (atomic_load_explicit(&recorder.unwinds, memory_order_relaxed))
        return sites_by_stack(space, frame);
    return stacktree_site_no_stack(space);
}
