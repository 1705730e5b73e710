/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stacktree.c: the tree of frames, walked from the root, or from the last frame that has not
 * changed.
 *
 * A node is found by hashing (parent, address). Readers take no lock: a node is complete before
 * its id is published in the table, nodes never change or move, and a table that was outgrown
 * stays mapped for the readers that are still in it (all of them together are as large as the
 * last).
 *
 * A node whose code was unloaded is hidden: its place in the table stays, but is no longer what
 * anybody looks for. What hangs below it is not found either.
 */
#include "stacktree.h"

#include "blocks.h"
#include "sysmem.h"

#include <errno.h>

#define TABLE_AT_FIRST 4096u

/* No node has so high an id: as a parent, it is what nobody looks for. */
#define HIDDEN (UINT64_C(1) << 63)

/* A node where it is looked up: one cache line tells. */
struct frame_place {
    uint64_t address;
    /* parent << 32 | id, perhaps HIDDEN; 0: empty (the root is never looked up) */
    _Atomic uint64_t parent_id;
};

struct stacktree_table {
    uint64_t mask; /* capacity - 1, capacity a power of two */
    struct frame_place places[];
};

_Static_assert(STACKTREE_SITE_CHUNKS *STACKTREE_NODES_PER_CHUNK > BLOCKS_SITE_MAX,
               "every site a block can name has a place");

static inline struct trace_node *node_at(const struct stacktree *tree, uint32_t id) {
    return &tree->nodes[id / STACKTREE_NODES_PER_CHUNK][id % STACKTREE_NODES_PER_CHUNK];
}

static inline _Atomic uint32_t *node_site(const struct stacktree *tree, uint32_t id,
                                          enum trace_space space) {
    _Atomic uint32_t *chunk = __atomic_load_n(
        &tree->node_sites[id / STACKTREE_NODES_PER_CHUNK][space], __ATOMIC_ACQUIRE);
    return chunk == NULL ? NULL : &chunk[id % STACKTREE_NODES_PER_CHUNK];
}

