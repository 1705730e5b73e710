/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sites come out of their packed form as they went in, whole or as a difference, and so they do in
 * plain SQL; bytes that are no packed list are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random.h"
#include "store_sites.h"
#include "store_sql.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mostly small, sometimes as large as can be. */
static int64_t number(struct random *dice) {
    static const uint64_t limits[] = {2, 10, 100, 70000, 1u << 30, INT64_MAX / 8};
    return (int64_t)random_below(dice, limits[random_below(dice, 6)]);
}

static void pair_make(struct random *dice, struct profile_pair *pair,
                      const struct profile_pair *before) {
    switch (random_below(dice, 4)) {
    case 0:
        *pair = (struct profile_pair){0};
        break;
    case 1:
        *pair = *before;
        break;
    default:
        *pair = (struct profile_pair){number(dice), number(dice)};
        if (random_below(dice, 10) == 0)
            pair->bytes = -pair->bytes; /* of a region of one thread */
    }
}

static void site_change(struct random *dice, struct store_site *site) {
    pair_make(dice, &site->allocated, &(struct profile_pair){0});
    site->temporary = random_below(dice, 3) == 0 ? number(dice) : 0;
    pair_make(dice, &site->peak, &site->allocated);
    pair_make(dice, &site->end, &site->peak);
    pair_make(dice, &site->start, &site->end);
}

static struct store_sites sites_make(struct random *dice, size_t count) {
    struct store_sites sites = STORE_SITES_NONE;
    int64_t stack = number(dice);
    for (size_t i = 0; i < count; i++) {
        struct store_site *site = vector_add(&sites.list);
        assert_non_null(site);
        stack += 1 + (int64_t)random_below(dice, 5);
        site->stack = stack;
        site->kind = random_below(dice, 4) == 0 ? (int64_t)random_below(dice, 32) : 0;
        site_change(dice, site);
    }
    return sites;
}

/* Some sites with new numbers, some gone, some new between them; all moved by @shift. */
static struct store_sites sites_vary(struct random *dice, const struct store_sites *from,
                                     int64_t shift) {
    struct store_sites sites = STORE_SITES_NONE;
    const struct store_site *items = from->list.items;
    for (size_t i = 0; i < from->list.count; i++) {
        uint64_t what = random_below(dice, 20);
        if (what == 0)
            continue;
        struct store_site *site = vector_add(&sites.list);
        assert_non_null(site);
        *site = items[i];
        site->stack += shift;
        if (what == 1)
            site_change(dice, site);
        if (what != 2 || site->kind > 30)
            continue;
        struct store_site *more = vector_add(&sites.list);
        assert_non_null(more);
        *more = (struct store_site){.stack = items[i].stack + shift, .kind = 40};
        site_change(dice, more);
    }
    return sites;
}

static void assert_comes_back(const struct store_sites *sites, int64_t origin,
                              const struct store_sites *base, size_t *ret_size) {
    unsigned char *bytes;
    struct store_sites again;
    assert_int_equal(store_sites_pack(sites, origin, base, &bytes, ret_size), 0);
    assert_int_equal(store_sites_unpack(bytes, *ret_size, base, &again), 0);
    assert_true(store_sites_equal(&again, sites, origin));
    store_sites_finish(&again);
    free(bytes);
}

static void test_list_comes_back_as_it_was(void **state) {
    struct random dice = {1};
    for (size_t count = 0; count < 300; count += 1 + count / 4) {
        struct store_sites sites = sites_make(&dice, count);
        size_t size;
        assert_comes_back(&sites, store_sites_first(&sites), NULL, &size);
        assert_comes_back(&sites, -7, NULL, &size);
        assert_int_equal(size == 0, count == 0);
        store_sites_finish(&sites);
    }
}

static void test_difference_comes_back_and_is_small(void **state) {
    struct random dice = {2};
    for (int round = 0; round < 100; round++) {
        int64_t shift = round % 2 == 0 ? 0 : 1000;
        struct store_sites base = sites_make(&dice, random_below(&dice, 300));
        struct store_sites sites = sites_vary(&dice, &base, shift);
        size_t whole, part;
        assert_comes_back(&sites, shift, NULL, &whole);
        assert_comes_back(&sites, shift, &base, &part);
        if (base.list.count > 100)
            assert_true(part < whole / 2);
        store_sites_finish(&sites);
        store_sites_finish(&base);
    }
}

static void test_digest_is_of_the_numbers_and_not_of_where_stacks_begin(void **state) {
    struct random dice = {3};
    struct store_sites sites = sites_make(&dice, 50);
    struct store_site *items = sites.list.items;
    int64_t digest = store_sites_digest(&sites);
    for (size_t i = 0; i < 50; i++)
        items[i].stack += 12345;
    assert_int_equal(store_sites_digest(&sites), digest);
    items[49].stack++;
    assert_true(store_sites_digest(&sites) != digest);
    items[49].stack--;
    items[20].end.blocks++;
    assert_true(store_sites_digest(&sites) != digest);
    store_sites_finish(&sites);
}

