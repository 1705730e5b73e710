/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * corpus.c: what a fuzzer found once, and what people thought of, stays tested.
 *
 * Each input is copied into a block of exactly its size, so that sanitizers see a step beyond.
 */
#include "corpus.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CUTS 100

struct corpus {
    unsigned tests;
    unsigned failed;
};

static void run_bytes(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_cuts(const uint8_t *data, size_t size) {
    run_bytes(data, size);
    for (size_t i = 0; i < CUTS && i < size; i++) {
        run_bytes(data, i);
        run_bytes(data, size - i - 1);
    }
}

static int read_file(const char *path, uint8_t **ret_data, size_t *ret_size) {
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &status) < 0) {
        if (file != NULL)
            fclose(file);
        return -1;
    }
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + 1);
    int r = data != NULL && fread(data, 1, size, file) == size ? 0 : -1;
    fclose(file);
    if (r < 0) {
        free(data);
        return r;
    }
    *ret_data = data;
    *ret_size = size;
    return 0;
}

static void run_file(struct corpus *corpus, const char *path) {
    uint8_t *data;
    size_t size;
    corpus->tests++;
    if (read_file(path, &data, &size) < 0) {
        printf("not ok %u - %s cannot be read\n", corpus->tests, path);
        corpus->failed++;
        return;
    }
    /* Said before, so that an abort shows which one it was. */
    printf("# %s\n", path);
    fflush(stdout);
    run_cuts(data, size);
    free(data);
    const char *name = strrchr(path, '/');
    printf("ok %u - %s\n", corpus->tests, name != NULL ? name + 1 : path);
}

static void run_folder(struct corpus *corpus, const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        printf("not ok %u - %s cannot be listed\n", ++corpus->tests, path);
        corpus->failed++;
        return;
    }
    for (int i = 0; i < count; i++) {
        char *file;
        if (entries[i]->d_name[0] != '.' &&
            asprintf(&file, "%s/%s", path, entries[i]->d_name) >= 0) {
            run_file(corpus, file);
            free(file);
        }
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv) {
    struct corpus corpus = {0};
    if (LLVMFuzzerInitialize != NULL)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        struct stat status;
        if (stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode))
            run_folder(&corpus, argv[i]);
        else
            run_file(&corpus, argv[i]);
    }
    printf("1..%u\n", corpus.tests);
    return corpus.failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
