/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workload.c: region begin, parse, region end, report.
 *
 * The region holds opening, parsing and the filled columns and nothing else: the report's own
 * buffers and the checksum come after it, the columns are freed after it. What is allocated
 * inside depends on the file's content alone, so that two runs give the same bytes.
 */
#include "workload.h"

#include "checksum.h"
#include "errors.h"
#include "sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <votrace.h>

#define REGION_NAME "parse"

struct outcome {
    struct votable votable;
    struct problem problem;
    double seconds;
    bool traced; /* votrace was loaded and @totals hold */
    struct votrace_region_totals totals;
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int parse_measured(const struct workload_options *options, struct outcome *outcome) {
    votrace_region_begin(REGION_NAME);
    uint64_t start_ns = now_ns();
    int r =
        votable_read(options->path, options->strategy, &outcome->votable, &outcome->problem);
    uint64_t elapsed_ns = now_ns() - start_ns;
    votrace_region_end(REGION_NAME);

    outcome->seconds = (double)elapsed_ns / 1e9;
    outcome->traced =
        votrace_region_query(REGION_NAME, &outcome->totals, sizeof(outcome->totals)) == 0;
    return r;
}

static uint64_t stored_bytes(const struct votable *votable) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < votable->table_count; i++) {
        const struct table *table = votable->tables[i];
        for (size_t j = 0; table->columns != NULL && j < table->field_count; j++)
            bytes += column_stored_bytes(&table->columns[j]);
    }
    return bytes;
}

static uint64_t table_checksum(const struct table *table) {
    return checksum_columns(table->columns, table->columns != NULL ? table->field_count : 0,
                            table->rows);
}

static double megabytes_per_second(const struct outcome *outcome) {
    if (outcome->seconds <= 0)
        return 0;
    return (double)outcome->votable.file_bytes / 1e6 / outcome->seconds;
}

/* Text from the file, with control bytes made harmless to a terminal. */
static void print_name(const char *name) {
    for (const char *c = name; *c != '\0'; c++)
        putchar((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
}

static void print_bytes_line(const char *label, int64_t bytes) {
    char human[SIZES_TEXT_BYTES];
    char exact[SIZES_TEXT_BYTES];
    printf("%-15s %s (%s bytes)\n", label, sizes_format(human, bytes),
           sizes_group(exact, bytes));
}

static void print_table(const struct table *table) {
    char number[SIZES_TEXT_BYTES];
    printf("%-15s ", "table");
    print_name(table->name != NULL ? table->name : "(no name)");
    printf("\n%-15s %zu\n", "columns", table->field_count);
    printf("%-15s %s\n", "rows", sizes_group(number, (int64_t)table->rows));
    printf("%-15s %s\n", "serialization", serialization_name(table->serialization));
    printf("%-15s %016" PRIx64 "\n", "checksum", table_checksum(table));
}

static void print_text(const struct workload_options *options, const struct outcome *outcome) {
    for (size_t i = 0; i < outcome->votable.table_count; i++)
        print_table(outcome->votable.tables[i]);
    printf("%-15s %s\n", "strategy", strategy_name(options->strategy));
    printf("%-15s %.3f\n", "seconds", outcome->seconds);
    printf("%-15s %.1f\n", "MB/s", megabytes_per_second(outcome));
    print_bytes_line("values", (int64_t)stored_bytes(&outcome->votable));
    if (outcome->traced)
        print_bytes_line("peak added", outcome->totals.peak_added_bytes);
}

static void print_json_string(const char *text) {
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 0x20)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

static void print_json_table(const struct table *table) {
    printf("{\"name\": ");
    if (table->name != NULL)
        print_json_string(table->name);
    else
        printf("null");
    printf(", \"columns\": %zu, \"rows\": %" PRIu64
           ", \"serialization\": \"%s\", \"checksum\": \"%016" PRIx64 "\"}",
           table->field_count, table->rows, serialization_name(table->serialization),
           table_checksum(table));
}

static void print_json_totals(const struct votrace_region_totals *totals) {
    printf(", \"region\": \"%s\", \"instance\": %" PRIu64 ", \"live_start\": %" PRId64
           ", \"live_peak\": %" PRId64 ", \"live_end\": %" PRId64 ", \"peak_added\": %" PRId64
           ", \"net\": %" PRId64 ", \"owned_peak\": %" PRId64 ", \"allocations\": %" PRIu64
           ", \"frees\": %" PRIu64 ", \"allocated\": %" PRIu64 ", \"freed\": %" PRIu64
           ", \"map_anon_peak_added\": %" PRId64 ", \"combined_peak_added\": %" PRId64,
           REGION_NAME, totals->instance, totals->live_start_bytes, totals->live_peak_bytes,
           totals->live_bytes, totals->peak_added_bytes, totals->net_bytes,
           totals->owned_peak_bytes, totals->allocations, totals->frees,
           totals->allocated_bytes, totals->freed_bytes, totals->map_anon_peak_added_bytes,
           totals->combined_peak_added_bytes);
}

static void print_json(const struct workload_options *options, const struct outcome *outcome) {
    printf("{\"file\": ");
    print_json_string(options->path);
    printf(", \"strategy\": \"%s\", \"tables\": [", strategy_name(options->strategy));
    for (size_t i = 0; i < outcome->votable.table_count; i++) {
        printf(i > 0 ? ", " : "");
        print_json_table(outcome->votable.tables[i]);
    }
    printf("], \"seconds\": %.6f, \"megabytes_per_second\": %.1f, \"file_bytes\": %" PRIu64
           ", \"value_bytes\": %" PRIu64,
           outcome->seconds, megabytes_per_second(outcome), outcome->votable.file_bytes,
           stored_bytes(&outcome->votable));
    if (outcome->traced)
        print_json_totals(&outcome->totals);
    printf("}\n");
}

int workload_run(const struct workload_options *options) {
    struct outcome outcome = {0};
    int status = EXIT_CODE_OK;

    votable_library_init();
    if (parse_measured(options, &outcome) < 0) {
        complain_at(options->path, outcome.problem.lineno, "%s", outcome.problem.text);
        status = EXIT_CODE_TROUBLE;
    } else if (options->json) {
        print_json(options, &outcome);
    } else {
        print_text(options, &outcome);
    }
    votable_finish(&outcome.votable);
    votable_library_finish();
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("the report cannot be written: %s%s", strerror(errno),
                 errno == ENOSPC ? ", free some space" : "");
        status = EXIT_CODE_TROUBLE;
    }
    return status;
}
