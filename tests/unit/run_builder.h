/* SPDX-License-Identifier: BSD-3-Clause */
/* run_builder.h: whole runs for the tests of what compares them, from a few words each. */
#pragma once

#include "run.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What a test program does inside its region: bytes allocated at a stack of functions, the
 * innermost last, as "main/read_rows/xrealloc". A function is in /src/reader.c, at the line of
 * its node, unless it says so: "read_rows@table.c", "read_rows@table.c:17", and "read_rows@" is
 * in a file that is not known. A name "lib:" is a nameless frame of libxml2, "hid:" one of the
 * program: what strip leaves of a function. A name "py:load@json+__init__.py" is one of
 * Python's, in a file of that folder, "ext:scan" one of an extension that comes with Python. A
 * stack that begins with "map:" is one of mmap, "-" no stack at all.
 */
struct run_work {
    const char *stack;
    uint64_t bytes;
};

/*
 * A whole, successful run of the benchmark @name(format=@format), which had 500 bytes before
 * its region @region_name began (NULL: no region was marked). End with run_finish().
 */
void run_build(struct run *ret_run, const char *name, const char *format,
               const struct run_work *work, size_t count, const char *region_name);
