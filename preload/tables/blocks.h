/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h: the table of live blocks, address -> size, site and birth.
 *
 *     address   46           32 31           16 15   6 5    3 2   0
 *               [ root index  ] [ page index  ] [ unit ] [ part ] [ 0 ]
 *
 * Two levels of pointers, mapped lazily, lead to the page of an address: 64 KiB of addresses.
 * The page has a head for each unit of 64 bytes, the number of the slot of the block that
 * starts in it; where blocks are smaller, the slots of one unit form a chain. Slots lie in
 * segments that are added as the page fills: nothing is hashed, moved or doubled, and what is
 * spent is 3.6 % of the heap's addresses and 8 bytes a block.
 *
 *     slot      63        52 51         32 31         18 17  15 14           0
 *     short     [ birth : 12][ site : 20 ] [ size : 14 ] [part] [ next : 15  ]
 *     wide      [ birth : 17 | slot : 15 ] [ all ones  ] [part] [ next : 15  ]
 *      its slot [ birth : 4 | site : 20  | size : 40                         ]
 *
 * The birth of a short one counts from the page's first birth. A block of 16383 bytes or more,
 * or whose birth is not among the 4096 from there, is wide: it takes a second slot. Numbers of
 * slots count from 1; 0 is none.
 *
 * The latest block waits outside, because most blocks die young: one that is freed before the
 * next is allocated never enters a page.
 *
 * The recorder's lock guards all of it, except for the lane functions: a page belongs to a
 * lane, whose thread may enter and take out blocks there without the lock, while others make
 * pages and segments for other addresses under it. Lane 0 is the lock itself.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_ADDRESS_BITS 47
#define BLOCKS_SIZE_BITS    40 /* 1 TiB */
#define BLOCKS_SITE_BITS    20
#define BLOCKS_BIRTH_BITS   19
#define BLOCKS_SIZE_MAX     ((UINT64_C(1) << BLOCKS_SIZE_BITS) - 1)
#define BLOCKS_SITE_MASK    ((UINT32_C(1) << BLOCKS_SITE_BITS) - 1)
#define BLOCKS_SITE_MAX     ((UINT32_C(1) << BLOCKS_SITE_BITS) - 2)
#define BLOCKS_BIRTH_MAX    ((UINT32_C(1) << BLOCKS_BIRTH_BITS) - 1)

#define BLOCKS_ROOT_SHIFT      32
#define BLOCKS_PAGE_SHIFT      16
#define BLOCKS_UNIT_SHIFT      6
#define BLOCKS_PART_SHIFT      3
#define BLOCKS_PAGES_PER_ROOT  (1u << (BLOCKS_ROOT_SHIFT - BLOCKS_PAGE_SHIFT))
#define BLOCKS_UNITS           (1u << (BLOCKS_PAGE_SHIFT - BLOCKS_UNIT_SHIFT))
#define BLOCKS_PARTS           (1u << (BLOCKS_PAGE_SHIFT - BLOCKS_PART_SHIFT))
#define BLOCKS_SLOTS_MAX       (2 * BLOCKS_PARTS)
#define BLOCKS_SEGMENT_SLOTS   64u
#define BLOCKS_SEGMENTS        (BLOCKS_SLOTS_MAX / BLOCKS_SEGMENT_SLOTS)
#define BLOCKS_DIRECT_SEGMENTS 32u /* enough for a block in every 32 bytes */
#define BLOCKS_MORE_SEGMENTS                                                                   \
    ((BLOCKS_SEGMENTS - BLOCKS_DIRECT_SEGMENTS + BLOCKS_SEGMENT_SLOTS - 1) /                   \
     BLOCKS_SEGMENT_SLOTS)

