/* SPDX-License-Identifier: BSD-3-Clause */
/* backtrace_fake.h: what the scripted backend of preload/stack/backtrace.h returns. */
#pragma once

#include "backtrace.h"

/*
 * From now on this thread's stack is @frames, innermost first. @frames is borrowed. @whole:
 * what backtrace_take() returns. Without a call, or with @frames NULL, it is the caller alone.
 */
void backtrace_fake_set(const uintptr_t *frames, size_t depth_frames, bool whole);
