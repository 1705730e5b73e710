/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a store goes through in years: imports at the same time, killed at any moment, on a full
 * disk; files copied at the wrong time, read where nothing can be written, and damaged ones. A run
 * is in it whole or not at all, and nothing crashes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITES   200
#define REGIONS 3
#define KILLS   40

struct place {
    char folder[64];
    char db[96];
    char copy[96];
};

static int setup(void **state) {
    struct place *place = calloc(1, sizeof(*place));
    strcpy(place->folder, "/tmp/test_safety.XXXXXX");
    if (!mkdtemp(place->folder))
        return -1;
    snprintf(place->db, sizeof(place->db), "%s/a.db", place->folder);
    snprintf(place->copy, sizeof(place->copy), "%s/b.db", place->folder);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    struct place *place = *state;
    unlink(place->db);
    unlink(place->copy);
    int r = rmdir(place->folder); /* fails when a journal or a log was left behind */
    free(place);
    return r;
}

/* A run of REGIONS regions with SITES call sites each, another for each @number. */
static void make_run(struct run *ret_run, size_t number) {
    struct run *run = ret_run;
    struct profile *profile = &run->profile;
    *run = (struct run){0};
    struct profile_module *modules = arena_array(&profile->arena, 1, sizeof(*modules));
    struct profile_frame *frames = arena_array(&profile->arena, SITES, sizeof(*frames));
    struct profile_node *nodes = arena_array(&profile->arena, SITES + 1, sizeof(*nodes));
    struct profile_site *sites = arena_array(&profile->arena, SITES, sizeof(*sites));
    struct profile_region *regions = arena_array(&profile->arena, REGIONS, sizeof(*regions));
    assert_true(modules && frames && nodes && sites && regions);
    modules[0].path = "";
    for (uint32_t i = 0; i < SITES; i++) {
        frames[i] = (struct profile_frame){
            .offset = 16 * i + number, .function = "function", .file = "file.c", .lineno = i};
        nodes[i + 1] = (struct profile_node){i / 2, i};
        sites[i].node = i + 1;
    }
    for (size_t r = 0; r < REGIONS; r++) {
        struct profile_region *region = &regions[r];
        struct profile_row *rows = arena_array(&profile->arena, SITES, sizeof(*rows));
        struct profile_totals *totals = &region->totals[TRACE_HEAP];
        assert_non_null(rows);
        for (uint32_t i = 0; i < SITES; i++) {
            int64_t bytes = 100 + (int64_t)(i * number);
            rows[i] = (struct profile_row){.site = i,
                                           .allocated = {2, 2 * bytes},
                                           .freed = {1, bytes},
                                           .peak = {2, 2 * bytes},
                                           .end = {1, bytes}};
            totals->allocated.blocks += 2;
            totals->allocated.bytes += 2 * bytes;
            totals->freed.blocks += 1;
            totals->freed.bytes += bytes;
            totals->peak_bytes += 2 * bytes;
            totals->end.blocks += 1;
            totals->end.bytes += bytes;
        }
        region->name = r == 0 ? "process" : "parse";
        region->instance = r == 0 ? 1 : (uint32_t)r;
        region->has_rows = true;
        region->open = r == 0;
        region->rows = rows;
        region->rows_count = SITES;
        region->combined_peak_bytes = totals->peak_bytes;
        region->combined_end_bytes = totals->end.bytes;
    }
    *profile = (struct profile){.arena = profile->arena,
                                .program = "program",
                                .exe = "",
                                .cwd = "",
                                .votrace_version = "0",
                                .start_realtime_ns = 1 + (int64_t)number,
                                .modules = modules,
                                .module_count = 1,
                                .frames = frames,
                                .frame_count = SITES,
                                .nodes = nodes,
                                .node_count = SITES + 1,
                                .sites = sites,
                                .site_count = SITES,
                                .regions = regions,
                                .region_count = REGIONS};
    assert_int_equal(run_describe(run, "a", NULL, 0), 0);
    assert_int_equal(run_uuid_make(run->set_uuid), 0);
    run->repeat = 1;
}

