/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_sites.c: sites of a region <-> packed rows.
 *
 * Most sites are of one of three sorts: allocated and freed again; allocated and kept; there
 * before and untouched. So a row's pairs stand in an order in which each is mostly zero or the
 * same as the one before it, and either costs half a byte. What is packed may come from a
 * hostile file: every list is checked for its order, and no sum wraps.
 */
#include "store_sites.h"

#include "store_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct store_site *site_at(const struct store_sites *sites, size_t i) {
    return (const struct store_site *)sites->list.items + i;
}

static int site_compare(const void *a, const void *b) {
    const struct store_site *left = a;
    const struct store_site *right = b;
    if (left->stack != right->stack)
        return left->stack < right->stack ? -1 : 1;
    return (left->kind > right->kind) - (left->kind < right->kind);
}

static bool pairs_equal(const struct profile_pair *a, const struct profile_pair *b) {
    return a->blocks == b->blocks && a->bytes == b->bytes;
}

static bool numbers_equal(const struct store_site *a, const struct store_site *b) {
    return pairs_equal(&a->allocated, &b->allocated) && pairs_equal(&a->peak, &b->peak) &&
           pairs_equal(&a->end, &b->end) && pairs_equal(&a->start, &b->start) &&
           a->temporary == b->temporary;
}

/* Sums of numbers that profile_check() bounds; a wrap would be found by it when read again. */
static int64_t sum(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void pair_add(struct profile_pair *to, const struct profile_pair *pair) {
    to->blocks = sum(to->blocks, pair->blocks);
    to->bytes = sum(to->bytes, pair->bytes);
}

static void merge_same(struct store_sites *sites) {
    struct store_site *items = sites->list.items;
    size_t kept = 0;
    for (size_t i = 0; i < sites->list.count; i++) {
        if (kept == 0 || site_compare(&items[kept - 1], &items[i]) != 0) {
            items[kept++] = items[i];
            continue;
        }
        struct store_site *same = &items[kept - 1];
        pair_add(&same->allocated, &items[i].allocated);
        pair_add(&same->peak, &items[i].peak);
        pair_add(&same->end, &items[i].end);
        pair_add(&same->start, &items[i].start);
        same->temporary = sum(same->temporary, items[i].temporary);
    }
    sites->list.count = kept;
}

bool store_sites_adds_up(const struct store_site *site, int64_t freed_blocks,
                         int64_t freed_bytes) {
    return sum(site->start.blocks, site->allocated.blocks) ==
               sum(site->end.blocks, freed_blocks) &&
           sum(site->start.bytes, site->allocated.bytes) == sum(site->end.bytes, freed_bytes);
}

int store_sites_collect(const struct profile *profile, const struct profile_region *region,
                        const int64_t *stacks, struct store_sites *ret_sites,
                        struct fault *fault) {
    struct store_sites sites = STORE_SITES_NONE;
    for (size_t i = 0; i < region->rows_count; i++) {
        const struct profile_row *row = &region->rows[i];
        const struct profile_site *site = &profile->sites[row->site];
        const struct store_site taken = {
            .stack = stacks[site->node],
            .kind = site->space + STORE_SITE_SPACES * (int64_t)site->flags,
            .allocated = row->allocated,
            .peak = row->peak,
            .end = row->end,
            .start = row->start,
            .temporary = row->temporary,
        };
        bool adds_up = store_sites_adds_up(&taken, row->freed.blocks, row->freed.bytes);
        struct store_site *slot = adds_up ? vector_add(&sites.list) : NULL;
        if (!slot) {
            store_sites_finish(&sites);
            return adds_up
                       ? fault_set(fault, -ENOMEM, "out of memory")
                       : fault_set(fault, -EBADMSG,
                                   "a call site of region '%s' does not add up", region->name);
        }
        *slot = taken;
    }
    if (sites.list.count > 1)
        qsort(sites.list.items, sites.list.count, sizeof(struct store_site), site_compare);
    merge_same(&sites);
    *ret_sites = sites;
    return 0;
}

bool store_sites_equal(const struct store_sites *a, const struct store_sites *b,
                       int64_t shift) {
    if (a->list.count != b->list.count)
        return false;
    for (size_t i = 0; i < a->list.count; i++) {
        const struct store_site *left = site_at(a, i);
        const struct store_site *right = site_at(b, i);
        if (sum(left->stack, shift) != right->stack || left->kind != right->kind ||
            !numbers_equal(left, right))
            return false;
    }
    return true;
}

int64_t store_sites_first(const struct store_sites *sites) {
    return sites->list.count > 0 ? site_at(sites, 0)->stack : 0;
}

int64_t store_sites_shift(const struct store_sites *sites, const struct store_sites *base,
                          int place, int places) {
    size_t count = sites->list.count;
    size_t others = base->list.count;
    if (count == 0 || others == 0)
        return 0;
    size_t at = (count - 1) * (size_t)place / (size_t)(places - 1);
    size_t other = (others - 1) * (size_t)place / (size_t)(places - 1);
    return site_at(sites, at)->stack - site_at(base, other)->stack;
}

/* The finalizer of splitmix64 over one number after the other. Not against an adversary: sets
 * of the same digest are compared. */
int64_t store_sites_digest(const struct store_sites *sites) {
    uint64_t hash = sites->list.count;
    int64_t first = store_sites_first(sites);
    for (size_t i = 0; i < sites->list.count; i++) {
        const struct store_site *s = site_at(sites, i);
        const int64_t numbers[] = {
            s->stack - first, s->kind,         s->allocated.blocks, s->allocated.bytes,
            s->temporary,     s->peak.bytes,   s->peak.blocks,      s->end.blocks,
            s->end.bytes,     s->start.blocks, s->start.bytes,
        };
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
            hash = hash * 0x9e3779b97f4a7c15u + (uint64_t)numbers[k];
            hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
            hash ^= hash >> 27;
        }
    }
    return (int64_t)hash;
}

