/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.c: a small hash table for each 64 KiB of address space.
 *
 *     address   46            32 31            16 15           3 2 0
 *               [ root index   ] [ page index    ] [ granule    ] [ 0 ]
 *
 * Two levels of pointers, mapped lazily, lead to the page of an address; its table holds the
 * blocks that start there, 12 bytes each, by linear probing on the granule (8 bytes: some
 * allocators align no better). Neighbours in memory are neighbours here, tables grow one at a
 * time, and about 14 bytes are spent on a block whatever its size: a shadow of the heap would
 * cost half the heap, a single hash of full addresses needs wider keys and doubles all at once.
 *
 *     slot      0                        4            8
 *               | birth : 19 granule : 13 | size : 32  | size : 12 site+1 : 20 |
 *
 * The site is stored plus one, so that an all-zero slot is an empty one.
 *
 * In front of the pages stands a small direct-mapped array of recent blocks: a block that is
 * freed before another takes its place never enters a page. An address is in one of the two,
 * not both.
 */
#include "blocks.h"

#include "sysmem.h"

#include <string.h>

#define PAGE_SHIFT          16
#define ROOT_SHIFT          32
#define ROOTS               (UINT64_C(1) << (BLOCKS_ADDRESS_BITS - ROOT_SHIFT))
#define PAGES_PER_ROOT      (UINT64_C(1) << (ROOT_SHIFT - PAGE_SHIFT))
#define GRANULE_SHIFT       3
#define GRANULE_BITS        (PAGE_SHIFT - GRANULE_SHIFT)
#define GRANULE_MASK        ((UINT32_C(1) << GRANULE_BITS) - 1)
#define FIRST_ARENA_BYTES   ((size_t)1 << 20)
#define LARGEST_ARENA_BYTES ((size_t)8 << 20)
#define HUGE_PAGE_BYTES     ((size_t)2 << 20)
#define SMALLEST_BYTES      128u

struct slot {
    uint32_t birth_granule;
    uint32_t size_low;
    uint32_t site_size_high; /* site + 1 in the upper 20 bits; 0: empty slot */
};

struct blocks_page {
    uint16_t capacity;
    uint16_t used;
    uint16_t limit; /* grow when used reaches it: 7/8 of capacity */
    uint16_t size_class;
    struct slot slots[];
};

/* Classes 128, 192, 256, 384, 512 ... bytes. The last holds every granule of a page. */
static size_t class_bytes(unsigned size_class) {
    size_t power = (size_t)SMALLEST_BYTES << (size_class / 2);
    return size_class % 2 == 0 ? power : power + power / 2;
}

static uint16_t class_capacity(unsigned size_class) {
    return (uint16_t)((class_bytes(size_class) - sizeof(struct blocks_page)) /
                      sizeof(struct slot));
}

/* Multiplicative hashing spreads the strides in which allocators lay blocks out. */
static inline uint32_t slot_home(const struct blocks_page *page, uint32_t granule) {
    uint32_t hash = granule * UINT32_C(0x9e3779b1);
    return (uint32_t)(((uint64_t)hash * page->capacity) >> 32);
}

static inline uint32_t slot_next(const struct blocks_page *page, uint32_t index) {
    return index + 1 < page->capacity ? index + 1 : 0;
}

static inline struct slot slot_pack(uint32_t granule, struct block block) {
    return (struct slot){
        .birth_granule = granule | block.birth << GRANULE_BITS,
        .size_low = (uint32_t)block.size_bytes,
        .site_size_high = (uint32_t)(block.size_bytes >> 32) | (block.site + 1)
                                                                   << (BLOCKS_SIZE_BITS - 32),
    };
}

static inline struct block slot_unpack(const struct slot *slot) {
    uint32_t high_mask = (UINT32_C(1) << (BLOCKS_SIZE_BITS - 32)) - 1;
    return (struct block){
        .size_bytes = slot->size_low | (uint64_t)(slot->site_size_high & high_mask) << 32,
        .site = (slot->site_size_high >> (BLOCKS_SIZE_BITS - 32)) - 1,
        .birth = slot->birth_granule >> GRANULE_BITS,
    };
}