/* Where the fields of a slot's word begin, and of a second slot's. */
#define BLOCKS_NEXT_BITS       15
#define BLOCKS_NEXT_MASK       ((UINT64_C(1) << BLOCKS_NEXT_BITS) - 1)
#define BLOCKS_SLOT_PART       15
#define BLOCKS_SLOT_SIZE       18
#define BLOCKS_SLOT_SITE       32
#define BLOCKS_SLOT_BIRTH      52
#define BLOCKS_WIDE            0x3fffu /* the size of a block that has a second slot */
#define BLOCKS_SHORT_BIRTHS    (1u << (64 - BLOCKS_SLOT_BIRTH))
#define BLOCKS_WIDE_BIRTH      47
#define BLOCKS_WIDE_BIRTH_BITS (64 - BLOCKS_WIDE_BIRTH)
#define BLOCKS_SECOND_SITE     BLOCKS_SIZE_BITS
#define BLOCKS_SECOND_BIRTH    (BLOCKS_SIZE_BITS + BLOCKS_SITE_BITS)

struct block {
    uint64_t size_bytes; /* requested; at most BLOCKS_SIZE_MAX */
    uint32_t site;       /* at most BLOCKS_SITE_MAX */
    uint32_t birth;      /* regions begun when it was allocated; at most BLOCKS_BIRTH_MAX */
};

union blocks_segment {
    uint64_t slots[BLOCKS_SEGMENT_SLOTS];
    union blocks_segment *more[BLOCKS_SEGMENT_SLOTS]; /* of a page with many slots */
    union blocks_segment *next_free;
};

struct blocks_page {
    uint16_t lane;     /* who may use the page; 0: who holds the lock */
    uint16_t used;     /* slots */
    uint16_t capacity; /* slots in its segments */
    uint16_t fresh;    /* slots from here on were never used */
    uint16_t free;     /* the first that was given back, chained by next */
    uint32_t birth;    /* of the first block since it was empty, or 0 */
    union blocks_segment *more[BLOCKS_MORE_SEGMENTS]; /* lead to those beyond the direct ones */
    union blocks_segment *direct[BLOCKS_DIRECT_SEGMENTS];
    uint16_t heads[BLOCKS_UNITS]; /* the slot of the unit's first block */
} __attribute__((aligned(64)));

/* What a lane function did. All but BLOCKS_DONE: nothing. */
enum blocks_answer {
    BLOCKS_DONE,
    BLOCKS_ELSEWHERE, /* there is no page, it is another lane's, or the table cannot hold it */
    BLOCKS_FULL,      /* insert: the page has no room without new memory */
    BLOCKS_THERE,     /* insert: a block is at that address, whose free was not seen */
    BLOCKS_ABSENT,    /* remove: the page has no such block */
};

struct blocks {
    uintptr_t latest_address; /* 0: none */
    struct block latest;
    struct blocks_page ***roots; /* address bits 46..32 -> address bits 31..16 -> page */
    union blocks_segment *free_segments; /* given back, for the next page that fills */
    unsigned char *arena;                /* memory for pages and segments */
    size_t arena_left_bytes;
    size_t arena_bytes; /* of the next arena; 0: the first */
};

/* Returns 0 or -ENOMEM. */
int blocks_init(struct blocks *blocks);

/*
 * The page of @address, made if need be with room for a block more; NULL if memory is refused.
 * A page that is made belongs to lane 0.
 */
struct blocks_page *blocks_make_room(struct blocks *blocks, uintptr_t address);

/*
 * As blocks_make_room(), and the page belongs to @lane (at most UINT16_MAX) from now on. Nobody
 * else may be using the page: it is new, @lane's already, lane 0's, or its owner is stopped.
 * False if memory is refused or the table cannot hold @address.
 */
bool blocks_claim(struct blocks *blocks, uintptr_t address, uint32_t lane);

/* The last block of @page is gone: give its segments back. */
void blocks_page_empty(struct blocks *blocks, struct blocks_page *page);

/*
 * Another block, at @address, becomes the latest: enter the one that was in its page. As
 * blocks_insert() otherwise.
 */
int blocks_settle_latest(struct blocks *blocks, uintptr_t address, struct block *ret_old,
                         bool *ret_stale);

