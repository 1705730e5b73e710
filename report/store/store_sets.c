/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_sets.c: find a set, or add it.
 *
 * A set with a base has only what differs from it, and the base is whole: to read a set is to
 * read two rows at most. The base is that of the set before, as long as this pays: not when the
 * difference is as large as the whole, and not when a good part of it was there in the set before
 * already, because then the program has changed for good and a new base is due.
 *
 * Stacks of a program that was built again have new numbers, all moved by the same when they
 * entered the file in the same order. That is why a region has an origin beside its set. A few
 * may be those of another program that shares them, so that no one site alone can tell by how
 * much the others moved.
 */
#include "store_sets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNPACKED_MAX 64 /* sets that are kept: the bases of a run with that many regions */

#define SHIFTS 4 /* places at which two lists are laid over each other */

struct store_set {
    int64_t id;
    int64_t base; /* 0: it is whole */
    struct store_sites sites;
};

int store_sets_open(struct store_sets *sets, struct store *store, struct fault *fault) {
    *sets = (struct store_sets){
        .store = store, .fault = fault, .unpacked = VECTOR_OF(struct store_set)};
    int r = store_prepare(store, "SELECT base_id, packed FROM site_set WHERE id=?1", &sets->get,
                          fault);
    if (r == 0)
        r = store_prepare(store, "SELECT id FROM site_set WHERE digest=?1 AND sites=?2",
                          &sets->find, fault);
    if (r == 0)
        r = store_prepare(store,
                          "INSERT INTO site_set (base_id, digest, sites, packed) "
                          "VALUES (?1, ?2, ?3, ?4)",
                          &sets->add, fault);
    return r;
}

static int damaged(struct store_sets *sets, int64_t id, const char *what) {
    return fault_set(sets->fault, -EBADMSG, "the store is damaged: set %" PRId64 " of sites %s",
                     id, what);
}

static struct store_set *set_known(struct store_sets *sets, int64_t id) {
    struct store_set *known = sets->unpacked.items;
    for (size_t i = 0; i < sets->unpacked.count; i++)
        if (known[i].id == id)
            return &known[i];
    return NULL;
}

/* A place for one more set; it takes that of the one that was read first. */
static struct store_set *set_slot(struct store_sets *sets) {
    if (sets->unpacked.count < UNPACKED_MAX)
        return vector_add(&sets->unpacked);
    struct store_set *slot = (struct store_set *)sets->unpacked.items + sets->next;
    sets->next = (sets->next + 1) % UNPACKED_MAX;
    store_sites_finish(&slot->sites);
    *slot = (struct store_set){0};
    return slot;
}

/* The packed column of @id. The bytes are good until the statement is used again. */
static int packed_get(struct store_sets *sets, int64_t id, int64_t *ret_base,
                      const unsigned char **ret_bytes, size_t *ret_size) {
    int r = store_bind(sets->store, sets->get, sets->fault, "i", id);
    if (r == 0)
        r = store_step(sets->store, sets->get, sets->fault);
    if (r <= 0)
        return r < 0 ? r : damaged(sets, id, "is not there");
    *ret_base = sqlite3_column_int64(sets->get, 0);
    *ret_bytes = sqlite3_column_blob(sets->get, 1);
    *ret_size = (size_t)sqlite3_column_bytes(sets->get, 1);
    return 0;
}

static int set_unpack(struct store_sets *sets, int64_t id, bool may_have_base,
                      struct store_set **ret_set) {
    const unsigned char *bytes;
    size_t size;
    int64_t base_id;
    struct store_set *known = set_known(sets, id);
    if (known) {
        *ret_set = known;
        return known->base != 0 && !may_have_base ? damaged(sets, id, "is no base") : 0;
    }
    struct store_set *base = NULL;
    int r = packed_get(sets, id, &base_id, &bytes, &size);
    if (r == 0 && base_id != 0 && !may_have_base)
        r = damaged(sets, id, "is no base");
    if (r == 0 && base_id != 0) {
        sqlite3_reset(sets->get);
        r = set_unpack(sets, base_id, false, &base);
        if (r == 0)
            r = packed_get(sets, id, &base_id, &bytes, &size);
    }
    if (r < 0)
        return r;
    struct store_sites sites;
    r = store_sites_unpack(bytes, size, base ? &base->sites : NULL, &sites);
    sqlite3_reset(sets->get);
    struct store_set *slot = r == 0 ? set_slot(sets) : NULL;
    if (!slot) {
        if (r == 0)
            store_sites_finish(&sites);
        return r == -EBADMSG ? damaged(sets, id, "is no list of sites")
                             : fault_set(sets->fault, -ENOMEM, "out of memory");
    }
    *slot = (struct store_set){id, base_id, sites};
    *ret_set = slot;
    return 0;
}

int store_sets_get(struct store_sets *sets, int64_t id, const struct store_sites **ret_sites) {
    struct store_set *set;
    int r = set_unpack(sets, id, true, &set);
    if (r == 0)
        *ret_sites = &set->sites;
    return r;
}

/* A set with the very same numbers. ret_place->id is 0 when there is none. */
static int find_same(struct store_sets *sets, const struct store_sites *sites, int64_t digest,
                     struct store_set_place *ret_place) {
    struct vector ids = VECTOR_OF(int64_t);
    int r = store_bind(sets->store, sets->find, sets->fault, "ii", digest,
                       (int64_t)sites->list.count);
    while (r == 0 && (r = store_step(sets->store, sets->find, sets->fault)) > 0) {
        int64_t *id = vector_add(&ids);
        r = id ? 0 : fault_set(sets->fault, -ENOMEM, "out of memory");
        if (id)
            *id = sqlite3_column_int64(sets->find, 0);
    }
    sqlite3_reset(sets->find);
    *ret_place = (struct store_set_place){0};
    for (size_t i = 0; r == 0 && ret_place->id == 0 && i < ids.count; i++) {
        const struct store_sites *there;
        int64_t id = ((int64_t *)ids.items)[i];
        r = store_sets_get(sets, id, &there);
        int64_t origin = r == 0 ? store_sites_first(sites) - store_sites_first(there) : 0;
        if (r == 0 && store_sites_equal(there, sites, origin))
            *ret_place = (struct store_set_place){id, origin};
    }
    vector_finish(&ids);
    return r;
}