static inline uint64_t hash_frame(uint32_t parent, uintptr_t address) {
    uint64_t key = (uint64_t)address + parent * UINT64_C(0x9e3779b97f4a7c15);
    return (key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 32;
}

static size_t table_bytes(uint64_t capacity) {
    return sizeof(struct stacktree_table) + capacity * sizeof(struct frame_place);
}

static struct stacktree_table *frames_new(uint64_t capacity) {
    struct stacktree_table *table = sysmem_map(table_bytes(capacity));
    if (table != NULL)
        table->mask = capacity - 1;
    return table;
}

/* Where (parent, address) is, or the empty place where it would be. */
static inline struct frame_place *frames_place(struct stacktree_table *table, uint32_t parent,
                                               uintptr_t address) {
    uint64_t index = hash_frame(parent, address) & table->mask;
    for (;;) {
        struct frame_place *place = &table->places[index];
        uint64_t parent_id = atomic_load_explicit(&place->parent_id, memory_order_acquire);
        if (parent_id == 0 || (parent_id >> 32 == parent && place->address == address))
            return place;
        index = (index + 1) & table->mask;
    }
}

static inline uint32_t place_id(struct frame_place *place) {
    return (uint32_t)atomic_load_explicit(&place->parent_id, memory_order_acquire);
}

static void place_set(struct frame_place *place, uint32_t parent, uintptr_t address,
                      uint32_t id) {
    place->address = address;
    atomic_store_explicit(&place->parent_id, (uint64_t)parent << 32 | id, memory_order_release);
}

/* The first place that is free on the way from where (parent, address) belongs. */
static struct frame_place *empty_place(struct stacktree_table *table, uint32_t parent,
                                       uintptr_t address) {
    uint64_t index = hash_frame(parent, address) & table->mask;
    while (atomic_load_explicit(&table->places[index].parent_id, memory_order_relaxed) != 0)
        index = (index + 1) & table->mask;
    return &table->places[index];
}

/* The place of a node that is in the table, hidden or not. */
static struct frame_place *place_of_node(struct stacktree_table *table,
                                         const struct trace_node *node, uint32_t id) {
    uint64_t index = hash_frame(node->parent, node->address) & table->mask;
    while (place_id(&table->places[index]) != id)
        index = (index + 1) & table->mask;
    return &table->places[index];
}

static int frames_grow(struct stacktree *tree) {
    struct stacktree_table *old = atomic_load_explicit(&tree->table, memory_order_relaxed);
    struct stacktree_table *table = frames_new((old->mask + 1) * 2);
    if (table == NULL)
        return -ENOMEM;
    for (uint64_t i = 0; i <= old->mask; i++) {
        uint64_t parent_id =
            atomic_load_explicit(&old->places[i].parent_id, memory_order_relaxed);
        if (parent_id == 0)
            continue;
        uintptr_t address = old->places[i].address;
        struct frame_place *place =
            empty_place(table, (uint32_t)((parent_id & ~HIDDEN) >> 32), address);
        place->address = address;
        atomic_store_explicit(&place->parent_id, parent_id, memory_order_relaxed);
    }
    atomic_store_explicit(&tree->table, table, memory_order_release);
    return 0;
}

/* Append a node that no table knows yet. Returns its id, 0 when there is no room. */
static uint32_t node_append(struct stacktree *tree, uint32_t parent, uintptr_t address) {
    uint32_t id = tree->node_count;
    uint32_t chunk = id / STACKTREE_NODES_PER_CHUNK;
    if (chunk == STACKTREE_NODE_CHUNKS)
        return 0;
    if (tree->nodes[chunk] == NULL) {
        tree->nodes[chunk] = tracefile_chunk(
            tree->file, TRACE_CHUNK_NODES,
            (struct tracefile_ids){.first = id, .count = STACKTREE_NODES_PER_CHUNK},
            STACKTREE_NODES_PER_CHUNK * sizeof(struct trace_node));
        if (tree->nodes[chunk] == NULL)
            return 0;
    }
    *node_at(tree, id) = (struct trace_node){
        .address = address,
        .parent = parent,
        .depth = id == 0 ? 0 : (uint16_t)(node_at(tree, parent)->depth + 1),
        .generation = id == 0 ? 0 : tree->generation,
    };
    tree->node_count++;
    /* The node is whole before it counts: a kill may come in between. */
    __atomic_store_n(&tree->file->header->node_count, tree->node_count, __ATOMIC_RELEASE);
    return id;
}

static uint32_t node_add(struct stacktree *tree, uint32_t parent, uintptr_t address) {
    struct stacktree_table *table = atomic_load_explicit(&tree->table, memory_order_relaxed);
    struct frame_place *place = frames_place(table, parent, address);
    uint32_t id = place_id(place);
    if (id != 0)
        return id;
    if (tree->node_count > table->mask / 2) {
        if (frames_grow(tree) < 0)
            return 0;
        table = atomic_load_explicit(&tree->table, memory_order_relaxed);
        place = frames_place(table, parent, address);
    }
    id = node_append(tree, parent, address);
    if (id != 0)
        place_set(place, parent, address, id);
    return id;
}

/* Append a site. Returns its id, STACKTREE_NO_SITE when there is no room. */
static uint32_t site_append(struct stacktree *tree, struct trace_site site) {
    uint32_t id = tree->site_count;
    uint32_t chunk = id / STACKTREE_NODES_PER_CHUNK;
    if (id > BLOCKS_SITE_MAX)
        return STACKTREE_NO_SITE;
    if (tree->sites[chunk] == NULL) {
        tree->sites[chunk] = tracefile_chunk(
            tree->file, TRACE_CHUNK_SITES,
            (struct tracefile_ids){.first = id, .count = STACKTREE_NODES_PER_CHUNK},
            STACKTREE_NODES_PER_CHUNK * sizeof(struct trace_site));
        if (tree->sites[chunk] == NULL)
            return STACKTREE_NO_SITE;
    }
    tree->sites[chunk][id % STACKTREE_NODES_PER_CHUNK] = site;
    tree->site_count++;
    __atomic_store_n(&tree->file->header->site_count, tree->site_count, __ATOMIC_RELEASE);
    return id;
}

static int fixed_sites_init(struct stacktree *tree) {
    for (int other = 0; other < 2; other++) {
        for (int space = 0; space < TRACE_SPACES; space++) {
            struct trace_site site = {
                .space = (uint16_t)space,
                .flags = other ? TRACE_SITE_OTHER : TRACE_SITE_NO_STACK,
            };
            if (site_append(tree, site) == STACKTREE_NO_SITE)
                return -ENOMEM;
        }
    }
    return 0;
}

int stacktree_init(struct stacktree *tree, struct tracefile *file) {
    /* Zeroed by its owner: it is far too large to be assigned. */
    tree->file = file;
    struct stacktree_table *table = frames_new(TABLE_AT_FIRST);
    if (table == NULL)
        return -ENOMEM;
    atomic_init(&tree->table, table);
    node_append(tree, 0, 0);
    if (tree->node_count == 0)
        return -ENOMEM;
    return fixed_sites_init(tree);
}

int stacktree_restart(struct stacktree *tree, struct tracefile *file) {
    struct stacktree_table *table = atomic_load_explicit(&tree->table, memory_order_relaxed);
    sysmem_unmap(table, table_bytes(table->mask + 1));
    for (uint32_t i = 0; i * STACKTREE_NODES_PER_CHUNK < tree->node_count; i++) {
        tree->nodes[i] = NULL;
        for (int space = 0; space < TRACE_SPACES; space++) {
            sysmem_unmap(tree->node_sites[i][space],
                         STACKTREE_NODES_PER_CHUNK * sizeof(uint32_t));
            tree->node_sites[i][space] = NULL;
        }
    }
    for (uint32_t i = 0; i * STACKTREE_NODES_PER_CHUNK < tree->site_count; i++)
        tree->sites[i] = NULL;
    tree->node_count = 0;
    tree->site_count = 0;
    atomic_fetch_add(&tree->version, 1);
    return stacktree_init(tree, file);
}

/* Hide or show the nodes of [start, end) that are of @generation or later. */
static void set_hidden(struct stacktree *tree, uint64_t start, uint64_t end,
                       uint32_t generation, bool hidden) {
    struct stacktree_table *table = atomic_load_explicit(&tree->table, memory_order_relaxed);
    bool any = false;
    for (uint32_t id = 1; id < tree->node_count; id++) {
        const struct trace_node *node = node_at(tree, id);
        if (node->address - 1 < start || node->address - 1 >= end ||
            node->generation < generation)
            continue;
        struct frame_place *place = place_of_node(table, node, id);
        atomic_store_explicit(&place->parent_id,
                              (uint64_t)node->parent << 32 | id | (hidden ? HIDDEN : 0),
                              memory_order_release);
        any = true;
    }
    if (any)
        atomic_fetch_add(&tree->version, 1);
}

void stacktree_hide(struct stacktree *tree, uint64_t start, uint64_t end) {
    set_hidden(tree, start, end, 0, true);
}

void stacktree_show(struct stacktree *tree, uint64_t start, uint64_t end, uint32_t generation) {
    set_hidden(tree, start, end, generation, false);
}

uint32_t stacktree_find(struct stacktree *tree, struct backtrace *backtrace,
                        enum trace_space space) {
    uint32_t version = atomic_load_explicit(&tree->version, memory_order_acquire);
    struct stacktree_table *table = atomic_load_explicit(&tree->table, memory_order_acquire);
    uint32_t known = backtrace->nodes_version == version ? backtrace->known_nodes : 0;
    backtrace->nodes_version = version;
    uint32_t id = known > 0 ? backtrace->nodes[known - 1] : 0;

    for (; known < backtrace->depth_frames; known++) {
        id = place_id(frames_place(table, id, backtrace->addresses[known]));
        if (id == 0)
            break;
        backtrace->nodes[known] = id;
    }
    backtrace->known_nodes = known;
    _Atomic uint32_t *site = id != 0 ? node_site(tree, id, space) : NULL;
    if (site == NULL)
        return STACKTREE_NO_SITE;
    return atomic_load_explicit(site, memory_order_acquire) -
           1; /* 0 becomes STACKTREE_NO_SITE */
}

static _Atomic uint32_t *node_site_make(struct stacktree *tree, uint32_t id,
                                        enum trace_space space) {
    _Atomic uint32_t **chunk = &tree->node_sites[id / STACKTREE_NODES_PER_CHUNK][space];
    if (*chunk == NULL) {
        _Atomic uint32_t *made = sysmem_map(STACKTREE_NODES_PER_CHUNK * sizeof(**chunk));
        __atomic_store_n(chunk, made, __ATOMIC_RELEASE);
    }
    return node_site(tree, id, space);
}

uint32_t stacktree_add(struct stacktree *tree, const struct backtrace *backtrace,
                       enum trace_space space, bool *ret_other) {
    *ret_other = true;
    uint32_t id = 0;
    for (uint32_t i = 0; i < backtrace->depth_frames; i++) {
        id = node_add(tree, id, backtrace->addresses[i]);
        if (id == 0)
            return stacktree_site_other(space);
    }
    _Atomic uint32_t *place = node_site_make(tree, id, space);
    if (place == NULL)
        return stacktree_site_other(space);

    uint32_t site = atomic_load_explicit(place, memory_order_relaxed) - 1;
    if (site == STACKTREE_NO_SITE) {
        site = site_append(tree, (struct trace_site){
                                     .node = id,
                                     .space = (uint16_t)space,
                                     .flags = backtrace->truncated ? TRACE_SITE_TRUNCATED : 0,
                                 });
        if (site == STACKTREE_NO_SITE)
            return stacktree_site_other(space);
        tree->file->header->stacks_truncated += backtrace->truncated;
        atomic_store_explicit(place, site + 1, memory_order_release);
    }
    *ret_other = false;
    return site;
}
