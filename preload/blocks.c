/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.c: memory for the table of live blocks; what happens at every event is in blocks.h.
 *
 * Pages stay once they are made, segments go to a list when their page is empty.
 */
#include "blocks.h"

#include "sysmem.h"

#define FIRST_ARENA_BYTES   ((size_t)1 << 20)
#define LARGEST_ARENA_BYTES ((size_t)8 << 20)
#define ROOTS               (UINT64_C(1) << (BLOCKS_ADDRESS_BITS - BLOCKS_ROOT_SHIFT))

_Static_assert(BLOCKS_SLOTS_MAX < 1u << 14, "a slot's number fits its place in a slot");
_Static_assert(sizeof(struct blocks_slot) == 12, "slots are packed");

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

/* A segment that was given back holds a pointer to the next. */
struct free_segment {
    struct free_segment *next;
};

static struct blocks_slot *segment_new(struct blocks *blocks) {
    struct free_segment *segment = blocks->free_segments;
    if (segment == NULL)
        return arena_take(blocks, BLOCKS_SEGMENT_SLOTS * sizeof(struct blocks_slot));
    blocks->free_segments = segment->next;
    return (struct blocks_slot *)(void *)segment;
}

/*
 * Lanes look up pages without the lock: a pointer is published after what it leads to is there.
 */
static struct blocks_page *page_new(struct blocks *blocks, uintptr_t address) {
    struct blocks_page ***root = &blocks->roots[address >> BLOCKS_ROOT_SHIFT];
    if (*root == NULL) {
        struct blocks_page **pages = sysmem_map(BLOCKS_PAGES_PER_ROOT * sizeof(*pages));
        if (pages == NULL)
            return NULL;
        __atomic_store_n(root, pages, __ATOMIC_RELEASE);
    }
    struct blocks_page *page = arena_take(blocks, sizeof(*page));
    if (page != NULL)
        __atomic_store_n(&(*root)[(address >> BLOCKS_PAGE_SHIFT) % BLOCKS_PAGES_PER_ROOT], page,
                         __ATOMIC_RELEASE);
    return page;
}

struct blocks_page *blocks_make_room(struct blocks *blocks, uintptr_t address) {
    struct blocks_page *page = blocks_page_of(blocks, address);
    if (page == NULL)
        page = page_new(blocks, address);
    if (page == NULL || blocks_has_room(page))
        return page;

    struct blocks_slot *segment = segment_new(blocks);
    if (segment == NULL)
        return NULL;
    page->segments[page->segment_count++] = segment;
    return page;
}

bool blocks_claim(struct blocks *blocks, uintptr_t address, uint32_t lane) {
    if (!blocks_can_hold(address, 0))
        return false;
    struct blocks_page *page = blocks_make_room(blocks, address);
    if (page == NULL)
        return false;
    __atomic_store_n(&page->lane, (uint16_t)lane, __ATOMIC_RELEASE);
    return true;
}

void blocks_page_empty(struct blocks *blocks, struct blocks_page *page) {
    /* One segment stays: a page whose only block comes and goes must not come here for long. */
    while (page->segment_count > 1) {
        struct free_segment *segment =
            (struct free_segment *)(void *)page->segments[--page->segment_count];
        segment->next = blocks->free_segments;
        blocks->free_segments = segment;
    }
    page->fresh = 0;
    page->free = 0;
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