/*
 * More memory for tables. A program with many blocks gets it in huge pages: its tables are
 * written all over, and a fault for every 4 KiB of them costs more than filling them.
 */
static bool arena_new(struct blocks *blocks) {
    size_t bytes = blocks->arena_bytes > 0 ? blocks->arena_bytes : FIRST_ARENA_BYTES;
    size_t slack = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : 0;
    unsigned char *arena = sysmem_map(bytes + slack);
    if (arena == NULL)
        return false;
    if (slack > 0) {
        arena += -(uintptr_t)arena % HUGE_PAGE_BYTES;
        sysmem_prefer_huge_pages(arena, bytes);
    }
    blocks->arena = arena;
    blocks->arena_left_bytes = bytes;
    if (bytes < LARGEST_ARENA_BYTES)
        blocks->arena_bytes = bytes * 2;
    return true;
}

static struct blocks_page *table_new(struct blocks *blocks, unsigned size_class) {
    size_t bytes = class_bytes(size_class);
    struct blocks_page *page = blocks->free_tables[size_class];

    if (page != NULL) {
        memcpy(&blocks->free_tables[size_class], page, sizeof(void *));
        memset(page, 0, bytes);
    } else {
        if (blocks->arena_left_bytes < bytes && !arena_new(blocks))
            return NULL;
        page = (struct blocks_page *)(void *)blocks->arena;
        blocks->arena += bytes;
        blocks->arena_left_bytes -= bytes;
    }
    page->capacity = class_capacity(size_class);
    page->limit = (uint16_t)(page->capacity - page->capacity / 8);
    page->size_class = (uint16_t)size_class;
    return page;
}

static void table_free(struct blocks *blocks, struct blocks_page *page) {
    unsigned size_class = page->size_class;
    memcpy(page, &blocks->free_tables[size_class], sizeof(void *));
    blocks->free_tables[size_class] = page;
}

/* The slot of @granule, or the empty one where it belongs. */
static inline struct slot *table_find(struct blocks_page *page, uint32_t granule) {
    uint32_t index = slot_home(page, granule);
    for (;;) {
        struct slot *slot = &page->slots[index];
        if (slot->site_size_high == 0 || (slot->birth_granule & GRANULE_MASK) == granule)
            return slot;
        index = slot_next(page, index);
    }
}

static struct blocks_page *table_grow(struct blocks *blocks, struct blocks_page *page) {
    /* Small tables grow by 2 and large ones by 1.33 or 1.5: few moves, little slack. */
    unsigned step = page->capacity < 300 ? 2 : 1;
    struct blocks_page *larger = table_new(blocks, page->size_class + step);
    if (larger == NULL)
        return NULL;
    for (uint32_t i = 0; i < page->capacity; i++) {
        if (page->slots[i].site_size_high == 0)
            continue;
        *table_find(larger, page->slots[i].birth_granule & GRANULE_MASK) = page->slots[i];
    }
    larger->used = page->used;
    table_free(blocks, page);
    return larger;
}

/* Close the gap that a removed slot leaves, so that probing never needs tombstones. */
static void table_erase(struct blocks_page *page, uint32_t gap) {
    for (uint32_t i = slot_next(page, gap); page->slots[i].site_size_high != 0;
         i = slot_next(page, i)) {
        uint32_t home = slot_home(page, page->slots[i].birth_granule & GRANULE_MASK);
        bool home_after_gap = gap <= i ? (home > gap && home <= i) : (home > gap || home <= i);
        if (home_after_gap)
            continue;
        page->slots[gap] = page->slots[i];
        gap = i;
    }
    page->slots[gap].site_size_high = 0;
    page->used--;
}

