/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.c: memory for the table of live blocks; what happens at every event is in blocks.h.
 *
 * Pages stay once they are made; segments go to a list when their page is empty, except those
 * of a page that its lane has emptied.
 */
#include "blocks.h"

#include "sysmem.h"

#define FIRST_ARENA_BYTES   ((size_t)1 << 20)
#define LARGEST_ARENA_BYTES ((size_t)8 << 20)
#define ROOTS               (UINT64_C(1) << (BLOCKS_ADDRESS_BITS - BLOCKS_ROOT_SHIFT))

_Static_assert(BLOCKS_SLOTS_MAX <= BLOCKS_NEXT_MASK,
               "a slot's number fits its place in a slot");
_Static_assert(BLOCKS_WIDE_BIRTH - BLOCKS_SLOT_SITE == BLOCKS_NEXT_BITS, "and in a wide one");
_Static_assert(BLOCKS_SLOT_SITE - BLOCKS_SLOT_SIZE == 14 && BLOCKS_WIDE == (1 << 14) - 1,
               "a short block's size fits");
_Static_assert(BLOCKS_SLOT_BIRTH - BLOCKS_SLOT_SITE == BLOCKS_SITE_BITS, "and its site");
_Static_assert(BLOCKS_WIDE_BIRTH_BITS + 64 - BLOCKS_SECOND_BIRTH >= BLOCKS_BIRTH_BITS,
               "two slots hold a birth");
_Static_assert(sizeof(union blocks_segment) % _Alignof(struct blocks_page) == 0,
               "pages and segments are taken from one arena");

int blocks_init(struct blocks *blocks) {
    *blocks = (struct blocks){.roots = sysmem_map(ROOTS * sizeof(void *))};
    return blocks->roots != NULL ? 0 : -ENOMEM;
}

static bool arena_new(struct blocks *blocks) {
    size_t bytes = blocks->arena_bytes > 0 ? blocks->arena_bytes : FIRST_ARENA_BYTES;
    unsigned char *arena = sysmem_map(bytes);
    if (arena == NULL)
        return false;
    blocks->arena = arena;
    blocks->arena_left_bytes = bytes;
    if (bytes < LARGEST_ARENA_BYTES)
        blocks->arena_bytes = bytes * 2;
    return true;
}

static void *arena_take(struct blocks *blocks, size_t bytes) {
    if (blocks->arena_left_bytes < bytes && !arena_new(blocks))
        return NULL;
    void *taken = blocks->arena;
    blocks->arena += bytes;
    blocks->arena_left_bytes -= bytes;
    return taken;
}

static union blocks_segment *segment_new(struct blocks *blocks) {
    union blocks_segment *segment = blocks->free_segments;
    if (segment == NULL)
        return arena_take(blocks, sizeof(*segment));
    blocks->free_segments = segment->next_free;
    return segment;
}

static void segment_give_back(struct blocks *blocks, union blocks_segment *segment) {
    segment->next_free = blocks->free_segments;
    blocks->free_segments = segment;
}

/* Where the page keeps the pointer to a segment; NULL if memory for that place is refused. */
static union blocks_segment **segment_place(struct blocks *blocks, struct blocks_page *page,
                                            uint32_t index) {
    if (index < BLOCKS_DIRECT_SEGMENTS)
        return &page->direct[index];
    index -= BLOCKS_DIRECT_SEGMENTS;
    union blocks_segment **more = &page->more[index / BLOCKS_SEGMENT_SLOTS];
    if (*more == NULL)
        *more = segment_new(blocks);
    return *more != NULL ? &(*more)->more[index % BLOCKS_SEGMENT_SLOTS] : NULL;
}

/*
 * Lanes look up pages without the lock: a pointer is published after what it leads to is there,
 * and after it is said whose the page is, or lane 0 would begin to use another's.
 */
static struct blocks_page *page_new(struct blocks *blocks, uintptr_t address, uint32_t lane) {
    struct blocks_page ***root = &blocks->roots[address >> BLOCKS_ROOT_SHIFT];
    if (*root == NULL) {
        struct blocks_page **pages = sysmem_map(BLOCKS_PAGES_PER_ROOT * sizeof(*pages));
        if (pages == NULL)
            return NULL;
        __atomic_store_n(root, pages, __ATOMIC_RELEASE);
    }
    struct blocks_page *page = arena_take(blocks, sizeof(*page));
    if (page == NULL)
        return NULL;
    page->lane = (uint16_t)lane;
    __atomic_store_n(&(*root)[(address >> BLOCKS_PAGE_SHIFT) % BLOCKS_PAGES_PER_ROOT], page,
                     __ATOMIC_RELEASE);
    return page;
}

/* As blocks_make_room(); a page that is made belongs to @lane. */
static struct blocks_page *page_with_room(struct blocks *blocks, uintptr_t address,
                                          uint32_t lane) {
    struct blocks_page *page = blocks_page_of(blocks, address);
    if (page == NULL)
        page = page_new(blocks, address, lane);
    if (page == NULL || blocks_has_room(page))
        return page;

    union blocks_segment **place =
        segment_place(blocks, page, page->capacity / BLOCKS_SEGMENT_SLOTS);
    union blocks_segment *segment = place != NULL ? segment_new(blocks) : NULL;
    if (segment == NULL)
        return NULL;
    *place = segment;
    page->capacity += BLOCKS_SEGMENT_SLOTS;
    return page;
}