static int add(const char *db, size_t first, size_t count, struct fault *fault) {
    struct run runs[8];
    struct run *pointers[8];
    struct store *store;
    for (size_t i = 0; i < count; i++) {
        make_run(&runs[i], first + i);
        pointers[i] = &runs[i];
    }
    int r = store_open(db, STORE_WRITE, &store, fault);
    if (r == 0) {
        r = store_add(store, pointers, count, fault);
        store_close(store);
    }
    for (size_t i = 0; i < count; i++)
        run_finish(&runs[i]);
    return r;
}

static void must_add(const char *db, size_t number) {
    struct fault fault = {0};
    if (add(db, number, 1, &fault) < 0)
        fail_msg("%s", fault.text);
}

static void complain_line(void *context, const char *line) {
    fail_msg("%s: %s", (const char *)context, line);
}

/* Everything in the store is well; returns how many runs it has. */
static size_t check(const char *db) {
    struct store *store;
    struct fault fault = {0};
    struct arena arena = {0};
    struct store_entry *entries;
    size_t count;
    if (store_open(db, STORE_READ, &store, &fault) < 0)
        fail_msg("%s: %s", db, fault.text);
    assert_int_equal(store_check(store, complain_line, (void *)db, &fault), 0);
    assert_int_equal(store_list(store, &arena, &entries, &count, &fault), 0);
    arena_finish(&arena);
    store_close(store);
    return count;
}

static void copy_file(const char *from, const char *to) {
    char command[256];
    snprintf(command, sizeof(command), "cp %s %s", from, to);
    assert_int_equal(system(command), 0);
}

static pid_t begin_import(const char *db, size_t first, size_t count) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct fault fault = {0};
        _exit(add(db, first, count, &fault) == 0 ? 0 : 1);
    }
    return pid;
}

static bool ended_well(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Three runs in one transaction: all are there after the kill, or none is. */
static void test_killed_import_is_there_whole_or_not_at_all(void **state) {
    const struct place *place = *state;
    struct random dice = {4711};
    size_t before = 1;
    size_t killed = 0;
    must_add(place->db, 1);
    for (size_t i = 0; i < KILLS; i++) {
        pid_t pid = begin_import(place->db, 10 + 3 * i, 3);
        usleep((useconds_t)random_below(&dice, 12000));
        kill(pid, SIGKILL);
        killed += !ended_well(pid);
        size_t now = check(place->db);
        if (now != before && now != before + 3)
            fail_msg("%zu runs after %zu", now, before);
        before = now;
    }
    assert_true(killed > 0);
    must_add(place->db, 5);
    assert_int_equal(check(place->db), before + 1);
}

static void test_new_store_whose_import_is_killed_can_be_used(void **state) {
    const struct place *place = *state;
    struct random dice = {42};
    for (size_t i = 0; i < 20; i++) {
        pid_t pid = begin_import(place->db, 1, 1);
        usleep((useconds_t)random_below(&dice, 8000));
        kill(pid, SIGKILL);
        bool done = ended_well(pid);
        if (!done)
            done = add(place->db, 1, 1, &(struct fault){0}) == 0 || check(place->db) == 1;
        assert_true(done);
        assert_int_equal(check(place->db), 1);
        unlink(place->db);
    }
}

static void test_imports_at_the_same_time_all_come_in(void **state) {
    const struct place *place = *state;
    pid_t pids[8];
    must_add(place->db, 1);
    for (size_t i = 0; i < 8; i++)
        pids[i] = begin_import(place->db, 100 + 10 * i, 2);
    for (size_t i = 0; i < 8; i++)
        assert_true(ended_well(pids[i]));
    assert_int_equal(check(place->db), 17);
}

static void test_reader_goes_on_while_a_run_is_added(void **state) {
    const struct place *place = *state;
    struct store *store;
    struct fault fault = {0};
    struct run run;
    must_add(place->db, 1);
    assert_int_equal(store_open(place->db, STORE_READ, &store, &fault), 0);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(place->db, &other), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(other, "PRAGMA journal_mode=WAL; BEGIN IMMEDIATE", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "DELETE FROM run", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_load(store, 1, &run, &fault), 0);
    run_finish(&run);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    store_close(store); /* the last: folds the log back */
    assert_int_equal(check(place->db), 1);
}

/* The byte at 18 of the header: 1 a plain file, 2 one with a log beside it. */
static int write_version(const char *db) {
    unsigned char header[20];
    FILE *stream = fopen(db, "rb");
    assert_non_null(stream);
    assert_int_equal(fread(header, 1, sizeof(header), stream), sizeof(header));
    fclose(stream);
    return header[18];
}

static void test_store_is_one_plain_file_when_nobody_writes(void **state) {
    const struct place *place = *state;
    must_add(place->db, 1);
    must_add(place->db, 2);
    assert_int_equal(write_version(place->db), 1);
    copy_file(place->db, place->copy);
    assert_int_equal(check(place->copy), 2);
}

/* Leave a committed run in the log, as a killed import does. */
static void leave_log(const char *db) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sqlite3 *handle;
        if (sqlite3_open(db, &handle) != SQLITE_OK ||
            sqlite3_exec(handle, "PRAGMA journal_mode=WAL; UPDATE run SET branch='log'", NULL,
                         NULL, NULL) != SQLITE_OK)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    assert_false(ended_well(pid));
}