static void pair_pack(struct pack *pack, const struct profile_pair *pair,
                      const struct profile_pair *before) {
    if (pair->blocks == 0 && pair->bytes == 0) {
        pack_mark(pack, PACK_ZEROS);
    } else if (before && pairs_equal(pair, before)) {
        pack_mark(pack, PACK_SAME);
    } else {
        pack_mark(pack, PACK_NEXT);
        pack_number(pack, pair->blocks);
        pack_mark(pack, PACK_NEXT);
        pack_number(pack, pair->bytes);
    }
}

/* Zeros at the end of a row are left out. */
static void site_pack(struct pack *pack, const struct store_site *site, int64_t *stack,
                      int64_t own_stack) {
    const struct profile_pair *const pairs[] = {&site->peak, &site->end, &site->start};
    const struct profile_pair *before = &site->allocated;
    size_t kept;
    if (pack->nibbles > 0)
        pack_mark(pack, PACK_ROW);
    pack_number(pack, own_stack - *stack);
    *stack = own_stack;
    kept = pack->nibbles;
    if (site->gone)
        pack_mark(pack, PACK_SAME);
    else
        pair_pack(pack, &site->allocated, NULL);
    if (site->gone || site->allocated.blocks != 0 || site->allocated.bytes != 0)
        kept = pack->nibbles;
    if (site->temporary != 0) {
        pack_mark(pack, PACK_NEXT);
        pack_number(pack, site->temporary);
        kept = pack->nibbles;
    } else {
        pack_mark(pack, PACK_NULL);
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); before = pairs[i++]) {
        pair_pack(pack, site->gone ? &(struct profile_pair){0} : pairs[i], before);
        if (!site->gone && (pairs[i]->blocks != 0 || pairs[i]->bytes != 0))
            kept = pack->nibbles;
    }
    if (site->kind != 0) {
        pack_mark(pack, PACK_NEXT);
        pack_number(pack, site->kind);
        kept = pack->nibbles;
    }
    pack_shorten(pack, kept);
}

/* What is in one list, in the other, or in both, side by side: stacks of @sites less @origin. */
static void difference_pack(struct pack *pack, const struct store_sites *sites, int64_t origin,
                            const struct store_sites *base) {
    int64_t stack = 0;
    size_t i = 0;
    size_t k = 0;
    while (i < sites->list.count || k < base->list.count) {
        struct store_site now = {0};
        struct store_site gone = {0};
        int order = i == sites->list.count ? 1 : -1;
        if (i < sites->list.count) {
            now = *site_at(sites, i);
            now.stack -= origin;
        }
        if (k < base->list.count)
            gone = *site_at(base, k);
        if (i < sites->list.count && k < base->list.count)
            order = site_compare(&now, &gone);
        gone.gone = true;
        gone.temporary = 0;
        if (order > 0)
            site_pack(pack, &gone, &stack, gone.stack);
        else if (order < 0 || !numbers_equal(&now, site_at(base, k)))
            site_pack(pack, &now, &stack, now.stack);
        i += order <= 0;
        k += order >= 0;
    }
}

int store_sites_pack(const struct store_sites *sites, int64_t origin,
                     const struct store_sites *base, unsigned char **ret_bytes,
                     size_t *ret_size) {
    struct pack pack = {0};
    int64_t stack = 0;
    if (base)
        difference_pack(&pack, sites, origin, base);
    for (size_t i = 0; !base && i < sites->list.count; i++)
        site_pack(&pack, site_at(sites, i), &stack, site_at(sites, i)->stack - origin);
    if (pack.refused) {
        pack_finish(&pack);
        return -ENOMEM;
    }
    *ret_bytes = pack.bytes;
    *ret_size = pack_size(&pack);
    return 0;
}

/* One field of a row that may be left out. */
enum field { FIELD_NUMBER, FIELD_NULL, FIELD_PAIR_OF_NULLS, FIELD_SAME, FIELD_NONE, FIELD_BAD };

