/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c: at most ten times a second, and never before a second has passed. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define WIDTH      40
#define FIRST_NS   UINT64_C(1000000000)
#define BETWEEN_NS UINT64_C(100000000)

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void progress_begin(struct progress *ret_progress, const char *unit, uint64_t total) {
    *ret_progress = (struct progress){
        .shown = total > 0 && isatty(STDERR_FILENO) == 1,
        .unit = unit,
        .total = total,
        .next_ns = now_ns() + FIRST_NS,
    };
}

void progress_show(struct progress *progress, uint64_t done) {
    static const char bar[WIDTH + 1] = "########################################";
    if (!progress->shown || now_ns() < progress->next_ns)
        return;
    int part = (int)((double)done / (double)progress->total * WIDTH);
    fprintf(stderr, "\r[%.*s%*s] %" PRIu64 " of %" PRIu64 " %s", part, bar, WIDTH - part, "",
            done, progress->total, progress->unit);
    fflush(stderr);
    progress->next_ns = now_ns() + BETWEEN_NS;
}

void progress_end(struct progress *progress) {
    if (progress->shown)
        fputs("\r\033[K", stderr);
}