static void test_log_of_a_killed_import_is_folded_back_by_who_reads(void **state) {
    const struct place *place = *state;
    char log[128];
    snprintf(log, sizeof(log), "%s-wal", place->db);
    must_add(place->db, 1);
    leave_log(place->db);
    assert_int_equal(access(log, F_OK), 0);
    assert_int_equal(check(place->db), 1);
    assert_int_equal(write_version(place->db), 1);
    assert_int_equal(access(log, F_OK), -1);
}

/* Run @what in a child that may write nowhere in the folder; true when it returned 0. */
static bool in_read_only_folder(const struct place *place, int (*what)(const char *db)) {
    assert_int_equal(chmod(place->folder, 0555), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(1);
        _exit(what(place->db) == 0 ? 0 : 1);
    }
    bool well = ended_well(pid);
    assert_int_equal(chmod(place->folder, 0700), 0);
    return well;
}

static int read_first_run(const char *db) {
    struct store *store;
    struct fault fault = {0};
    struct run run;
    int r = store_open(db, STORE_READ, &store, &fault);
    if (r == 0) {
        r = store_load(store, 1, &run, &fault);
        store_close(store);
    }
    if (r == 0)
        run_finish(&run);
    return r;
}

static int read_says_log(const char *db) {
    struct store *store;
    struct fault fault = {0};
    int r = store_open(db, STORE_READ, &store, &fault);
    if (r == 0)
        store_close(store);
    return r < 0 && strstr(fault.text, "log") ? 0 : -EIO;
}

static void test_store_is_read_where_nothing_can_be_written(void **state) {
    const struct place *place = *state;
    must_add(place->db, 1);
    assert_int_equal(chmod(place->db, 0444), 0);
    assert_true(in_read_only_folder(place, read_first_run));

    /* Even one that was copied while an import had it in WAL. */
    char log[128], shared[128];
    snprintf(log, sizeof(log), "%s-wal", place->db);
    snprintf(shared, sizeof(shared), "%s-shm", place->db);
    assert_int_equal(chmod(place->db, 0644), 0);
    leave_log(place->db);
    assert_int_equal(unlink(shared), 0);
    assert_int_equal(chmod(place->db, 0444), 0);
    assert_true(in_read_only_folder(place, read_says_log));
    assert_int_equal(unlink(log), 0);
    assert_int_equal(write_version(place->db), 2);
    assert_true(in_read_only_folder(place, read_first_run));
}

