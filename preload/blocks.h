/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h: the table of live blocks, address -> size, site and birth.
 *
 * Not thread-safe: the recorder's lock guards it.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_ADDRESS_BITS 47
#define BLOCKS_SIZE_BITS    44 /* 16 TiB */
#define BLOCKS_SITE_BITS    20
#define BLOCKS_BIRTH_BITS   19
#define BLOCKS_SIZE_MAX     ((UINT64_C(1) << BLOCKS_SIZE_BITS) - 1)
#define BLOCKS_SITE_MAX     ((UINT32_C(1) << BLOCKS_SITE_BITS) - 2)
#define BLOCKS_BIRTH_MAX    ((UINT32_C(1) << BLOCKS_BIRTH_BITS) - 1)
#define BLOCKS_CLASSES      24

struct block {
    uint64_t size_bytes; /* requested; at most BLOCKS_SIZE_MAX */
    uint32_t site;       /* at most BLOCKS_SITE_MAX */
    uint32_t birth;      /* regions begun when it was allocated; at most BLOCKS_BIRTH_MAX */
};

#define BLOCKS_RECENT 64u

/* A block that is not in its page's table yet: most blocks die young and never get there. */
struct blocks_recent {
    uintptr_t address; /* 0: empty */
    struct block block;
};

struct blocks_page; /* the blocks of 64 KiB of addresses */

struct blocks {
    struct blocks_recent recent[BLOCKS_RECENT];
    struct blocks_page ***roots;       /* address bits 46..32 -> address bits 31..16 -> page */
    void *free_tables[BLOCKS_CLASSES]; /* lists of tables given back, by size class */
    unsigned char *arena;              /* memory for new tables */
    size_t arena_left_bytes;
    size_t arena_bytes; /* of the next arena; 0: the first */
};

/* Returns 0 or -ENOMEM. */
int blocks_init(struct blocks *blocks);

/* What lies behind the recent blocks; see blocks_insert() and blocks_remove() below. */
int blocks_make_way(struct blocks *blocks, const struct blocks_recent *recent,
                    uintptr_t address, struct block *ret_old, bool *ret_stale);
bool blocks_page_remove(struct blocks *blocks, uintptr_t address, struct block *ret_block);

static inline struct blocks_recent *blocks_recent_of(struct blocks *blocks, uintptr_t address) {
    return &blocks->recent[(address >> 4 ^ address >> 12) % BLOCKS_RECENT];
}

/*
 * Enter the block at @address. An older entry for an address, this one or that of a recent
 * block that has to make room, means that a free was not seen: *@ret_stale is then true and
 * *@ret_old what the older entry was; it is gone.
 *
 * Returns 0; -ERANGE for an address or size beyond what the table can hold, and nothing is
 * changed; -ENOMEM when the kernel refuses memory for a recent block that has to make room:
 * that one, *@ret_old, is lost.
 */
static inline int blocks_insert(struct blocks *blocks, uintptr_t address, uint64_t size_bytes,
                                uint32_t site, uint32_t birth, struct block *ret_old,
                                bool *ret_stale) {
    *ret_stale = false;
    if (__builtin_expect(address >> BLOCKS_ADDRESS_BITS != 0 || size_bytes > BLOCKS_SIZE_MAX,
                         0))
        return -ERANGE;
    struct blocks_recent *recent = blocks_recent_of(blocks, address);
    int r = 0;
    if (recent->address != 0)
        r = blocks_make_way(blocks, recent, address, ret_old, ret_stale);
    recent->address = address;
    recent->block.size_bytes = size_bytes;
    recent->block.site = site;
    recent->block.birth = birth;
    return r;
}

/* Take the block at @address out of the table. False if it is not there. */
static inline bool blocks_remove(struct blocks *blocks, uintptr_t address,
                                 struct block *ret_block) {
    if (__builtin_expect(address >> BLOCKS_ADDRESS_BITS != 0, 0))
        return false;
    struct blocks_recent *recent = blocks_recent_of(blocks, address);
    if (recent->address != address)
        return blocks_page_remove(blocks, address, ret_block);
    /* Field by field, as it was written: a wide load over narrow stores would wait for them. */
    ret_block->size_bytes = recent->block.size_bytes;
    ret_block->site = recent->block.site;
    ret_block->birth = recent->block.birth;
    recent->address = 0;
    return true;
}
