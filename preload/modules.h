/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * modules.h: which files the program's code comes from, noted in the trace as they appear.
 *
 * Not thread-safe: the recorder's lock guards it.
 */
#pragma once

#include "tracefile.h"

#include <link.h>
#include <stdint.h>

struct module_seen {
    uint64_t start;
    uint64_t bias;
    uint64_t name_hash;
};

struct modules {
    struct tracefile *file;
    char path[PATH_MAX]; /* scratch: the stack may be a signal handler's */
    char exe[PATH_MAX];  /* the program, which the loader calls "" */
    struct module_seen *seen;
    uint32_t seen_count;
    uint32_t seen_capacity;
};

/* Returns 0 or -ENOMEM. @exe is copied. */
int modules_init(struct modules *modules, struct tracefile *file, const char *exe);

/* Write a MODULE chunk for each executable segment of @info that is not in the trace yet. */
void modules_note(struct modules *modules, const struct dl_phdr_info *info);
