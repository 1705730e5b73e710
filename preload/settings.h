/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h: the VOTRACE_* environment variables, read once when the library is loaded. */
#pragma once

#include "trace_layout.h"

#include <limits.h>

struct settings {
    char output[PATH_MAX]; /* VOTRACE_OUTPUT, not yet expanded */
    enum trace_stacks stacks;
    unsigned depth_frames;
    unsigned ignored; /* variables whose value means nothing: their defaults hold */
};

/*
 * Read the environment. A value that means nothing is counted and left out: there is nobody to
 * complain to inside somebody else's program. In a setuid program nothing is read.
 */
void settings_read(struct settings *ret_settings);