struct blocks_page *blocks_make_room(struct blocks *blocks, uintptr_t address) {
    return page_with_room(blocks, address, 0);
}

bool blocks_claim(struct blocks *blocks, uintptr_t address, uint32_t lane) {
    if (!blocks_can_hold(address, 0))
        return false;
    struct blocks_page *page = page_with_room(blocks, address, lane);
    if (page == NULL)
        return false;
    __atomic_store_n(&page->lane, (uint16_t)lane, __ATOMIC_RELEASE);
    return true;
}

__attribute__((noinline)) void blocks_page_empty(struct blocks *blocks,
                                                 struct blocks_page *page) {
    /* One segment stays: a page whose only block comes and goes must not come here for long. */
    while (page->capacity > BLOCKS_SEGMENT_SLOTS) {
        page->capacity -= BLOCKS_SEGMENT_SLOTS;
        segment_give_back(blocks,
                          blocks_segment_at(page, page->capacity / BLOCKS_SEGMENT_SLOTS));
    }
    for (size_t i = 0; i < BLOCKS_MORE_SEGMENTS && page->more[i] != NULL; i++) {
        segment_give_back(blocks, page->more[i]);
        page->more[i] = NULL;
    }
    page->fresh = 0;
    page->free = 0;
}

/*
 * What a slot tells of a block that is not short; the rest goes to a second slot. Where the
 * page is empty, the block may become the first of its births instead, and short.
 */
static uint64_t wide_word(struct blocks_page *page, const struct block *block) {
    if (page->used == 0) {
        page->birth = block->birth;
        if (blocks_is_short(page, block))
            return blocks_short_word(page, block);
    }
    uint64_t *second;
    uint64_t number = blocks_slot_take(page, &second);
    *second = block->size_bytes | (uint64_t)block->site << BLOCKS_SECOND_SITE |
              (uint64_t)block->birth >> BLOCKS_WIDE_BIRTH_BITS << BLOCKS_SECOND_BIRTH;
    return (uint64_t)BLOCKS_WIDE << BLOCKS_SLOT_SIZE | number << BLOCKS_SLOT_SITE |
           (uint64_t)block->birth << BLOCKS_WIDE_BIRTH;
}

__attribute__((noinline)) void blocks_wide_take(struct blocks_page *page, uint64_t word,
                                                struct block *ret_block) {
    uint32_t number = (uint32_t)(word >> BLOCKS_SLOT_SITE & BLOCKS_NEXT_MASK);
    uint64_t *second = blocks_slot_at(page, number);
    ret_block->size_bytes = *second & BLOCKS_SIZE_MAX;
    ret_block->site = (uint32_t)(*second >> BLOCKS_SECOND_SITE) & BLOCKS_SITE_MASK;
    ret_block->birth = (uint32_t)(word >> BLOCKS_WIDE_BIRTH) |
                       (uint32_t)(*second >> BLOCKS_SECOND_BIRTH) << BLOCKS_WIDE_BIRTH_BITS;
    blocks_slot_give(page, number, second);
}

/* Enter the block at @address in @page, where it is not yet, and where there is room. */
static void put_in(struct blocks_page *page, uintptr_t address, const struct block *block) {
    uint64_t word =
        blocks_is_short(page, block) ? blocks_short_word(page, block) : wide_word(page, block);
    uint64_t *slot;
    uint32_t number = blocks_slot_take(page, &slot);
    uint16_t *head = &page->heads[blocks_unit(address)];
    *slot = word | (uint64_t)blocks_part(address) << BLOCKS_SLOT_PART | *head;
    *head = (uint16_t)number;
}

static bool is_in(const struct blocks_page *page, uintptr_t address) {
    uint32_t at = page->heads[blocks_unit(address)];
    while (at != 0) {
        uint64_t word = *blocks_slot_at(page, at);
        if (blocks_slot_has_part(word, blocks_part(address)))
            return true;
        at = (uint32_t)(word & BLOCKS_NEXT_MASK);
    }
    return false;
}

__attribute__((noinline)) int
blocks_page_insert_slowly(struct blocks *blocks, uintptr_t address, const struct block *block,
                          struct block *ret_old, bool *ret_stale) {
    /* Room first: one block can be told to be lost, not also the older one at its address. */
    struct blocks_page *page = blocks_make_room(blocks, address);
    if (page == NULL)
        return -ENOMEM;
    *ret_stale = blocks_take_out(page, address, ret_old);
    put_in(page, address, block);
    return 0;
}

__attribute__((noinline)) enum blocks_answer
blocks_lane_insert_slowly(struct blocks_page *page, uintptr_t address,
                          const struct block *block) {
    if (is_in(page, address))
        return BLOCKS_THERE;
    if (!blocks_has_room(page))
        return BLOCKS_FULL;
    put_in(page, address, block);
    return BLOCKS_DONE;
}

__attribute__((noinline)) int blocks_settle_latest(struct blocks *blocks, uintptr_t address,
                                                   struct block *ret_old, bool *ret_stale) {
    if (blocks->latest_address == address) {
        *ret_old = blocks->latest;
        *ret_stale = true;
        return 0;
    }
    int r =
        blocks_page_insert(blocks, blocks->latest_address, &blocks->latest, ret_old, ret_stale);
    if (r < 0)
        *ret_old = blocks->latest;
    return r;
}
