/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * origin.h: what was measured, where: the commit, the machine, the allocator, the environment.
 *
 * Numbers of two runs say something about a change only if all this is alike. What is not known
 * is "" and 0, and never guessed.
 */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "profile.h"

#include <stdint.h>

/* Were there changes that are in no commit? */
enum origin_tree {
    ORIGIN_TREE_UNKNOWN, /* no repository was asked, or it stood at another commit */
    ORIGIN_TREE_CLEAN,
    ORIGIN_TREE_DIRTY, /* a tracked file differed */
};

struct origin {
    const char *commit;     /* in full where git knows it; else as it was given; "" */
    const char *branch;     /* "" also where no branch was checked out */
    int64_t commit_time_ns; /* when it was committed, since 1970; 0: not known */
    enum origin_tree tree;
    const char *libc;      /* of the program: "glibc 2.36 (Debian GLIBC 2.36-9+deb12u10)" */
    const char *allocator; /* whose malloc it was: "glibc", "libjemalloc.so.2" ... */
    const char
        *environment;      /* what of it matters: a JSON object, names sorted; "": not known */
    const char *cpu_model; /* of the machine that stored it, as /proc/cpuinfo says it */
    uint32_t cpu_count;    /* processors online; 0: not known */
};

/* All texts "", all numbers 0. */
extern const struct origin origin_unknown;

/*
 * Fill in libc and allocator from the files that @profile's program had loaded, and cpu_model and
 * cpu_count of this machine; texts go into the profile's arena. A file that is another one by now
 * says nothing. 0 or -ENOMEM.
 */
int origin_look_up(struct origin *origin, struct profile *profile) _must_check_ _nonnull_;
