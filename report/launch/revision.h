/* SPDX-License-Identifier: BSD-3-Clause */
/* revision.h: which commit of which branch is measured. */
#pragma once

#include "attributes.h"
#include "origin.h"

#include <stdint.h>

struct revision {
    char *commit; /* "" when not known, likewise branch */
    char *branch;
    int64_t commit_time_ns; /* 0: not known */
    enum origin_tree tree;
};

/*
 * @commit and @branch are what the user says, NULL: nothing. Otherwise the git repository of the
 * current folder is asked, and where there is none, or no git, the variables that CI sets.
 *
 * The repository comes first because a base branch may be checked out and measured in a job that
 * is for another commit. A @commit that git knows is stored in full, and any other as it is.
 *
 * 0, or -ENOMEM. End with revision_finish().
 */
int revision_find(const char *commit, const char *branch,
                  struct revision *ret_revision) _must_check_;

void revision_finish(struct revision *revision) _nonnull_;
