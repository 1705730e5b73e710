/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_sites.h: the sites of one region as numbers, and their packed form; only store_*.c
 * include it.
 *
 * Lists are ascending by stack and kind, each at most once. schema.sql (site_set) says how they
 * are packed.
 */
#pragma once

#include "fault.h"
#include "profile.h"
#include "vector.h"

struct store_site {
    int64_t stack; /* the store's id, less the origin that the region has beside its set */
    int64_t kind;  /* enum trace_space + 4 * flags */
    struct profile_pair allocated;
    struct profile_pair peak;
    struct profile_pair end;
    struct profile_pair start;
    int64_t temporary;
    bool gone; /* in what differs from a base: the base has it, this has not */
};

#define STORE_SITE_SPACES   4
#define STORE_SITE_KIND_MAX (4 * UINT16_MAX + 3)

/* Ids and origins of a file are within this, so that sums and differences of two do not wrap. */
#define STORE_STACK_MAX (INT64_MAX / 4)

static inline bool store_sites_stack_is_sane(int64_t stack) {
    return stack >= -STORE_STACK_MAX && stack <= STORE_STACK_MAX;
}

struct store_sites {
    struct vector list; /* struct store_site */
};

#define STORE_SITES_NONE ((struct store_sites){VECTOR_OF(struct store_site)})

/*
 * The sites of @region, added up where two have the same stack and kind: two sites of a trace
 * are one here when a module was unloaded and loaded elsewhere. @stacks are the store's ids of
 * the profile's nodes. 0; -EBADMSG and @fault when live at the end is not what was there, came
 * and went; -ENOMEM.
 */
int store_sites_collect(const struct profile *profile, const struct profile_region *region,
                        const int64_t *stacks, struct store_sites *ret_sites,
                        struct fault *fault) _must_check_ _nonnull_;

/* Is start + allocated - freed what is live at the end? Then what was freed need not be kept. */
bool store_sites_adds_up(const struct store_site *site, int64_t freed_blocks,
                         int64_t freed_bytes) _nonnull_;

/* Like @a, with @shift added to every stack? */
bool store_sites_equal(const struct store_sites *a, const struct store_sites *b,
                       int64_t shift) _nonnull_;

/* A hash of all its numbers; stacks count from the first, so that a shift changes nothing. */
int64_t store_sites_digest(const struct store_sites *sites) _nonnull_;

/* The first site's stack; 0 when there is none. */
int64_t store_sites_first(const struct store_sites *sites) _nonnull_;

/* By how much @sites are ahead of @base, from one site of each: 0 is the first, @places - 1 the
 * last. 0 when one has none. */
int64_t store_sites_shift(const struct store_sites *sites, const struct store_sites *base,
                          int place, int places) _nonnull_;

/*
 * Pack @sites, stacks less @origin; or only what differs from @base when that is not NULL, whose
 * stacks have none to be taken off. Returns 0 or -ENOMEM; free() @ret_bytes.
 */
int store_sites_pack(const struct store_sites *sites, int64_t origin,
                     const struct store_sites *base, unsigned char **ret_bytes,
                     size_t *ret_size) _must_check_;

/*
 * The other way round. What is packed is applied to @base when that is not NULL. Returns 0;
 * -EBADMSG when it is no such list; -ENOMEM. End with store_sites_finish().
 */
int store_sites_unpack(const unsigned char *bytes, size_t size, const struct store_sites *base,
                       struct store_sites *ret_sites) _must_check_;

void store_sites_finish(struct store_sites *sites) _nonnull_;