/* One way to store a set. */
struct choice {
    unsigned char *bytes;
    size_t size;
    int64_t base; /* 0: whole */
    int64_t origin;
};

static int no_memory(struct store_sets *sets) {
    return fault_set(sets->fault, -ENOMEM, "out of memory");
}

/* Take the difference to @base instead of @choice when it is smaller. */
static int difference_try(struct store_sets *sets, const struct store_sites *sites,
                          const struct store_set *base, int64_t origin, struct choice *choice) {
    struct choice other = {.base = base->id, .origin = origin};
    if (store_sites_pack(sites, origin, &base->sites, &other.bytes, &other.size) < 0)
        return no_memory(sets);
    if (other.size < choice->size) {
        free(choice->bytes);
        *choice = other;
    } else {
        free(other.bytes);
    }
    return 0;
}

/* The smallest difference to @base, by the origin that it has been at or wherever it fits. */
static int difference_find(struct store_sets *sets, const struct store_sites *sites,
                           const struct store_set *base, int64_t origin,
                           struct choice *choice) {
    const size_t enough = choice->size / 2;
    int r = difference_try(sets, sites, base, origin, choice);
    for (int i = 0; r == 0 && i < SHIFTS && choice->size > enough; i++)
        r = difference_try(sets, sites, base, store_sites_shift(sites, &base->sites, i, SHIFTS),
                           choice);
    return r;
}

/* How much of @sites differs from those that were there before, in bytes. */
static int step_size(struct store_sets *sets, const struct store_sites *sites,
                     struct store_set_place before, size_t whole, size_t *ret_size) {
    struct choice step = {.size = whole};
    struct store_set *set;
    int r = set_unpack(sets, before.id, true, &set);
    if (r == 0)
        r = difference_find(sets, sites, set, before.origin, &step);
    *ret_size = step.size;
    free(step.bytes);
    return r;
}

/* The smallest difference to the base of what was there before, if there is a small one. */
static int choose_difference(struct store_sets *sets, const struct store_sites *sites,
                             struct store_set_place like, struct choice *choice) {
    const size_t whole = choice->size;
    struct store_set *set;
    int r = set_unpack(sets, like.id, true, &set);
    if (r == 0 && set->base != 0)
        r = set_unpack(sets, set->base, false, &set);
    if (r == 0)
        r = difference_find(sets, sites, set, like.origin, choice);
    if (r < 0 || choice->base == 0 || choice->size <= whole / 8 || choice->base == like.id)
        return r;
    size_t step = 0;
    r = step_size(sets, sites, like, whole, &step);
    if (r < 0 || step > choice->size / 2)
        return r;
    free(choice->bytes);
    *choice = (struct choice){.origin = store_sites_first(sites)};
    return store_sites_pack(sites, choice->origin, NULL, &choice->bytes, &choice->size) < 0
               ? no_memory(sets)
               : 0;
}

static int add(struct store_sets *sets, const struct store_sites *sites, int64_t digest,
               const struct choice *choice, int64_t *ret_id) {
    int r = store_bind(sets->store, sets->add, sets->fault, "oii",
                       choice->base != 0 ? &choice->base : NULL, digest,
                       (int64_t)sites->list.count);
    /* An empty blob, where a pointer that is NULL would be a NULL. */
    if (r == 0 && sqlite3_bind_blob64(sets->add, 4, choice->bytes ? (void *)choice->bytes : "",
                                      choice->size, SQLITE_STATIC) != SQLITE_OK)
        r = store_fault(sets->store, sqlite3_sql(sets->add), sets->fault);
    if (r == 0)
        r = store_step(sets->store, sets->add, sets->fault);
    if (r == 0)
        *ret_id = sqlite3_last_insert_rowid(sets->store->db);
    sqlite3_reset(sets->add);
    return r;
}

int store_sets_put(struct store_sets *sets, const struct store_sites *sites,
                   struct store_set_place like, struct store_set_place *ret_place) {
    int64_t digest = store_sites_digest(sites);
    struct store_set_place place;
    int r = find_same(sets, sites, digest, &place);
    if (r < 0 || place.id != 0) {
        if (r == 0)
            *ret_place = place;
        return r;
    }
    struct choice choice = {.origin = store_sites_first(sites)};
    if (store_sites_pack(sites, choice.origin, NULL, &choice.bytes, &choice.size) < 0)
        return no_memory(sets);
    if (like.id != 0)
        r = choose_difference(sets, sites, like, &choice);
    if (r == 0)
        r = add(sets, sites, digest, &choice, &place.id);
    if (r == 0)
        *ret_place = (struct store_set_place){place.id, choice.origin};
    free(choice.bytes);
    return r;
}

void store_sets_close(struct store_sets *sets) {
    struct store_set *known = sets->unpacked.items;
    for (size_t i = 0; i < sets->unpacked.count; i++)
        store_sites_finish(&known[i].sites);
    vector_finish(&sets->unpacked);
    sqlite3_finalize(sets->get);
    sqlite3_finalize(sets->find);
    sqlite3_finalize(sets->add);
    *sets = (struct store_sets){0};
}
