/* SPDX-License-Identifier: BSD-3-Clause */
/* importer.h: trace file -> run, ready for the store. What `run` and `import` share. */
#pragma once

#include "attributes.h"
#include "revision.h"
#include "run.h"

struct importer_settings {
    const char *name; /* of the benchmark; NULL: the program's name */
    const struct run_param *params;
    size_t param_count;
    bool allow_running; /* a process that still writes its trace: take a snapshot */
    const struct revision *revision; /* what was measured; NULL: not known */
    const char *environment;         /* the program's, see environment.h; NULL: not known */
};

/*
 * Read, check, derive and name the trace at @path. @ret_changed counts modules whose file is
 * another one by now, so that they have no function names.
 *
 * Returns 0; -EBUSY when its process still runs; other negative errno. On failure @fault.
 */
int importer_read(const char *path, const struct importer_settings *settings,
                  struct run *ret_run, size_t *ret_changed,
                  struct fault *fault) _must_check_ _nonnull_;
