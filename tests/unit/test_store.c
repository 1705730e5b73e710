/* SPDX-License-Identifier: BSD-3-Clause */
/* The store gives back what it was given, and never touches a file that is not its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "selection.h"
#include "store.h"
#include "trace_builder.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Stands before SQLite's own: the wait for a lock is half a minute, and here it is none. */
int sqlite3_busy_timeout(sqlite3 *db, int ms) {
    assert_in_range(ms, 0, 60000);
    return sqlite3_busy_handler(db, NULL, NULL);
}

struct place {
    char folder[64];
    char db[96];
};

static int setup(void **state) {
    struct place *place = calloc(1, sizeof(*place));
    strcpy(place->folder, "/tmp/test_store.XXXXXX");
    if (!mkdtemp(place->folder))
        return -1;
    snprintf(place->db, sizeof(place->db), "%s/a.db", place->folder);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    struct place *place = *state;
    unlink(place->db);
    int r = rmdir(place->folder); /* fails when anything else was left behind */
    free(place);
    return r;
}

static void make_run(struct run *ret_run, const char *name, const char *format,
                     uint64_t bytes) {
    struct trace_builder b;
    struct fault fault = {0};
    struct trace *trace;
    size_t size;
    trace_builder_init(&b);
    trace_builder_module(&b, "/opt/victim", 0x1000, 0x9000, 0x1000);
    uint32_t outer = trace_builder_node(&b, 0, 0x1100);
    uint32_t site = trace_builder_site(&b, trace_builder_node(&b, outer, 0x1200), TRACE_HEAP);
    trace_builder_allocate(&b, site, 7);
    uint32_t region = trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, site, bytes);
    trace_builder_allocate(&b, TRACE_MAP_ANON, 4096);
    trace_builder_end(&b, region);
    trace_builder_exit(&b);
    unsigned char *file = trace_builder_write(&b, &size);
    *ret_run = (struct run){0};
    assert_int_equal(trace_from_bytes(file, size, &trace, &fault), 0);
    assert_int_equal(profile_from_trace(trace, &ret_run->profile, &fault), 0);
    ret_run->profile.start_realtime_ns += (int64_t)bytes; /* another process */
    trace_close(trace);
    free(file);
    struct run_param params[] = {{"rows", "5"}, {"format", format}};
    assert_int_equal(run_describe(ret_run, name, params, 2), 0);
    assert_int_equal(run_uuid_make(ret_run->set_uuid), 0);
    ret_run->repeat = 1;
    ret_run->outcome = RUN_EXITED;
    ret_run->status = 3;
}

static void add(const char *db, struct run *run) {
    struct store *store;
    struct fault fault = {0};
    assert_int_equal(store_open(db, STORE_WRITE, &store, &fault), 0);
    assert_int_equal(store_add(store, &run, 1, &fault), 0);
    store_close(store);
}

static int load(const char *db, int64_t id, struct run *ret_run, struct fault *fault) {
    struct store *store;
    int r = store_open(db, STORE_READ, &store, fault);
    if (r < 0)
        return r;
    r = store_load(store, id, ret_run, fault);
    store_close(store);
    return r;
}

static int64_t number(const char *db, const char *sql) {
    sqlite3 *handle;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(db, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), SQLITE_OK);
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        fail_msg("%s: %s", sql, sqlite3_errmsg(handle));
    int64_t value = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    return value;
}

static void assert_same_region(const struct profile_region *a, const struct profile_region *b) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->instance, b->instance);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->open, b->open);
    assert_int_equal(a->begin_elapsed_ns, b->begin_elapsed_ns);
    assert_int_equal(a->end_elapsed_ns, b->end_elapsed_ns);
    assert_int_equal(a->combined_end_bytes, b->combined_end_bytes);
    assert_memory_equal(a->totals, b->totals, sizeof(a->totals));
    assert_int_equal(a->rows_count, b->rows_count);
}

