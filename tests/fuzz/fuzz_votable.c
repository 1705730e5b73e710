/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_votable.c: any bytes as a document, in every strategy.
 *
 * Properties: no crash, no leak, no limit passed; a refusal has a text; the strategies agree on
 * the tables, and on whether there are any. Without libFuzzer main() runs over files and
 * folders.
 */
#include "checksum.h"
#include "corpus.h"
#include "votable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what, const struct problem *problem) {
    if (holds)
        return;
    fprintf(stderr, "%s: line %llu: %s\n", what, (unsigned long long)problem->lineno,
            problem->text);
    abort();
}

/* One hash over all tables; 0 when the document is refused. */
static uint64_t read_document(const char *path, enum strategy strategy,
                              struct problem *ret_problem) {
    struct votable votable = {0};
    struct problem problem = {0};
    uint64_t hash = 0;
    int r = votable_read(path, strategy, &votable, &problem);
    require(r == problem.code, "the result is not the problem's code", &problem);
    require(r == 0 || problem.text[0] != '\0', "a refusal without a text", &problem);
    for (size_t i = 0; r == 0 && i < votable.table_count; i++) {
        const struct table *table = votable.tables[i];
        size_t columns = table->columns != NULL ? table->field_count : 0;
        for (size_t j = 0; j < columns; j++)
            require(table->columns[j].rows == table->rows, "a column of other length",
                    &problem);
        hash = (hash ^ checksum_columns(table->columns, columns, table->rows)) * 31 + 1;
    }
    votable_finish(&votable);
    *ret_problem = problem;
    return r == 0 ? hash + 1 : 0;
}

/* votable_read() takes a path: a file in memory has one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[32];
    int fd = memfd_create("document", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

    struct problem first;
    uint64_t hash = read_document(path, STRATEGY_STREAM, &first);
    for (int i = STRATEGY_BUFFER; i < STRATEGIES; i++) {
        struct problem problem;
        uint64_t other = read_document(path, (enum strategy)i, &problem);
        require(other == hash, strategy_name((enum strategy)i),
                first.code != 0 ? &first : &problem);
    }
    close(fd);
    return 0;
}

#ifndef FUZZER_LIBFUZZER
int main(int argc, char **argv) {
    votable_library_init();
    int r = corpus_run(argc, argv, LLVMFuzzerTestOneInput);
    votable_library_finish();
    return r;
}
#endif
