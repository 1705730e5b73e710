/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h: the table of live blocks, address -> size, site and birth.
 *
 * Not thread-safe: the recorder's lock guards it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_SIZE_BITS  44 /* 16 TiB */
#define BLOCKS_SITE_BITS  20
#define BLOCKS_BIRTH_BITS 19
#define BLOCKS_SIZE_MAX   ((UINT64_C(1) << BLOCKS_SIZE_BITS) - 1)
#define BLOCKS_SITE_MAX   ((UINT32_C(1) << BLOCKS_SITE_BITS) - 2)
#define BLOCKS_BIRTH_MAX  ((UINT32_C(1) << BLOCKS_BIRTH_BITS) - 1)
#define BLOCKS_CLASSES    24

struct block {
    uint64_t size_bytes; /* requested; at most BLOCKS_SIZE_MAX */
    uint32_t site;       /* at most BLOCKS_SITE_MAX */
    uint32_t birth;      /* regions begun when it was allocated; at most BLOCKS_BIRTH_MAX */
};

struct blocks_page; /* the blocks of 64 KiB of addresses */

struct blocks {
    struct blocks_page ***roots;       /* address bits 46..32 -> address bits 31..16 -> page */
    void *free_tables[BLOCKS_CLASSES]; /* lists of tables given back, by size class */
    unsigned char *arena;              /* memory for new tables */
    size_t arena_left_bytes;
};

/* Returns 0 or -ENOMEM. */
int blocks_init(struct blocks *blocks);

/*
 * Enter the block at @address. An entry that is already there is overwritten: *@ret_replaced is
 * then true and *@ret_old what it was (the real allocator gave the address out again, so that
 * its free was not seen).
 *
 * Returns 0; -ENOMEM when the kernel refuses memory; -ERANGE for an address or size beyond what
 * the table can hold. Nothing is changed then.
 */
int blocks_insert(struct blocks *blocks, uintptr_t address, struct block block,
                  struct block *ret_old, bool *ret_replaced);

/* Take the block at @address out of the table. False if it is not there. */
bool blocks_remove(struct blocks *blocks, uintptr_t address, struct block *ret_block);
