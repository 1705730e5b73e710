/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_scratch.h: a trace in a folder of its own, and the check of what is in it. */
#pragma once

#include "trace_check.h"

#include <limits.h>

struct trace_scratch {
    char folder[64];
    char path[128]; /* does not exist yet */
};

void trace_scratch_init(struct trace_scratch *scratch);
/* Removes the folder and all files in it. */
void trace_scratch_finish(struct trace_scratch *scratch);

/* Map the file at @path and check it; fails the test when the trace does not hold. */
void trace_scratch_check(const char *path, struct trace_check *ret_check);
void trace_scratch_check_finish(struct trace_check *check);
