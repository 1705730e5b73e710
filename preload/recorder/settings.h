/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h: the VOTRACE_* environment variables, read once when the library is loaded. */
#pragma once

#include "trace_layout.h"

#include <limits.h>
#include <stdbool.h>

/* What becomes of the program's children. */
enum settings_children {
    CHILDREN_NONE,   /* programs it starts run without the library, its forks are muted */
    CHILDREN_EXEC,   /* programs it starts are traced afresh, its forks are muted */
    CHILDREN_FOLLOW, /* likewise, and each fork gets a trace of its own */
};

struct settings {
    char output[PATH_MAX]; /* VOTRACE_OUTPUT, not yet expanded */
    enum trace_stacks stacks;
    unsigned depth_frames;
    enum settings_children children;
    int signal;                    /* VOTRACE_SIGNAL: begins and ends `region`; 0: none */
    char region[TRACE_NAME_BYTES]; /* VOTRACE_REGION; "process": no region but that */
    bool usable;      /* VOTRACE_USABLE: ask the allocator for the sizes that it gives */
    bool python;      /* VOTRACE_PYTHON: Python's frames are in the stacks */
    bool summary;     /* VOTRACE_SUMMARY: a line at exit, where stderr is a terminal */
    unsigned ignored; /* variables whose value means nothing: their defaults hold */
};

/*
 * Read the environment. A value that means nothing is counted and left out: there is nobody to
 * complain to inside somebody else's program. In a setuid program nothing is read.
 */
void settings_read(struct settings *ret_settings);

/* Make `output` begin at the folder that is current now, wherever the program goes. */
void settings_keep_folder(struct settings *settings);
