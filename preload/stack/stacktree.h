/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stacktree.h: a call stack -> a small integer, its site.
 *
 * Frames form a tree in the trace file, the root at main's caller, so that stacks share what
 * they have in common. Looking up needs no lock; adding needs the recorder's.
 */
#pragma once

#include "backtrace.h"
#include "trace_layout.h"
#include "tracefile.h"

#include <stdatomic.h>

#define STACKTREE_NODES_PER_CHUNK 1024u
#define STACKTREE_NODE_CHUNKS     4096u /* 4 Mi nodes */
#define STACKTREE_SITE_CHUNKS     1024u /* 1 Mi sites */
#define STACKTREE_NO_SITE         UINT32_MAX

struct stacktree_table; /* (parent, address) -> node */

struct stacktree {
    struct tracefile *file;
    struct trace_node *nodes[STACKTREE_NODE_CHUNKS];
    struct trace_site *sites[STACKTREE_SITE_CHUNKS];
    /* The site of a node in each space, plus one; 0: none yet. By chunk, like the nodes. */
    _Atomic uint32_t *node_sites[STACKTREE_NODE_CHUNKS][TRACE_SPACES];
    _Atomic(struct stacktree_table *) table;
    uint32_t node_count;
    uint32_t site_count;
    uint16_t generation;      /* of the nodes that are added: see struct trace_node */
    _Atomic uint32_t version; /* counts the times after which nodes found before may be wrong */
};

/* Makes the root and the fixed sites. Returns 0 or -ENOMEM. */
int stacktree_init(struct stacktree *tree, struct tracefile *file);

/* In a forked child: the same again for its own trace. What was there is forgotten. */
int stacktree_restart(struct stacktree *tree, struct tracefile *file);

/*
 * The code in [start, end) was unloaded: its nodes are no longer found, and stacks through them
 * get new ones. Or it came back, and its nodes of @generation and later are found again. The
 * caller holds the recorder's lock; a stack that is being looked up may still be found as
 * before.
 */
void stacktree_hide(struct stacktree *tree, uint64_t start, uint64_t end);
void stacktree_show(struct stacktree *tree, uint64_t start, uint64_t end, uint32_t generation);

/*
 * The site of @backtrace in @space, or STACKTREE_NO_SITE if it has none yet. Lock-free. The
 * nodes found are left in @backtrace: only frames that are new in it are looked up the next
 * time.
 */
uint32_t stacktree_find(struct stacktree *tree, struct backtrace *backtrace,
                        enum trace_space space);

/*
 * The same, added if need be; the fixed site "other" of @space when a table is full or memory
 * is refused (*@ret_other is then true). The caller holds the recorder's lock.
 */
uint32_t stacktree_add(struct stacktree *tree, const struct backtrace *backtrace,
                       enum trace_space space, bool *ret_other);

/* The fixed sites, see trace_site. */
static inline uint32_t stacktree_site_no_stack(enum trace_space space) {
    return (uint32_t)space;
}

static inline uint32_t stacktree_site_other(enum trace_space space) {
    return TRACE_SPACES + (uint32_t)space;
}

static inline const struct trace_site *stacktree_site(const struct stacktree *tree,
                                                      uint32_t site) {
    return &tree->sites[site / STACKTREE_NODES_PER_CHUNK][site % STACKTREE_NODES_PER_CHUNK];
}