/* What blocks_page_insert() and blocks_lane_insert() do where blocks_put_first() does not. */
int blocks_page_insert_slowly(struct blocks *blocks, uintptr_t address,
                              const struct block *block, struct block *ret_old,
                              bool *ret_stale);
enum blocks_answer blocks_lane_insert_slowly(struct blocks_page *page, uintptr_t address,
                                             const struct block *block);

/* The wide block that @word and a second slot tell of; that slot is given back. */
void blocks_wide_take(struct blocks_page *page, uint64_t word, struct block *ret_block);

static inline bool blocks_can_hold(uintptr_t address, uint64_t size_bytes) {
    return address >> BLOCKS_ADDRESS_BITS == 0 && size_bytes <= BLOCKS_SIZE_MAX;
}

/* Whether a block more, were it wide, can be entered without new memory. */
static inline bool blocks_has_room(const struct blocks_page *page) {
    return page->used + 2u <= page->capacity;
}

static inline union blocks_segment *blocks_segment_at(const struct blocks_page *page,
                                                      uint32_t index) {
    if (__builtin_expect(index < BLOCKS_DIRECT_SEGMENTS, 1))
        return page->direct[index];
    index -= BLOCKS_DIRECT_SEGMENTS;
    return page->more[index / BLOCKS_SEGMENT_SLOTS]->more[index % BLOCKS_SEGMENT_SLOTS];
}

/* The slot of a number that is not 0. */
static inline uint64_t *blocks_slot_at(const struct blocks_page *page, uint32_t number) {
    return &blocks_segment_at(page, (number - 1) / BLOCKS_SEGMENT_SLOTS)
                ->slots[(number - 1) % BLOCKS_SEGMENT_SLOTS];
}

/* NULL if there is none. Pages never move, so that the answer holds without the lock. */
static inline struct blocks_page *blocks_page_of(const struct blocks *blocks,
                                                 uintptr_t address) {
    struct blocks_page **root =
        __atomic_load_n(&blocks->roots[address >> BLOCKS_ROOT_SHIFT], __ATOMIC_ACQUIRE);
    if (__builtin_expect(root == NULL, 0))
        return NULL;
    return __atomic_load_n(&root[(address >> BLOCKS_PAGE_SHIFT) % BLOCKS_PAGES_PER_ROOT],
                           __ATOMIC_ACQUIRE);
}

/* The page of @address if it belongs to @lane, or NULL. */
static inline struct blocks_page *blocks_lane_page(const struct blocks *blocks, uint32_t lane,
                                                   uintptr_t address) {
    struct blocks_page *page = blocks_page_of(blocks, address);
    if (__builtin_expect(page == NULL, 0))
        return NULL;
    return __atomic_load_n(&page->lane, __ATOMIC_ACQUIRE) == lane ? page : NULL;
}

static inline uint32_t blocks_unit(uintptr_t address) {
    return (uint32_t)(address >> BLOCKS_UNIT_SHIFT) % BLOCKS_UNITS;
}

static inline uint32_t blocks_part(uintptr_t address) {
    return (uint32_t)(address >> BLOCKS_PART_SHIFT) & 7;
}

static inline bool blocks_slot_has_part(uint64_t word, uint32_t part) {
    return (word >> BLOCKS_SLOT_PART & 7) == part;
}

/* The number of a slot of @page, which has room, and the slot. */
static inline uint32_t blocks_slot_take(struct blocks_page *page, uint64_t **ret_slot) {
    uint32_t number = page->free;
    page->used++;
    if (number != 0) {
        *ret_slot = blocks_slot_at(page, number);
        page->free = (uint16_t)(**ret_slot & BLOCKS_NEXT_MASK);
        return number;
    }
    number = ++page->fresh;
    *ret_slot = blocks_slot_at(page, number);
    return number;
}

static inline void blocks_slot_give(struct blocks_page *page, uint32_t number, uint64_t *slot) {
    *slot = page->free;
    page->free = (uint16_t)number;
    page->used--;
}

