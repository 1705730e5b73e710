/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cleanup.c: a handler that unlinks and lets the signal do what it would have done.
 *
 * The paths are the one state that a handler can reach: pointers, stored and read whole.
 * A signal that was ignored stays so.
 */
#include "cleanup.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define PATHS_MAX 2

static _Atomic(const char *) paths[PATHS_MAX];

static const int signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};

static void on_signal(int number) {
    for (size_t i = 0; i < PATHS_MAX; i++) {
        const char *path = atomic_load(&paths[i]);
        if (path != NULL)
            unlink(path);
    }
    raise(number); /* by the default action, which SA_RESETHAND has put back */
}

static void catch_signals(void) {
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) < 0 || action.sa_handler != SIG_DFL)
            continue;
        action.sa_handler = on_signal;
        action.sa_flags = (int)SA_RESETHAND;
        sigaction(signals[i], &action, NULL);
    }
}

static void replace(const char *from, const char *to) {
    for (size_t i = 0; i < PATHS_MAX; i++) {
        const char *expected = from;
        if (atomic_compare_exchange_strong(&paths[i], &expected, to))
            return;
    }
}

void cleanup_add(const char *path) {
    replace(NULL, path);
    catch_signals();
}

void cleanup_remove(const char *path) {
    replace(path, NULL);
}
