/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_store.c: any bytes as a database, as far as list, show, check and export read it.
 *
 * Properties: no crash, no leak, not a byte of the file changed; a refusal has a text; a run
 * that is loaded has passed its own check, and what is exported of it does not fail.
 */
#include "corpus.h"
#include "export.h"
#include "profile.h"
#include "render.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS_MAX 8 /* read of each store: a damaged list may be long */

static char folder[32];
static char path[64];
static FILE *sink;

static void require(bool holds) {
    if (!holds)
        abort();
}

/* A journal or a log that lies beside it would belong to the next input as well. */
static void remove_all(void) {
    static const char *const ends[] = {"", "-journal", "-wal", "-shm"};
    char name[96];
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void finish(void) {
    remove_all();
    rmdir(folder);
    fclose(sink);
}

/* In memory where that is: a file is written for each input. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz-XXXXXX" : "/tmp/fuzz-XXXXXX");
    require(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/a.db", folder);
    sink = fopen("/dev/null", "w");
    require(sink != NULL);
    return atexit(finish);
}

static void file_write(const uint8_t *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void check_export(const struct run *run) {
    const struct export_request request = {.after = {run, export_region_pick(run, NULL)}};
    static const char *const formats[] = {"folded", "csv-sites", "massif", "pprof"};
    if (!request.after.region)
        return;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct fault fault = {0};
        size_t skipped;
        int r = export_write(export_format_find(formats[i]), &request, sink, &skipped, &fault);
        require(r == 0 || fault.text[0] != '\0');
    }
}

static void check_run(struct store *store, int64_t id) {
    const struct render_show options = {0};
    struct fault fault = {0};
    struct run run;
    if (store_load(store, id, &run, &fault) < 0) {
        require(fault.text[0] != '\0');
        return;
    }
    require(profile_check(&run.profile, &fault) == 0);
    require(render_show_json(sink, &run, &options) == 0);
    check_export(&run);
    run_finish(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct store *store;
    struct store_entry *entries;
    struct arena arena = {0};
    struct fault fault = {0};
    size_t count;
    remove_all();
    file_write(data, size);
    if (store_open(path, STORE_READ, &store, &fault) < 0) {
        require(fault.text[0] != '\0');
        return 0;
    }
    if (store_list(store, &arena, &entries, &count, &fault) == 0)
        for (size_t i = 0; i < count && i < RUNS_MAX; i++)
            check_run(store, entries[i].run.id);
    else
        require(fault.text[0] != '\0');
    arena_finish(&arena);
    store_close(store);
    return 0;
}