static inline bool blocks_is_short(const struct blocks_page *page, const struct block *block) {
    /* One jump instead of two; a birth before the page's first comes out as a very late one. */
    return (block->size_bytes < BLOCKS_WIDE) &
           (block->birth - page->birth < BLOCKS_SHORT_BIRTHS);
}

/* What a slot tells of a short block: all but part and next. */
static inline uint64_t blocks_short_word(const struct blocks_page *page,
                                         const struct block *block) {
    return block->size_bytes << BLOCKS_SLOT_SIZE | (uint64_t)block->site << BLOCKS_SLOT_SITE |
           (uint64_t)(block->birth - page->birth) << BLOCKS_SLOT_BIRTH;
}

/* Take the block at @address out of @page, where it belongs. False if it is not there. */
static inline bool blocks_take_out(struct blocks_page *page, uintptr_t address,
                                   struct block *ret_block) {
    uint32_t part = blocks_part(address);
    uint16_t *head = &page->heads[blocks_unit(address)];
    uint64_t *link = NULL; /* in the chain, the word that leads to the slot; NULL: the head */
    for (uint32_t at = *head; at != 0;) {
        uint64_t *slot = blocks_slot_at(page, at);
        uint64_t word = *slot;
        uint64_t next = word & BLOCKS_NEXT_MASK;
        if (__builtin_expect(!blocks_slot_has_part(word, part), 0)) {
            link = slot;
            at = (uint32_t)next;
            continue;
        }
        if (__builtin_expect(link == NULL, 1))
            *head = (uint16_t)next;
        else
            *link = (*link & ~BLOCKS_NEXT_MASK) | next;
        blocks_slot_give(page, at, slot);
        ret_block->size_bytes = word >> BLOCKS_SLOT_SIZE & BLOCKS_WIDE;
        ret_block->site = (uint32_t)(word >> BLOCKS_SLOT_SITE) & BLOCKS_SITE_MASK;
        ret_block->birth = page->birth + (uint32_t)(word >> BLOCKS_SLOT_BIRTH);
        if (__builtin_expect(ret_block->size_bytes == BLOCKS_WIDE, 0))
            blocks_wide_take(page, word, ret_block);
        return true;
    }
    return false;
}

/*
 * Enter the block at @address in @page, where it belongs. False, and nothing is done, unless it
 * is short, the first of its unit and there is room: the usual case, which calls nothing.
 */
static inline bool blocks_put_first(struct blocks_page *page, uintptr_t address,
                                    const struct block *block) {
    uint16_t *head = &page->heads[blocks_unit(address)];
    if (__builtin_expect(*head != 0 || !blocks_has_room(page) || !blocks_is_short(page, block),
                         0))
        return false;
    uint64_t *slot;
    *head = (uint16_t)blocks_slot_take(page, &slot);
    *slot = blocks_short_word(page, block) | (uint64_t)blocks_part(address) << BLOCKS_SLOT_PART;
    return true;
}

/* Take the block at @address out of its page. False if it is not there. */
static inline bool blocks_page_remove(struct blocks *blocks, uintptr_t address,
                                      struct block *ret_block) {
    if (__builtin_expect(!blocks_can_hold(address, 0), 0))
        return false;
    struct blocks_page *page = blocks_page_of(blocks, address);
    if (__builtin_expect(page == NULL || !blocks_take_out(page, address, ret_block), 0))
        return false;
    if (__builtin_expect(page->used == 0, 0))
        blocks_page_empty(blocks, page);
    return true;
}

/* Enter a block in its page. Returns 0 or -ENOMEM; the rest as blocks_insert(). */
static inline int blocks_page_insert(struct blocks *blocks, uintptr_t address,
                                     const struct block *block, struct block *ret_old,
                                     bool *ret_stale) {
    struct blocks_page *page = blocks_page_of(blocks, address);
    if (__builtin_expect(page != NULL && blocks_put_first(page, address, block), 1))
        return 0;
    return blocks_page_insert_slowly(blocks, address, block, ret_old, ret_stale);
}

