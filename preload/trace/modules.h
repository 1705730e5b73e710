/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * modules.h: which files the program's code comes from, noted in the trace as they appear.
 *
 * Not thread-safe: the recorder's lock guards it.
 */
#pragma once

#include "tracefile.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An executable segment. One that is unloaded is kept: it may come back to the same place, and
 * is the same then, unless another was there meanwhile.
 */
struct module_seen {
    uint64_t start; /* addresses [start, end) */
    uint64_t end;
    uint64_t bias;
    uint64_t name_hash;
    const struct trace_module *record; /* in the trace; NULL: refused */
    uint32_t round;                    /* modules.round when the loader last listed it */
    uint32_t generation;               /* modules.generation when it was noted */
    bool loaded;                       /* as of the last whole round */
};

struct modules {
    struct tracefile *file;
    char path[PATH_MAX]; /* scratch: the stack may be a signal handler's */
    char exe[PATH_MAX];  /* the program, which the loader calls "" */
    struct module_seen *seen;
    uint32_t seen_count;
    uint32_t seen_capacity;
    uint32_t round; /* how often the loader was asked for its list */
    /* How often a segment came where another had been: tells what an address means. */
    uint32_t generation;
};

#define MODULES_GENERATION_MAX UINT16_MAX /* a node has 16 bits for it */

/* Returns 0 or -ENOMEM. @exe is copied. */
int modules_init(struct modules *modules, struct tracefile *file, const char *exe);

/*
 * The loader begins to list its modules: those it does not list again are gone. Returns
 * the number of the round, which is not 0.
 */
uint32_t modules_begin_round(struct modules *modules);

/* Write a MODULE chunk for each executable segment of @info that is not in the trace yet. */
void modules_note(struct modules *modules, const struct dl_phdr_info *info);

/*
 * The loader has listed all: what it did not list is gone. Returns true for each segment that
 * went or came back since, described in @ret_changed; false when that is all.
 */
bool modules_next_change(struct modules *modules, struct module_seen *ret_changed);

/* In a forked child: write all of them to its own trace, @file. */
void modules_restart(struct modules *modules, struct tracefile *file);

/*
 * Whether each of @count code addresses lies in a module that the loader listed last, but for
 * interpreted code's.
 */
bool modules_know(const struct modules *modules, const uintptr_t *addresses, size_t count);
