/* SPDX-License-Identifier: BSD-3-Clause */
/* calltree_keys.h: which frames are the same, as small numbers; for calltree.c alone. */
#pragma once

#include "calltree.h"

/* A group of frames that are the same. */
struct calltree_key {
    const char *name; /* as in struct calltree_node */
    const struct profile *profile;
    const struct profile_frame *frame;
};

struct calltree_keys {
    struct calltree_key *keys; /* key_count */
    size_t key_count;
    uint32_t
        *by_frame[CALLTREE_SIDES]; /* frame of that side's profile -> key; those used only */
};

/*
 * The keys of all frames on the stacks of @sources' regions. Names that have to be made are in
 * @arena. 0 or -ENOMEM. End with calltree_keys_finish().
 */
int calltree_keys_collect(const struct calltree_source sources[CALLTREE_SIDES],
                          const struct calltree_settings *settings, struct arena *arena,
                          struct calltree_keys *ret_keys) _must_check_ _nonnull_;

/* Where the stack of @row begins in the tree; 0 when there is none. */
uint32_t calltree_innermost(const struct profile *profile, const struct profile_row *row,
                            const struct calltree_settings *settings) _nonnull_;

void calltree_keys_finish(struct calltree_keys *keys) _nonnull_;