/* No file may grow beyond @most bytes. */
static void set_room(rlim_t most) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_full_disk_leaves_the_store_as_it_was(void **state) {
    const struct place *place = *state;
    struct stat status;
    signal(SIGXFSZ, SIG_IGN);
    must_add(place->db, 1);
    assert_int_equal(stat(place->db, &status), 0);
    size_t failed = 0;
    for (rlim_t most = 0; most <= (rlim_t)status.st_size * 3; most += 8192) {
        struct fault fault = {0};
        set_room(most);
        int r = add(place->db, 2, 1, &fault);
        set_room(RLIM_INFINITY);
        if (r == 0)
            break;
        failed++;
        assert_true(fault.text[0] != '\0');
        assert_int_equal(check(place->db), 1);
    }
    assert_true(failed > 5);
    if (check(place->db) == 1)
        must_add(place->db, 2);
    assert_int_equal(check(place->db), 2);
}

static void test_store_that_is_full_can_be_read(void **state) {
    const struct place *place = *state;
    signal(SIGXFSZ, SIG_IGN);
    must_add(place->db, 1);
    set_room(0);
    int r = add(place->db, 2, 1, &(struct fault){0});
    int read = read_first_run(place->db);
    set_room(RLIM_INFINITY);
    assert_true(r < 0);
    assert_int_equal(read, 0);
}

static void ignore_line(void *context, const char *line) {
    assert_true(line[0] != '\0');
    assert_null(strchr(line, '\n'));
    ++*(size_t *)context;
}

/* One way to use a damaged store; whatever it says, it says it. */
static size_t use(const char *db) {
    struct store *store;
    struct fault fault = {0};
    struct arena arena = {0};
    struct store_entry *entries;
    struct run run;
    size_t wrong = 0, count;
    if (store_open(db, STORE_READ, &store, &fault) < 0) {
        assert_true(fault.text[0] != '\0');
        return 1;
    }
    if (store_list(store, &arena, &entries, &count, &fault) < 0)
        wrong++;
    arena_finish(&arena);
    for (int64_t id = 1; id <= 3; id++) {
        if (store_load(store, id, &run, &fault) == 0)
            run_finish(&run);
        else
            wrong++;
    }
    if (store_check(store, ignore_line, &wrong, &fault) < 0)
        wrong++;
    store_close(store);
    return wrong;
}

static void test_flipped_bytes_never_crash_and_are_found(void **state) {
    const struct place *place = *state;
    struct random dice = {2024};
    struct stat status;
    size_t found = 0;
    for (size_t i = 1; i <= 3; i++)
        must_add(place->db, i);
    assert_int_equal(stat(place->db, &status), 0);
    for (int round = 0; round < 100; round++) {
        copy_file(place->db, place->copy);
        int fd = open(place->copy, O_RDWR);
        assert_true(fd >= 0);
        for (uint64_t i = random_below(&dice, 8) + 1; i > 0; i--) {
            /* Also at the begins of pages, where most is decided. */
            off_t at = (off_t)random_below(&dice, (uint64_t)status.st_size);
            if (i % 2 == 0)
                at = at / 4096 * 4096 + at % 16;
            unsigned char byte = (unsigned char)random_next(&dice);
            assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        }
        close(fd);
        found += use(place->copy) > 0;
        struct fault fault = {0};
        struct store *store;
        struct store_pruned pruned;
        if (store_open(place->copy, STORE_WRITE, &store, &fault) == 0) {
            if (store_prune(store, 1, &pruned, &fault) < 0)
                assert_true(fault.text[0] != '\0');
            store_close(store);
        }
        unlink(place->copy);
    }
    assert_true(found > 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_killed_import_is_there_whole_or_not_at_all),
        TEST(test_new_store_whose_import_is_killed_can_be_used),
        TEST(test_imports_at_the_same_time_all_come_in),
        TEST(test_reader_goes_on_while_a_run_is_added),
        TEST(test_store_is_one_plain_file_when_nobody_writes),
        TEST(test_log_of_a_killed_import_is_folded_back_by_who_reads),
        TEST(test_store_is_read_where_nothing_can_be_written),
        TEST(test_full_disk_leaves_the_store_as_it_was),
        TEST(test_store_that_is_full_can_be_read),
        TEST(test_flipped_bytes_never_crash_and_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
