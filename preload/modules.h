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

struct module_seen {
    uint64_t start; /* addresses [start, end) */
    uint64_t end;
    uint64_t bias;
    uint64_t name_hash;
    uint32_t round; /* modules.round when the loader last listed it */
};

struct modules {
    struct tracefile *file;
    char path[PATH_MAX]; /* scratch: the stack may be a signal handler's */
    char exe[PATH_MAX];  /* the program, which the loader calls "" */
    struct module_seen *seen;
    uint32_t seen_count;
    uint32_t seen_capacity;
    uint32_t round; /* how often the loader was asked for its list */
};

/* Returns 0 or -ENOMEM. @exe is copied. */
int modules_init(struct modules *modules, struct tracefile *file, const char *exe);

/* The loader begins to list its modules: those it does not list again are gone. */
void modules_begin_round(struct modules *modules);

/* Write a MODULE chunk for each executable segment of @info that is not in the trace yet. */
void modules_note(struct modules *modules, const struct dl_phdr_info *info);

/* Whether each of @count code addresses lies in a module that the loader listed last. */
bool modules_know(const struct modules *modules, const uintptr_t *addresses, size_t count);