static enum field field_take(struct unpack *unpack, int64_t *ret_number) {
    int mark = unpack_peek(unpack);
    *ret_number = 0;
    if (mark == PACK_END || mark == PACK_ROW)
        return FIELD_NONE;
    unpack->at++;
    if (mark == PACK_NEXT)
        return unpack_number(unpack, ret_number) ? FIELD_NUMBER : FIELD_BAD;
    return mark == PACK_NULL    ? FIELD_NULL
           : mark == PACK_ZEROS ? FIELD_PAIR_OF_NULLS
           : mark == PACK_SAME  ? FIELD_SAME
                                : FIELD_BAD;
}

/* False when what stands here is no pair. @same is set when it says "=". */
static bool pair_take(struct unpack *unpack, struct profile_pair *ret_pair, bool *ret_same) {
    enum field field = field_take(unpack, &ret_pair->blocks);
    *ret_same = field == FIELD_SAME;
    ret_pair->bytes = 0;
    if (field == FIELD_NUMBER)
        return field_take(unpack, &ret_pair->bytes) == FIELD_NUMBER;
    if (field == FIELD_NULL) /* the half byte that fills the last one */
        return unpack_peek(unpack) == PACK_END;
    return field != FIELD_BAD;
}

static bool site_take(struct unpack *unpack, struct store_site *site) {
    struct profile_pair *const pairs[] = {&site->peak, &site->end, &site->start};
    const struct profile_pair *before = &site->allocated;
    bool same;
    int64_t step;
    if (!unpack_number(unpack, &step) ||
        __builtin_add_overflow(site->stack, step, &site->stack) ||
        !store_sites_stack_is_sane(site->stack))
        return false;
    if (!pair_take(unpack, &site->allocated, &same))
        return false;
    site->gone = same;
    enum field field = field_take(unpack, &site->temporary);
    if (field != FIELD_NUMBER && field != FIELD_NULL && field != FIELD_NONE)
        return false;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); before = pairs[i++]) {
        if (!pair_take(unpack, pairs[i], &same))
            return false;
        if (same)
            *pairs[i] = *before;
    }
    field = field_take(unpack, &site->kind);
    return (field == FIELD_NUMBER || field == FIELD_NULL || field == FIELD_NONE) &&
           site->kind >= 0 && site->kind <= STORE_SITE_KIND_MAX;
}

static int list_take(const unsigned char *bytes, size_t size, struct store_sites *sites) {
    struct unpack unpack = {bytes, 2 * size, 0};
    struct store_site before = {0};
    while (unpack_peek(&unpack) != PACK_END) {
        struct store_site site = {.stack = before.stack};
        bool first = sites->list.count == 0;
        if (!first && unpack_peek(&unpack) != PACK_ROW)
            return unpack_peek(&unpack) == PACK_NULL && unpack.at + 1 == unpack.nibbles
                       ? 0
                       : -EBADMSG;
        unpack.at += !first;
        if (!site_take(&unpack, &site) || (!first && site_compare(&before, &site) >= 0))
            return -EBADMSG;
        before = site;
        struct store_site *slot = vector_add(&sites->list);
        if (!slot)
            return -ENOMEM;
        *slot = site;
    }
    return 0;
}

static int keep(struct store_sites *sites, const struct store_site *site) {
    if (site->gone)
        return 0;
    struct store_site *slot = vector_add(&sites->list);
    if (!slot)
        return -ENOMEM;
    *slot = *site;
    return 0;
}

static int apply(const struct store_sites *base, const struct store_sites *changes,
                 struct store_sites *sites) {
    size_t k = 0;
    int r = 0;
    for (size_t i = 0; r == 0 && i < changes->list.count; i++) {
        const struct store_site *change = site_at(changes, i);
        while (r == 0 && k < base->list.count && site_compare(site_at(base, k), change) < 0)
            r = keep(sites, site_at(base, k++));
        bool replaces = k < base->list.count && site_compare(site_at(base, k), change) == 0;
        k += replaces;
        if (change->gone && !replaces)
            return -EBADMSG;
        if (r == 0)
            r = keep(sites, change);
    }
    while (r == 0 && k < base->list.count)
        r = keep(sites, site_at(base, k++));
    return r;
}

static bool has_gone(const struct store_sites *sites) {
    for (size_t i = 0; i < sites->list.count; i++)
        if (site_at(sites, i)->gone)
            return true;
    return false;
}

int store_sites_unpack(const unsigned char *bytes, size_t size, const struct store_sites *base,
                       struct store_sites *ret_sites) {
    struct store_sites packed = STORE_SITES_NONE;
    struct store_sites sites = STORE_SITES_NONE;
    int r = size > 0 ? list_take(bytes, size, &packed) : 0;
    if (r == 0 && base)
        r = apply(base, &packed, &sites);
    if (r == 0 && !base && has_gone(&packed))
        r = -EBADMSG;
    if (r < 0 || base)
        store_sites_finish(&packed);
    if (r < 0)
        store_sites_finish(&sites);
    else
        *ret_sites = base ? sites : packed;
    return r;
}

void store_sites_finish(struct store_sites *sites) {
    vector_finish(&sites->list);
}
