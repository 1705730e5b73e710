/* SPDX-License-Identifier: BSD-3-Clause */
/* no_unwind_frames.c: frames of no_unwind.c that no table describes, and without rbp. */
#include <stddef.h>

void frames_without_tables(int levels, void (*function)(void));

void frames_without_tables(int levels, void (*function)(void)) {
    volatile char filler[100];
    for (size_t i = 0; i < sizeof(filler); i += 10)
        filler[i] = (char)levels;
    if (levels == 0)
        function();
    else
        frames_without_tables(levels - 1, function);
    filler[0] = filler[10];
}
