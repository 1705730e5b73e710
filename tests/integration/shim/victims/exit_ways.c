/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways out, by argument. */
#include "victim.h"

static void *wait_and_exit(void *data) {
    usleep(20000);
    exit(6);
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    pthread_t thread;
    votrace_region_begin("v");
    opaque(malloc(77));
    if (strcmp(way, "_exit") == 0)
        _exit(5);
    if (strcmp(way, "_Exit") == 0)
        _Exit(5);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(5);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "thread") == 0) {
        pthread_create(&thread, NULL, wait_and_exit, NULL);
        pthread_exit(NULL);
    }
    return 5;
}
