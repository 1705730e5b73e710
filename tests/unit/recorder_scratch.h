/* SPDX-License-Identifier: BSD-3-Clause */
/* recorder_scratch.h: the recorder, started on a trace in a folder of its own. */
#pragma once

#include "trace_scratch.h"

/*
 * Start the recorder as if the process had just begun, with VOTRACE_STACKS=@stacks; other
 * settings are those of the environment. @scratch is made. End with one of the finishes.
 */
void recorder_scratch_start(struct trace_scratch *scratch, const char *stacks);

/* The process exits: what it leaves holds, and no event was lost. */
void recorder_scratch_exit(const struct trace_scratch *scratch, struct trace_check *ret_check);

void recorder_scratch_finish(struct trace_scratch *scratch);

/* The same, and whatever the test left has to hold, as of a process that exits. */
void recorder_scratch_check_and_finish(struct trace_scratch *scratch);
