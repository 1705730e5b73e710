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
#include "commands.h"
#include "consumer.h"
#include "errors.h"
#include "json.h"
#include "sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <votrace.h>

#define REGION_NAME "parse"

struct outcome {
    struct votable votable;
    struct problem problem;
    double seconds; /* of the fastest parse */
    uint64_t discarded_bytes;
    bool traced;                         /* votrace was loaded and @totals hold */
    struct votrace_region_totals totals; /* of the last parse */
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t table_stored_bytes(const struct table *table) {
    uint64_t bytes = 0;
    for (size_t i = 0; table->columns != NULL && i < table->field_count; i++)
        bytes += column_stored_bytes(&table->columns[i]);
    return bytes;
}

/* The consumer of --discard. */
static int discard_rows(void *context, struct table *table, uint64_t first_row,
                        uint64_t row_count, struct problem *problem) {
    uint64_t *bytes = context;
    *bytes += table_stored_bytes(table);
    return 0;
}

static int parse_measured(const char *path, const struct read_options *read,
                          struct outcome *outcome) {
    votrace_region_begin(REGION_NAME);
    uint64_t start_ns = now_ns();
    int r = votable_scan(path, read, &outcome->votable, &outcome->problem);
    uint64_t elapsed_ns = now_ns() - start_ns;
    votrace_region_end(REGION_NAME);

    double seconds = (double)elapsed_ns / 1e9;
    if (outcome->seconds <= 0 || seconds < outcome->seconds)
        outcome->seconds = seconds;
    outcome->traced =
        votrace_region_query(REGION_NAME, &outcome->totals, sizeof(outcome->totals)) == 0;
    return r;
}

/* All parses but the last are forgotten; warnings are told once. */
static int parse_repeatedly(const struct workload_options *options, struct outcome *outcome) {
    struct consumer discard = {.context = &outcome->discarded_bytes, .rows = discard_rows};
    struct read_options read = options->read;
    read.consumer = options->discard ? &discard : NULL;
    read.warn = command_warn;
    read.warn_context = options->path;
    for (uint64_t i = 0; i < options->repeat; i++) {
        votable_finish(&outcome->votable);
        outcome->discarded_bytes = 0;
        int r = parse_measured(options->path, &read, outcome);
        if (r < 0)
            return r;
        read.warn = NULL;
    }
    return 0;
}

static uint64_t value_bytes(const struct outcome *outcome) {
    uint64_t bytes = outcome->discarded_bytes;
    for (size_t i = 0; i < outcome->votable.table_count; i++)
        bytes += table_stored_bytes(outcome->votable.tables[i]);
    return bytes;
}

static uint64_t table_checksum(const struct table *table) {
    return checksum_columns(table->columns, table->columns != NULL ? table->field_count : 0,
                            table->rows);
}

static bool has_checksum(const struct workload_options *options) {
    return !options->discard && !options->no_checksum;
}

static size_t count_columns(const struct table *table) {
    size_t columns = 0;
    for (size_t i = 0; i < table->field_count; i++)
        columns += !table->fields[i]->skipped;
    return columns;
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

static void print_table(const struct workload_options *options, const struct table *table) {
    char number[SIZES_TEXT_BYTES];
    printf("%-15s ", "table");
    print_name(table->name != NULL ? table->name : "(no name)");
    printf("\n%-15s %zu\n", "columns", count_columns(table));
    printf("%-15s %s\n", "rows", sizes_group(number, (int64_t)table->rows));
    printf("%-15s %s\n", "serialization", serialization_name(table->serialization));
    if (has_checksum(options))
        printf("%-15s %016" PRIx64 "\n", "checksum", table_checksum(table));
}

static void print_text(const struct workload_options *options, const struct outcome *outcome) {
    for (size_t i = 0; i < outcome->votable.table_count; i++)
        if (!outcome->votable.tables[i]->skipped)
            print_table(options, outcome->votable.tables[i]);
    printf("%-15s %s\n", "strategy", strategy_name(options->read.strategy));
    printf("%-15s %.3f\n", "seconds", outcome->seconds);
    printf("%-15s %.1f\n", "MB/s", megabytes_per_second(outcome));
    print_bytes_line("values", (int64_t)value_bytes(outcome));
    if (outcome->traced)
        print_bytes_line("peak added", outcome->totals.peak_added_bytes);
}

/* The report has blanks behind its colons and commas, json.h's has none: only texts are its. */
static void print_json_string(const char *text) {
    json_text(&(struct json){.stream = stdout, .compact = true}, NULL, text);
}

static void print_json_table(const struct workload_options *options,
                             const struct table *table) {
    printf("{\"name\": ");
    if (table->name != NULL)
        print_json_string(table->name);
    else
        printf("null");
    printf(", \"columns\": %zu, \"rows\": %" PRIu64 ", \"serialization\": \"%s\", ",
           count_columns(table), table->rows, serialization_name(table->serialization));
    if (has_checksum(options))
        printf("\"checksum\": \"%016" PRIx64 "\"}", table_checksum(table));
    else
        printf("\"checksum\": null}");
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
    const char *comma = "";
    printf("{\"file\": ");
    print_json_string(options->path);
    printf(", \"strategy\": \"%s\", \"tables\": [", strategy_name(options->read.strategy));
    for (size_t i = 0; i < outcome->votable.table_count; i++) {
        if (outcome->votable.tables[i]->skipped)
            continue;
        printf("%s", comma);
        comma = ", ";
        print_json_table(options, outcome->votable.tables[i]);
    }
    printf("], \"seconds\": %.6f, \"megabytes_per_second\": %.1f, \"file_bytes\": %" PRIu64
           ", \"value_bytes\": %" PRIu64 ", \"repeat\": %" PRIu64 ", \"discard\": %s",
           outcome->seconds, megabytes_per_second(outcome), outcome->votable.file_bytes,
           value_bytes(outcome), options->repeat, options->discard ? "true" : "false");
    if (outcome->traced)
        print_json_totals(&outcome->totals);
    printf("}\n");
}

int workload_run(const struct workload_options *options) {
    struct outcome outcome = {0};
    int status = EXIT_CODE_OK;

    if (options->repeat > 1 && strcmp(options->path, "-") == 0) {
        complain("standard input can be read only once, name a file for --repeat");
        status = EXIT_CODE_TROUBLE;
    } else if (parse_repeatedly(options, &outcome) < 0) {
        complain_at(options->path, outcome.problem.lineno, "%s", outcome.problem.text);
        status = EXIT_CODE_TROUBLE;
    } else if (options->json) {
        print_json(options, &outcome);
    } else {
        print_text(options, &outcome);
    }
    votable_finish(&outcome.votable);
    if (command_end_report() != EXIT_CODE_OK)
        status = EXIT_CODE_TROUBLE;
    return status;
}