static void test_run_comes_back_as_it_was(void **state) {
    const struct place *place = *state;
    struct run run, again;
    struct fault fault = {0};
    make_run(&run, "votable.parse", "binary", 1000);
    run.max_rss_bytes = 1234567890123;
    run.origin = (struct origin){
        .commit = "c0ffee",
        .branch = "main",
        .commit_time_ns = 5,
        .tree = ORIGIN_TREE_DIRTY,
        .libc = "glibc 2.36",
        .allocator = "glibc",
        .environment = "{\"LANG\":\"C\"}",
        .cpu_model = "Processor",
        .cpu_count = 3,
    };
    add(place->db, &run);
    assert_int_equal(run.id, 1);
    assert_int_equal(load(place->db, 1, &again, &fault), 0);

    assert_string_equal(again.uuid, run.uuid);
    assert_string_equal(again.benchmark, "votable.parse");
    assert_int_equal(again.param_count, 2);
    assert_string_equal(again.params[0].key, "format");
    assert_string_equal(again.params[1].value, "5");
    assert_int_equal(again.outcome, RUN_EXITED);
    assert_int_equal(again.status, 3);
    assert_int_equal(again.max_rss_bytes, 1234567890123);
    assert_false(again.pruned);
    assert_string_equal(again.origin.commit, "c0ffee");
    assert_string_equal(again.origin.branch, "main");
    assert_int_equal(again.origin.commit_time_ns, 5);
    assert_int_equal(again.origin.tree, ORIGIN_TREE_DIRTY);
    assert_string_equal(again.origin.libc, "glibc 2.36");
    assert_string_equal(again.origin.allocator, "glibc");
    assert_string_equal(again.origin.environment, "{\"LANG\":\"C\"}");
    assert_string_equal(again.origin.cpu_model, "Processor");
    assert_int_equal(again.origin.cpu_count, 3);
    assert_string_equal(again.profile.program, "victim");
    assert_string_equal(again.profile.arguments[1], "--fast");
    assert_int_equal(again.profile.elapsed_ns, run.profile.elapsed_ns);
    assert_int_equal(again.profile.region_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_same_region(&again.profile.regions[i], &run.profile.regions[i]);

    uint32_t node = 0;
    for (size_t i = 0; i < again.profile.regions[1].rows_count; i++)
        if (again.profile.regions[1].rows[i].peak.bytes == 1007)
            node = again.profile.sites[again.profile.regions[1].rows[i].site].node;
    assert_true(node > 0);
    assert_int_equal(again.profile.frames[again.profile.nodes[node].frame].offset, 0x200);
    node = again.profile.nodes[node].parent;
    assert_int_equal(again.profile.frames[again.profile.nodes[node].frame].offset, 0x100);
    run_finish(&run);
    run_finish(&again);
}

static void test_stacks_are_stored_once_for_all_runs(void **state) {
    const struct place *place = *state;
    struct run first, second;
    make_run(&first, "a", "binary", 10);
    make_run(&second, "b", "binary", 20);
    add(place->db, &first);
    int64_t stacks = number(place->db, "SELECT count(*) FROM stack");
    add(place->db, &second);
    assert_int_equal(number(place->db, "SELECT count(*) FROM stack"), stacks);
    assert_int_equal(number(place->db, "SELECT count(*) FROM frame"), 2);
    assert_int_equal(number(place->db, "SELECT count(*) FROM run"), 2);
    assert_int_equal(number(place->db, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    run_finish(&first);
    run_finish(&second);
}

static void test_sums_hold_in_plain_sql(void **state) {
    const struct place *place = *state;
    struct run run;
    make_run(&run, "a", "binary", 10);
    add(place->db, &run);
    assert_int_equal(number(place->db,
                            "SELECT count(*) FROM region_total t WHERE live_peak <> (SELECT "
                            "sum(peak_bytes) FROM v_sites s WHERE s.region_id=t.region_id "
                            "AND s.space=t.space)"),
                     0);
    assert_true(number(place->db, "SELECT count(*) FROM v_sites") > 2);
    run_finish(&run);
}

static void test_one_bad_run_of_two_leaves_nothing(void **state) {
    const struct place *place = *state;
    struct run first, second;
    struct run *both[] = {&first, &second};
    struct store *store;
    struct fault fault = {0};
    make_run(&first, "a", "binary", 10);
    make_run(&second, "b", "binary", 10);
    strcpy(second.uuid, first.uuid); /* against the UNIQUE of run.uuid */
    assert_int_equal(store_open(place->db, STORE_WRITE, &store, &fault), 0);
    assert_int_equal(store_add(store, both, 2, &fault), -EIO);
    assert_non_null(strstr(fault.text, "UNIQUE"));
    store_close(store);
    assert_int_equal(number(place->db, "SELECT count(*) FROM sqlite_schema"), 0);
    run_finish(&first);
    run_finish(&second);
}

static void write_file(const char *path, const char *text) {
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

static void test_store_in_use_is_said_in_plain_words(void **state) {
    const struct place *place = *state;
    struct run run;
    struct run *pointer = &run;
    struct store *store;
    struct fault fault = {0};
    sqlite3 *other;
    make_run(&run, "a", "binary", 10);
    add(place->db, &run);
    assert_int_equal(store_open(place->db, STORE_WRITE, &store, &fault), 0);
    assert_int_equal(sqlite3_open(place->db, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_add(store, &pointer, 1, &fault), -EBUSY);
    assert_string_equal(fault.text, "the store is in use by another program");
    store_close(store);
    assert_int_equal(store_open(place->db, STORE_WRITE, &store, &fault), -EBUSY);
    sqlite3_close(other);
    assert_int_equal(number(place->db, "SELECT count(*) FROM run"), 1);
    run_finish(&run);
}

/* Add @run while no file may grow beyond @most bytes. */
static int add_with_little_room(const char *db, struct run *run, rlim_t most,
                                struct fault *fault) {
    struct rlimit before;
    struct store *store;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit little = {most, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    int r = store_open(db, STORE_WRITE, &store, fault);
    if (r == 0) {
        r = store_add(store, &run, 1, fault);
        store_close(store);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    return r;
}

static void test_new_store_that_cannot_be_written_leaves_no_file(void **state) {
    const struct place *place = *state;
    struct run run;
    struct fault fault = {0};
    make_run(&run, "a", "binary", 10);
    for (rlim_t most = 0; most <= 16384; most += 4096) {
        assert_true(add_with_little_room(place->db, &run, most, &fault) < 0);
        assert_true(fault.text[0] != '\0');
        assert_int_equal(access(place->db, F_OK), -1);
    }
    write_file(place->db, ""); /* one that was there stays */
    assert_true(add_with_little_room(place->db, &run, 4096, &fault) < 0);
    assert_int_equal(access(place->db, F_OK), 0);
    add(place->db, &run);
    assert_int_equal(number(place->db, "SELECT count(*) FROM run"), 1);
    run_finish(&run);
}

static void test_new_store_is_not_taken_from_another_program(void **state) {
    const struct place *place = *state;
    struct store *store;
    struct fault fault = {0};
    sqlite3 *other;
    assert_int_equal(store_open(place->db, STORE_WRITE, &store, &fault), 0);
    assert_int_equal(sqlite3_open(place->db, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    store_close(store);
    assert_int_equal(access(place->db, F_OK), 0);
    assert_int_equal(sqlite3_exec(other, "CREATE TABLE x (y); COMMIT", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(other);
}

static void test_same_process_is_stored_once_in_a_benchmark(void **state) {
    const struct place *place = *state;
    struct run first, second, other;
    struct run *both[] = {&other, &second};
    struct store *store;
    struct fault fault = {0};
    make_run(&first, "a", "binary", 10);
    make_run(&second, "a", "binary", 10);
    make_run(&other, "b", "binary", 10);
    first.profile.end = PROFILE_SNAPSHOT;
    add(place->db, &first);
    add(place->db, &second); /* its end, after the snapshot */
    assert_int_equal(store_open(place->db, STORE_WRITE, &store, &fault), 0);
    assert_int_equal(run_uuid_make(second.uuid), 0);
    assert_int_equal(store_add(store, both, 2, &fault), -EEXIST);
    assert_string_equal(fault.text,
                        "the trace of process 4711 (victim) is stored already, as run 2");
    assert_int_equal(store_add(store, both, 1, &fault), 0);
    store_close(store);
    assert_int_equal(number(place->db, "SELECT count(*) FROM run"), 3);
    run_finish(&first);
    run_finish(&second);
    run_finish(&other);
}

static void test_hostile_names_come_back_unharmed(void **state) {
    const struct place *place = *state;
    struct run run, again;
    struct fault fault = {0};
    const char *evil = "x'); DROP TABLE run;--\"\\\n\033[31m<script>";
    make_run(&run, evil, evil, 10);
    add(place->db, &run);
    assert_int_equal(load(place->db, 1, &again, &fault), 0);
    assert_string_equal(again.benchmark, evil);
    assert_string_equal(again.params[0].value, evil);
    run_finish(&run);
    run_finish(&again);
}

static void assert_refused(const char *db, int error, const char *words) {
    struct store *store = NULL;
    struct fault fault = {0};
    assert_int_equal(store_open(db, STORE_READ, &store, &fault), error);
    assert_string_equal(fault.text, words);
    assert_int_equal(store_open(db, STORE_WRITE, &store, &fault), error);
    assert_string_equal(fault.text, words);
    assert_int_equal(store_probe(db, &fault), error);
    assert_null(store);
}

static void test_other_files_are_refused_and_left_alone(void **state) {
    const struct place *place = *state;
    struct stat before, after;
    write_file(place->db,
               "This is not a database, and it is long enough to be looked at as one"
               " if somebody were careless about the first sixteen bytes of it.....");
    assert_int_equal(stat(place->db, &before), 0);
    assert_refused(place->db, -EMEDIUMTYPE, "this is not a votrace store");
    assert_int_equal(stat(place->db, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    assert_refused(place->folder, -EMEDIUMTYPE,
                   "this is not a regular file, so not a votrace store");
}

static void test_database_of_another_program_is_refused_and_left_alone(void **state) {
    const struct place *place = *state;
    number(place->db, "CREATE TABLE notes (text)");
    assert_refused(place->db, -EMEDIUMTYPE,
                   "this is a database of another program, not a votrace store");
    assert_int_equal(number(place->db, "SELECT count(*) FROM sqlite_schema"), 1);
}

static void test_newer_store_is_refused_by_version(void **state) {
    const struct place *place = *state;
    struct run run;
    make_run(&run, "a", "binary", 10);
    add(place->db, &run);
    number(place->db, "PRAGMA user_version=4");
    assert_refused(place->db, -ENOTSUP,
                   "store version 4 is newer than this votreport, which knows version 3: use a "
                   "newer votreport");
    run_finish(&run);
}

static void test_missing_store_is_not_created_by_reading_or_probing(void **state) {
    const struct place *place = *state;
    struct store *store;
    struct fault fault = {0};
    assert_int_equal(store_open(place->db, STORE_READ, &store, &fault), -ENOENT);
    assert_string_equal(fault.text, "there is no such store");
    assert_int_equal(store_probe(place->db, &fault), 0);
    assert_int_equal(access(place->db, F_OK), -1);
    assert_int_equal(store_probe("/nonexistent/folder/a.db", &fault), -ENOENT);
    assert_int_equal(store_probe("", &fault), -ENOENT);
}

static void test_edited_numbers_are_refused_when_loaded(void **state) {
    const struct place *place = *state;
    struct run run, again;
    struct fault fault = {0};
    static const char *const edits[] = {
        "UPDATE region_total SET live_peak=live_peak+1 WHERE space='heap'",
        "UPDATE site_set SET packed=x'1A'",
        "UPDATE site_set SET packed=x'FF'",
        "UPDATE site_set SET packed=x'1A1B'",
        "UPDATE site_set SET packed=x'9999999999999999999999'",
        "UPDATE site_set SET packed=CAST(packed||x'00' AS BLOB)",
        "UPDATE site_set SET packed=x''",
        "UPDATE site_set SET base_id=id",
        "UPDATE site_set SET base_id=2 WHERE id=1",
        "UPDATE region SET stack_origin=stack_origin+1",
        "UPDATE region SET stack_origin=9223372036854775807",
        "UPDATE region SET site_set_id=999",
        "UPDATE region SET site_set_id=NULL",
        "UPDATE region SET has_sites=0 WHERE ordinal=1",
        "UPDATE region SET ordinal=7 WHERE ordinal=1",
        "UPDATE stack SET parent_id=id WHERE id>0",
        "UPDATE stack SET frame_id=999 WHERE id>0",
        "UPDATE frame SET line=-1",
        "UPDATE run SET pid=-1",
        "DELETE FROM site_set",
        "UPDATE region_total SET live_end=9223372036854775807",
    };
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        make_run(&run, "a", "binary", 10);
        add(place->db, &run);
        number(place->db, edits[i]);
        if (load(place->db, 1, &again, &fault) != -EBADMSG)
            fail_msg("taken: %s", edits[i]);
        assert_non_null(strstr(fault.text, "the store is damaged"));
        run_finish(&run);
        unlink(place->db);
    }
}

static void test_bytes_torn_out_of_the_file_never_crash(void **state) {
    const struct place *place = *state;
    struct run run, again;
    make_run(&run, "a", "binary", 10);
    add(place->db, &run);
    struct stat status;
    assert_int_equal(stat(place->db, &status), 0);
    for (off_t at = 0; at < status.st_size; at += 512) {
        struct fault fault = {0};
        char kept[64], junk[64];
        memset(junk, 0xa5, sizeof(junk));
        FILE *stream = fopen(place->db, "r+");
        assert_non_null(stream);
        fseek(stream, at, SEEK_SET);
        assert_int_equal(fread(kept, 1, sizeof(kept), stream), sizeof(kept));
        fseek(stream, at, SEEK_SET);
        fwrite(junk, 1, sizeof(junk), stream);
        fclose(stream);
        if (load(place->db, 1, &again, &fault) == 0)
            run_finish(&again);
        else
            assert_true(fault.text[0] != '\0');
        stream = fopen(place->db, "r+");
        fseek(stream, at, SEEK_SET);
        fwrite(kept, 1, sizeof(kept), stream);
        fclose(stream);
    }
    run_finish(&run);
}

static void test_list_names_the_region_that_added_most(void **state) {
    const struct place *place = *state;
    struct run run;
    struct store *store;
    struct fault fault = {0};
    struct arena arena = {0};
    struct store_entry *entries;
    size_t count;
    make_run(&run, "a", "binary", 1000);
    add(place->db, &run);
    assert_int_equal(store_open(place->db, STORE_READ, &store, &fault), 0);
    assert_int_equal(store_list(store, &arena, &entries, &count, &fault), 0);
    assert_int_equal(count, 1);
    assert_string_equal(entries[0].region, "parse");
    assert_int_equal(entries[0].peak_added, 1000);
    assert_int_equal(entries[0].region_count, 1);
    arena_finish(&arena);
    store_close(store);
    run_finish(&run);
}

static void test_selection_takes_the_newest_set_of_each_benchmark(void **state) {
    const struct place *place = *state;
    struct run runs[4];
    struct store *store;
    struct fault fault = {0};
    struct selection selection;
    make_run(&runs[0], "a", "binary", 1);
    make_run(&runs[1], "a", "text", 2);
    make_run(&runs[2], "a", "binary", 3);
    make_run(&runs[3], "a", "binary", 4);
    strcpy(runs[3].set_uuid, runs[2].set_uuid);
    runs[3].repeat = 2;
    for (size_t i = 0; i < 4; i++)
        add(place->db, &runs[i]);
    assert_int_equal(store_open(place->db, STORE_READ, &store, &fault), 0);
    assert_int_equal(selection_load_newest(store, "nope", &selection, &fault), -ENODATA);
    assert_string_equal(fault.text, "there is no run of a benchmark named 'nope'");
    assert_int_equal(selection_load_newest(store, NULL, &selection, &fault), 0);
    assert_int_equal(selection.count, 3);
    assert_int_equal(selection.runs[0].id, 4);
    assert_int_equal(selection.runs[1].id, 3);
    assert_int_equal(selection.runs[2].id, 2);
    selection_finish(&selection);
    store_close(store);
    for (size_t i = 0; i < 4; i++)
        run_finish(&runs[i]);
}

static void test_parameter_given_twice_is_refused(void **state) {
    struct run run = {0};
    struct run_param params[] = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
    assert_int_equal(run_describe(&run, "x", params, 3), -EEXIST);
    run_finish(&run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Everything a region of version 2 can have, in one run of a forked child. */
static void make_full_run(struct run *ret_run) {
    struct trace_builder b;
    struct fault fault = {0};
    struct trace *trace;
    size_t size;
    trace_builder_init(&b);
    b.header.flags = TRACE_FORKED | TRACE_USABLE;
    b.header.parent_uuid[0] = 0xfa;
    b.header.parent_pid = 4000;
    b.header.completeness.inherited_freed = 5;
    b.slack_bytes = 16;
    trace_builder_count_sizes(&b);
    trace_builder_allocate(&b, 0, 3000);
    uint32_t region = trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, 0, 700);
    trace_builder_allocate(&b, TRACE_MAP_RESERVED, 4096);
    trace_builder_free(&b, 0, 3000);
    trace_builder_end(&b, region);
    trace_builder_point(&b, region, 2100, 3700);
    trace_builder_point(&b, region, 2200, 700);
    region = trace_builder_begin_thread(&b, "work");
    trace_builder_free(&b, 0, 700);
    trace_builder_end(&b, region);
    trace_builder_exit(&b);
    unsigned char *file = trace_builder_write(&b, &size);
    *ret_run = (struct run){0};
    assert_int_equal(trace_from_bytes(file, size, &trace, &fault), 0);
    assert_int_equal(profile_from_trace(trace, &ret_run->profile, &fault), 0);
    ret_run->profile.end = PROFILE_EXECED;
    trace_close(trace);
    free(file);
    assert_int_equal(run_describe(ret_run, "child", NULL, 0), 0);
    assert_int_equal(run_uuid_make(ret_run->set_uuid), 0);
    ret_run->repeat = 1;
}

static void assert_same_extras(const struct profile_region *a, const struct profile_region *b) {
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->peak_elapsed_ns, b->peak_elapsed_ns);
    assert_int_equal(a->usable_is_known, b->usable_is_known);
    assert_int_equal(a->usable_start_bytes, b->usable_start_bytes);
    assert_int_equal(a->usable_peak_bytes, b->usable_peak_bytes);
    assert_int_equal(a->usable_end_bytes, b->usable_end_bytes);
    assert_int_equal(a->points_count, b->points_count);
    if (a->points_count > 0)
        assert_memory_equal(a->points, b->points, a->points_count * sizeof(*a->points));
    assert_int_equal(a->sizes != NULL, b->sizes != NULL);
    if (a->sizes && b->sizes)
        assert_memory_equal(a->sizes, b->sizes, TRACE_SIZE_BUCKETS * sizeof(*a->sizes));
}

static void test_lineage_sizes_and_timelines_come_back(void **state) {
    const struct place *place = *state;
    struct run run, again;
    struct fault fault = {0};
    make_full_run(&run);
    add(place->db, &run);
    assert_int_equal(load(place->db, 1, &again, &fault), 0);
    assert_string_equal(again.profile.uuid, "5e000000000000000000000000000000");
    assert_string_equal(again.profile.parent_uuid, "fa000000000000000000000000000000");
    assert_true(again.profile.forked);
    assert_int_equal(again.profile.parent_pid, 4000);
    assert_int_equal(again.profile.inherited_freed, 5);
    assert_int_equal(again.profile.end, PROFILE_EXECED);
    assert_int_equal(again.parent_id, 0);
    assert_int_equal(again.profile.region_count, 3);
    assert_int_equal(again.profile.regions[1].points_count, 5);
    assert_int_equal(again.profile.regions[2].totals[TRACE_HEAP].end.bytes, -700);
    for (size_t i = 0; i < 3; i++) {
        assert_same_region(&again.profile.regions[i], &run.profile.regions[i]);
        assert_same_extras(&again.profile.regions[i], &run.profile.regions[i]);
    }
    run_finish(&run);
    run_finish(&again);
}

static void test_timeline_is_a_table_in_plain_sql(void **state) {
    const struct place *place = *state;
    struct run run;
    make_full_run(&run);
    add(place->db, &run);
    assert_int_equal(number(place->db, "SELECT count(*) FROM v_timeline"), 5);
    assert_int_equal(number(place->db, "SELECT max(live) FROM v_timeline"), 3700);
    assert_int_equal(
        number(place->db, "SELECT elapsed_ns FROM v_timeline WHERE live=700 ORDER BY place"),
        2200);
    assert_int_equal(number(place->db,
                            "SELECT value FROM region, json_each(sizes) WHERE ordinal=1 "
                            "AND key=10"),
                     1);
    run_finish(&run);
}

static void test_forked_child_finds_its_parent_in_the_store(void **state) {
    const struct place *place = *state;
    struct run parent, child, again;
    struct fault fault = {0};
    make_run(&parent, "a", "binary", 10);
    make_full_run(&child);
    strcpy(parent.profile.uuid, child.profile.parent_uuid);
    strcpy(child.profile.uuid, "another");
    add(place->db, &child);
    add(place->db, &parent);
    assert_int_equal(load(place->db, 1, &again, &fault), 0);
    assert_int_equal(again.parent_id, 2);
    run_finish(&again);
    assert_int_equal(load(place->db, 2, &again, &fault), 0);
    assert_int_equal(again.parent_id, 0);
    run_finish(&again);
    run_finish(&parent);
    run_finish(&child);
}

static void test_edited_lists_are_refused_when_loaded(void **state) {
    const struct place *place = *state;
    struct run run, again;
    struct fault fault = {0};
    static const char *const edits[] = {
        "UPDATE region SET sizes='[1,'",
        "UPDATE region SET sizes='[1,2]x'",
        "UPDATE region SET sizes='{}'",
        "UPDATE region SET sizes=''",
        "UPDATE region SET sizes='[99999999999999999999]'",
        "UPDATE region SET sizes='[-1]'",
        "UPDATE region SET sizes=replace(hex(zeroblob(100)),'00','[1,')",
        "UPDATE region_timeline SET packed=x'1A2A3F'",
        "UPDATE region_timeline SET packed=x'C5A3700F'",
        "UPDATE region_timeline SET packed=x'1A3701'",
        "UPDATE region_timeline SET packed=x'1A9223372036854775807A1A1F'",
        "UPDATE region_timeline SET packed=x'1A1F'",
        "UPDATE region_timeline SET packed=x'B1A1'",
        "UPDATE region SET usable_peak=usable_peak-100",
        "UPDATE region SET thread=0",
        "UPDATE region SET thread=-1",
        "UPDATE run SET trace_uuid='0123456789012345678901234567890123456789'",
    };
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        make_full_run(&run);
        add(place->db, &run);
        number(place->db, edits[i]);
        if (load(place->db, 1, &again, &fault) != -EBADMSG)
            fail_msg("taken: %s", edits[i]);
        assert_non_null(strstr(fault.text, "the store is damaged"));
        run_finish(&run);
        unlink(place->db);
    }
}

/* A store as an earlier version left it. */
static void make_old_store(const char *db, int version) {
    char path[PATH_MAX];
    snprintf(path, sizeof(path), OLD_STORES "/version-%d.sql", version);
    FILE *stream = fopen(path, "r");
    char *sql = NULL;
    size_t size = 0;
    sqlite3 *handle;
    assert_non_null(stream);
    assert_true(getdelim(&sql, &size, '\0', stream) > 0);
    fclose(stream);
    assert_int_equal(sqlite3_open(db, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
    free(sql);
}

static void assert_old_runs_are_there(const char *db) {
    struct run run;
    struct fault fault = {0};
    assert_int_equal(load(db, 1, &run, &fault), 0);
    assert_string_equal(run.benchmark, "votable.parse");
    assert_string_equal(run.profile.uuid, "");
    assert_int_equal(run.profile.regions[1].totals[TRACE_HEAP].peak_bytes, 26000);
    assert_int_equal(run.profile.regions[1].peak_elapsed_ns,
                     run.profile.regions[1].end_elapsed_ns);
    assert_int_equal(run.profile.regions[1].rows_count, 4);
    assert_false(run.profile.regions[1].usable_is_known);
    assert_null(run.profile.regions[1].sizes);
    run_finish(&run);
    assert_int_equal(load(db, 2, &run, &fault), 0);
    assert_int_equal(run.profile.end, PROFILE_KILLED);
    run_finish(&run);
}

static void test_old_store_is_read_without_being_changed(void **state) {
    const struct place *place = *state;
    struct stat before, after;
    make_old_store(place->db, 1);
    assert_int_equal(stat(place->db, &before), 0);
    assert_old_runs_are_there(place->db);
    assert_int_equal(stat(place->db, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    assert_int_equal(number(place->db, "PRAGMA user_version"), 1);
}

static void test_old_store_is_migrated_when_a_run_is_added(void **state) {
    const struct place *place = *state;
    struct run run;
    char fresh[128];
    make_old_store(place->db, 1);
    make_full_run(&run);
    add(place->db, &run);
    assert_int_equal(run.id, 3);
    assert_int_equal(number(place->db, "PRAGMA user_version"), 3);
    assert_int_equal(number(place->db, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_old_runs_are_there(place->db);
    /* It is what a new store is, to the letter. */
    snprintf(fresh, sizeof(fresh), "%s/fresh.db", place->folder);
    add(fresh, &run);
    char sql[512];
    snprintf(sql, sizeof(sql), "ATTACH '%s' AS fresh", fresh);
    sqlite3 *handle;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(place->db, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(handle,
                           "SELECT count(*), (SELECT count(*) FROM fresh.sqlite_schema) FROM "
                           "sqlite_schema a JOIN fresh.sqlite_schema b USING (type, name) "
                           "WHERE a.sql IS b.sql",
                           -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), sqlite3_column_int(statement, 1));
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    unlink(fresh);
    run_finish(&run);
}

/* Every number of version 2 as text, in an order that both versions have. */
#define SITES(table)                                                                           \
    "SELECT region_id, space, stack_id, flags, allocated_blocks, allocated_bytes, "            \
    "freed_blocks, freed_bytes, start_blocks, start_bytes, peak_blocks, peak_bytes, "          \
    "end_blocks, end_bytes, temporary FROM " table

static void test_sites_of_version_2_are_the_same_in_the_view_of_version_3(void **state) {
    const struct place *place = *state;
    struct run run;
    char old[128], sql[256];
    sqlite3 *handle;
    sqlite3_stmt *statement;
    make_old_store(place->db, 2);
    snprintf(old, sizeof(old), "%s/old.db", place->folder);
    make_old_store(old, 2);
    make_full_run(&run);
    add(place->db, &run);
    snprintf(sql, sizeof(sql), "ATTACH '%s' AS old", old);
    assert_int_equal(sqlite3_open(place->db, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(
            handle,
            "SELECT (SELECT count(*) FROM (" SITES("old.region_site") " EXCEPT " SITES(
                "main.v_"
                "sites") ")), (SELECT count(*) FROM (" SITES("main.v_sites "
                                                             "WHERE run_id<=2") " "
                                                                                "EXCEPT " SITES(
                                                                                    "old."
                                                                                    "region_"
                                                                                    "site") "))"
                                                                                            ", "
                                                                                            "(S"
                                                                                            "EL"
                                                                                            "EC"
                                                                                            "T "
                                                                                            "co"
                                                                                            "un"
                                                                                            "t("
                                                                                            "*)"
                                                                                            " F"
                                                                                            "RO"
                                                                                            "M "
                                                                                            "ol"
                                                                                            "d."
                                                                                            "re"
                                                                                            "gi"
                                                                                            "on"
                                                                                            "_s"
                                                                                            "it"
                                                                                            "e)"
                                                                                            ", "
                                                                                            "(S"
                                                                                            "EL"
                                                                                            "EC"
                                                                                            "T "
                                                                                            "co"
                                                                                            "un"
                                                                                            "t("
                                                                                            "*)"
                                                                                            " F"
                                                                                            "RO"
                                                                                            "M "
                                                                                            "(S"
                                                                                            "EL"
                                                                                            "EC"
                                                                                            "T "
                                                                                            "* "
                                                                                            "FR"
                                                                                            "OM"
                                                                                            " o"
                                                                                            "ld"
                                                                                            ".v"
                                                                                            "_t"
                                                                                            "im"
                                                                                            "el"
                                                                                            "in"
                                                                                            "e "
                                                                                            "EX"
                                                                                            "CE"
                                                                                            "PT"
                                                                                            " S"
                                                                                            "EL"
                                                                                            "EC"
                                                                                            "T "
                                                                                            "* "
                                                                                            "FR"
                                                                                            "OM"
                                                                                            " "
                                                                                            "ma"
                                                                                            "in"
                                                                                            ".v"
                                                                                            "_t"
                                                                                            "im"
                                                                                            "el"
                                                                                            "in"
                                                                                            "e)"
                                                                                            "),"
                                                                                            " ("
                                                                                            "SE"
                                                                                            "LE"
                                                                                            "CT"
                                                                                            " c"
                                                                                            "ou"
                                                                                            "nt"
                                                                                            "(*"
                                                                                            ") "
                                                                                            "FR"
                                                                                            "OM"
                                                                                            " o"
                                                                                            "ld"
                                                                                            ".v"
                                                                                            "_t"
                                                                                            "im"
                                                                                            "el"
                                                                                            "in"
                                                                                            "e"
                                                                                            ")",
            -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), 0);
    assert_int_equal(sqlite3_column_int(statement, 1), 0);
    assert_true(sqlite3_column_int(statement, 2) > 20);
    assert_int_equal(sqlite3_column_int(statement, 3), 0);
    assert_true(sqlite3_column_int(statement, 4) > 20);
    sqlite3_finalize(statement);
    sqlite3_close(handle);
    unlink(old);
    run_finish(&run);
}

static void test_migration_that_fails_leaves_the_old_store(void **state) {
    const struct place *place = *state;
    struct run run;
    struct run *pointer = &run;
    struct store *store;
    struct fault fault = {0};
    make_old_store(place->db, 1);
    number(place->db, "ALTER TABLE region_site DROP COLUMN temporary");
    make_full_run(&run);
    assert_int_equal(store_open(place->db, STORE_WRITE, &store, &fault), 0);
    assert_true(store_add(store, &pointer, 1, &fault) < 0);
    assert_non_null(strstr(fault.text, "temporary"));
    store_close(store);
    assert_int_equal(number(place->db, "PRAGMA user_version"), 1);
    assert_int_equal(number(place->db, "SELECT count(*) FROM run"), 2);
    assert_true(store_open(place->db, STORE_READ, &store, &fault) < 0);
    run_finish(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_run_comes_back_as_it_was),
        TEST(test_stacks_are_stored_once_for_all_runs),
        TEST(test_sums_hold_in_plain_sql),
        TEST(test_one_bad_run_of_two_leaves_nothing),
        TEST(test_store_in_use_is_said_in_plain_words),
        TEST(test_new_store_that_cannot_be_written_leaves_no_file),
        TEST(test_new_store_is_not_taken_from_another_program),
        TEST(test_same_process_is_stored_once_in_a_benchmark),
        TEST(test_hostile_names_come_back_unharmed),
        TEST(test_other_files_are_refused_and_left_alone),
        TEST(test_database_of_another_program_is_refused_and_left_alone),
        TEST(test_newer_store_is_refused_by_version),
        TEST(test_missing_store_is_not_created_by_reading_or_probing),
        TEST(test_edited_numbers_are_refused_when_loaded),
        TEST(test_bytes_torn_out_of_the_file_never_crash),
        TEST(test_list_names_the_region_that_added_most),
        TEST(test_selection_takes_the_newest_set_of_each_benchmark),
        TEST(test_parameter_given_twice_is_refused),
        TEST(test_lineage_sizes_and_timelines_come_back),
        TEST(test_timeline_is_a_table_in_plain_sql),
        TEST(test_forked_child_finds_its_parent_in_the_store),
        TEST(test_edited_lists_are_refused_when_loaded),
        TEST(test_old_store_is_read_without_being_changed),
        TEST(test_old_store_is_migrated_when_a_run_is_added),
        TEST(test_sites_of_version_2_are_the_same_in_the_view_of_version_3),
        TEST(test_migration_that_fails_leaves_the_old_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