/*
 * Enter the block at @address. If there was one already, there or where the latest block goes
 * now, a free was not seen: *@ret_stale is then true and *@ret_old what the older entry was; it
 * is gone.
 *
 * Returns 0; -ERANGE for an address or size beyond what the table can hold, and nothing is
 * changed; -ENOMEM when the kernel refuses memory for the block that was the latest until now:
 * that one, *@ret_old, is lost.
 */
static inline int blocks_insert(struct blocks *blocks, uintptr_t address, uint64_t size_bytes,
                                uint32_t site, uint32_t birth, struct block *ret_old,
                                bool *ret_stale) {
    int r = 0;
    *ret_stale = false;
    if (__builtin_expect(!blocks_can_hold(address, size_bytes), 0))
        return -ERANGE;
    if (blocks->latest_address != 0)
        r = blocks_settle_latest(blocks, address, ret_old, ret_stale);
    blocks->latest_address = address;
    blocks->latest.size_bytes = size_bytes;
    blocks->latest.site = site;
    blocks->latest.birth = birth;
    return r;
}

/* Take the block at @address out of the table. False if it is not there. */
static inline bool blocks_remove(struct blocks *blocks, uintptr_t address,
                                 struct block *ret_block) {
    if (blocks->latest_address != address)
        return blocks_page_remove(blocks, address, ret_block);
    /* Field by field, as it was written: a wide load over narrow stores would have to wait. */
    ret_block->size_bytes = blocks->latest.size_bytes;
    ret_block->site = blocks->latest.site;
    ret_block->birth = blocks->latest.birth;
    blocks->latest_address = 0;
    return true;
}

/*
 * Enter the latest block in its page, so that none waits outside. Returns as blocks_insert()
 * does: 0, *@ret_stale set, or -ENOMEM, and *@ret_old is lost.
 */
static inline int blocks_settle(struct blocks *blocks, struct block *ret_old, bool *ret_stale) {
    *ret_stale = false;
    if (blocks->latest_address == 0)
        return 0;
    int r = blocks_settle_latest(blocks, 0, ret_old, ret_stale);
    blocks->latest_address = 0;
    return r;
}

/*
 * The lane functions: what @lane's thread does in its own pages, without the lock. They know
 * nothing of the latest block: who mixes them with blocks_insert() calls blocks_settle() first.
 */

static inline enum blocks_answer blocks_lane_insert(struct blocks *blocks, uint32_t lane,
                                                    uintptr_t address,
                                                    const struct block *block) {
    if (__builtin_expect(!blocks_can_hold(address, block->size_bytes), 0))
        return BLOCKS_ELSEWHERE;
    struct blocks_page *page = blocks_lane_page(blocks, lane, address);
    if (__builtin_expect(page == NULL, 0))
        return BLOCKS_ELSEWHERE;
    if (__builtin_expect(blocks_put_first(page, address, block), 1))
        return BLOCKS_DONE;
    return blocks_lane_insert_slowly(page, address, block);
}

static inline enum blocks_answer blocks_lane_remove(struct blocks *blocks, uint32_t lane,
                                                    uintptr_t address,
                                                    struct block *ret_block) {
    if (__builtin_expect(!blocks_can_hold(address, 0), 0))
        return BLOCKS_ELSEWHERE;
    struct blocks_page *page = blocks_lane_page(blocks, lane, address);
    if (__builtin_expect(page == NULL, 0))
        return BLOCKS_ELSEWHERE;
    if (__builtin_expect(!blocks_take_out(page, address, ret_block), 0))
        return BLOCKS_ABSENT;
    if (__builtin_expect(page->used == 0, 0)) {
        /* The list of free segments is shared: they stay, to be filled from the first again. */
        page->fresh = 0;
        page->free = 0;
    }
    return BLOCKS_DONE;
}