static void test_bytes_that_are_no_list_are_refused_or_a_list(void **state) {
    struct random dice = {4};
    size_t refused = 0;
    for (int round = 0; round < 3000; round++) {
        unsigned char *bytes;
        size_t size;
        struct store_sites base = sites_make(&dice, 20);
        struct store_sites sites = sites_vary(&dice, &base, 0);
        const struct store_sites *from = round % 2 == 0 ? NULL : &base;
        struct store_sites again;
        assert_int_equal(store_sites_pack(&sites, 0, from, &bytes, &size), 0);
        for (uint64_t i = random_below(&dice, 4); size > 0 && i > 0; i--)
            bytes[random_below(&dice, size)] = (unsigned char)random_next(&dice);
        if (size > 0 && round % 5 == 0)
            size = random_below(&dice, size);
        int r = store_sites_unpack(bytes, size, from, &again);
        assert_true(r == 0 || r == -EBADMSG);
        refused += r < 0;
        if (r == 0)
            store_sites_finish(&again);
        free(bytes);
        store_sites_finish(&sites);
        store_sites_finish(&base);
    }
    assert_true(refused > 500);
}

static void execute(sqlite3 *db, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static void put_set(sqlite3 *db, int64_t id, const struct store_sites *sites,
                    const struct store_sites *base) {
    unsigned char *bytes;
    size_t size;
    sqlite3_stmt *s;
    assert_int_equal(store_sites_pack(sites, 0, base, &bytes, &size), 0);
    assert_int_equal(
        sqlite3_prepare_v2(db, "INSERT INTO site_set VALUES (?1, ?2, 0, 0, ?3)", -1, &s, NULL),
        SQLITE_OK);
    sqlite3_bind_int64(s, 1, id);
    if (base)
        sqlite3_bind_int64(s, 2, 1);
    sqlite3_bind_blob(s, 3, bytes ? (void *)bytes : "", (int)size, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
    free(bytes);
}

/* One row of the view against one site; freed is what follows from the others. */
static void assert_row(sqlite3_stmt *s, const struct store_site *site, int64_t origin) {
    const int64_t wanted[] = {
        site->stack + origin,
        site->kind / 4,
        site->allocated.blocks,
        site->allocated.bytes,
        (int64_t)((uint64_t)site->start.blocks + (uint64_t)site->allocated.blocks -
                  (uint64_t)site->end.blocks),
        site->start.blocks,
        site->start.bytes,
        site->peak.blocks,
        site->peak.bytes,
        site->end.blocks,
        site->end.bytes,
        site->temporary,
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (sqlite3_column_int64(s, (int)i) != wanted[i])
            fail_msg("column %s: %" PRId64 " is not %" PRId64, sqlite3_column_name(s, (int)i),
                     (int64_t)sqlite3_column_int64(s, (int)i), wanted[i]);
    assert_string_equal((const char *)sqlite3_column_text(s, 12),
                        store_space_names[site->kind % 4]);
}

static void assert_view(sqlite3 *db, const struct store_sites *sites, int region,
                        int64_t origin) {
    sqlite3_stmt *s;
    char sql[400];
    snprintf(sql, sizeof(sql),
             "SELECT stack_id, flags, allocated_blocks, allocated_bytes, freed_blocks, "
             "start_blocks, start_bytes, peak_blocks, peak_bytes, end_blocks, end_bytes, "
             "temporary, space FROM v_sites WHERE region_id=%d ORDER BY stack_id, "
             "CASE space WHEN 'heap' THEN 0 WHEN 'map_anon' THEN 1 WHEN 'map_file' THEN 2 ELSE "
             "3 END + 4*flags",
             region);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    for (size_t i = 0; i < sites->list.count; i++) {
        assert_int_equal(sqlite3_step(s), SQLITE_ROW);
        assert_row(s, (const struct store_site *)sites->list.items + i, origin);
    }
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
}

static void test_view_reads_what_was_packed(void **state) {
    struct random dice = {5};
    for (int round = 0; round < 40; round++) {
        struct store store = {.mode = STORE_WRITE};
        struct fault fault = {0};
        struct store_sites base = sites_make(&dice, random_below(&dice, 120));
        struct store_sites sites = sites_vary(&dice, &base, 0);
        assert_int_equal(sqlite3_open(":memory:", &store.db), SQLITE_OK);
        assert_int_equal(store_create_schema(&store, &fault), 0);
        put_set(store.db, 1, &base, NULL);
        put_set(store.db, 2, &sites, &base);
        for (int id = 1; id <= 2; id++) {
            char sql[256];
            snprintf(sql, sizeof(sql),
                     "INSERT INTO region SELECT %d,1,%d,0,'r',1,0,0,1,%d,%d,0,0,0,0,0,0,0,NULL,"
                     "NULL,NULL,NULL",
                     id, id, id, 100 * id);
            execute(store.db, sql);
        }
        assert_view(store.db, &base, 1, 100);
        assert_view(store.db, &sites, 2, 200);
        sqlite3_close(store.db);
        store_sites_finish(&sites);
        store_sites_finish(&base);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_comes_back_as_it_was),
        cmocka_unit_test(test_difference_comes_back_and_is_small),
        cmocka_unit_test(test_digest_is_of_the_numbers_and_not_of_where_stacks_begin),
        cmocka_unit_test(test_bytes_that_are_no_list_are_refused_or_a_list),
        cmocka_unit_test(test_view_reads_what_was_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