int blocks_init(struct blocks *blocks) {
    *blocks = (struct blocks){.roots = sysmem_map(ROOTS * sizeof(void *))};
    return blocks->roots != NULL ? 0 : -ENOMEM;
}

/* The place of the page pointer of @address; NULL when it cannot be had. */
static struct blocks_page **page_place(struct blocks *blocks, uintptr_t address) {
    struct blocks_page ***root = &blocks->roots[address >> ROOT_SHIFT];
    if (__builtin_expect(*root == NULL, 0)) {
        *root = sysmem_map(PAGES_PER_ROOT * sizeof(void *));
        if (*root == NULL)
            return NULL;
    }
    return &(*root)[(address >> PAGE_SHIFT) % PAGES_PER_ROOT];
}

/*
 * A new page will likely hold about as many blocks as the one before it: half its capacity to
 * begin with saves most of the moves that growing costs, and wastes little where it is wrong.
 */
static unsigned first_class(struct blocks_page **place) {
    bool has_neighbour = ((uintptr_t)place / sizeof(*place)) % PAGES_PER_ROOT != 0;
    const struct blocks_page *neighbour = has_neighbour ? place[-1] : NULL;
    if (neighbour == NULL || neighbour->size_class < 3 ||
        neighbour->used < neighbour->limit / 2)
        return 0;
    return neighbour->size_class - 2u;
}

static struct blocks_page *page_make_room(struct blocks *blocks, struct blocks_page **place) {
    struct blocks_page *page =
        *place == NULL ? table_new(blocks, first_class(place)) : table_grow(blocks, *place);
    if (page != NULL)
        *place = page;
    return page;
}

/* Enter a block in its page's table. Returns 0 or -ENOMEM. */
static int page_insert(struct blocks *blocks, uintptr_t address, const struct block *block,
                       struct block *ret_old, bool *ret_stale) {
    struct blocks_page **place = page_place(blocks, address);
    if (place == NULL)
        return -ENOMEM;
    struct blocks_page *page = *place;
    if (__builtin_expect(page == NULL || page->used >= page->limit, 0)) {
        page = page_make_room(blocks, place);
        if (page == NULL)
            return -ENOMEM;
    }
    uint32_t granule = (uint32_t)(address >> GRANULE_SHIFT) & GRANULE_MASK;
    struct slot *slot = table_find(page, granule);
    if (__builtin_expect(slot->site_size_high != 0, 0)) {
        *ret_old = slot_unpack(slot);
        *ret_stale = true;
    } else {
        page->used++;
    }
    *slot = slot_pack(granule, *block);
    return 0;
}

__attribute__((noinline)) int blocks_make_way(struct blocks *blocks,
                                              const struct blocks_recent *recent,
                                              uintptr_t address, struct block *ret_old,
                                              bool *ret_stale) {
    int r = 0;
    *ret_stale = recent->address == address;
    if (!*ret_stale)
        r = page_insert(blocks, recent->address, &recent->block, ret_old, ret_stale);
    if (r < 0 || recent->address == address)
        *ret_old = recent->block;
    return r;
}

__attribute__((noinline)) bool blocks_page_remove(struct blocks *blocks, uintptr_t address,
                                                  struct block *ret_block) {
    struct blocks_page **root = blocks->roots[address >> ROOT_SHIFT];
    if (__builtin_expect(root == NULL, 0))
        return false;
    struct blocks_page **place = &root[(address >> PAGE_SHIFT) % PAGES_PER_ROOT];
    struct blocks_page *page = *place;
    if (__builtin_expect(page == NULL, 0))
        return false;

    struct slot *slot = table_find(page, (uint32_t)(address >> GRANULE_SHIFT) & GRANULE_MASK);
    if (slot->site_size_high == 0)
        return false;
    *ret_block = slot_unpack(slot);
    table_erase(page, (uint32_t)(slot - page->slots));
    if (page->used == 0 && page->size_class > 4) {
        *place = NULL;
        table_free(blocks, page);
    }
    return true;
}
