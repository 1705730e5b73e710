/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_stats.c: `votdriver stats`: count, then print, as JSON or as a table for people.
 *
 * Nothing is printed before the whole document was read: half a result is none.
 */
#include "commands.h"

#include "decimal.h"
#include "errors.h"
#include "json.h"
#include "stats.h"
#include "utf8.h"
#include "votable.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <votrace.h>

#define INTEGER_TEXT_BYTES 40 /* of 128 bits, with the sign */
#define NUMBER_TEXT_BYTES  48
#define TEXT_BYTES         256
#define WIDTH_MAX          40

/* 128 bits, which printf does not know. Returns the length; a NUL follows. */
static size_t print_wide(char ret_text[NUMBER_TEXT_BYTES], stats_integer value) {
    __extension__ typedef unsigned __int128 wide;
    wide left = value < 0 ? 0 - (wide)value : (wide)value;
    char digits[INTEGER_TEXT_BYTES];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left != 0);
    if (value < 0)
        digits[--at] = '-';
    memcpy(ret_text, digits + at, sizeof(digits) - at);
    ret_text[sizeof(digits) - at] = '\0';
    return sizeof(digits) - at;
}

static size_t print_real(char ret_text[NUMBER_TEXT_BYTES], double value) {
    size_t length = decimal_print_double(ret_text, value);
    ret_text[length] = '\0';
    return length;
}

static void json_double(struct json *json, const char *key, double value) {
    char text[NUMBER_TEXT_BYTES];
    if (isfinite(value))
        json_real(json, key, text, print_real(text, value));
    else
        json_null(json, key);
}

static bool has_limits(const struct field *field, const struct column_stats *column) {
    return column->numbers > 0 && field->type != FIELD_FLOAT_COMPLEX &&
           field->type != FIELD_DOUBLE_COMPLEX;
}

static void json_numbers(struct json *json, const struct field *field,
                         const struct column_stats *column) {
    char text[NUMBER_TEXT_BYTES];
    json_int(json, "magic", (int64_t)column->magic);
    if (!column->real) {
        json_real(json, "sum", text, print_wide(text, column->integer_sum));
        if (has_limits(field, column)) {
            json_int(json, "min", column->integer_low);
            json_int(json, "max", column->integer_high);
        }
        return;
    }
    json_int(json, "nan", (int64_t)column->nan);
    json_int(json, "inf", (int64_t)column->inf);
    json_double(json, "sum", column_stats_sum(column));
    if (has_limits(field, column)) {
        json_double(json, "min", column->real_low);
        json_double(json, "max", column->real_high);
    }
}

static void json_text_or_null(struct json *json, const char *key, const char *text) {
    if (text != NULL)
        json_text(json, key, text);
    else
        json_null(json, key);
}

static void json_column(struct json *json, const struct field *field,
                        const struct column_stats *column) {
    json_begin(json, NULL, '{');
    json_text(json, "name", field->name);
    json_text(json, "datatype", field_type_name(field->type));
    json_text_or_null(json, "arraysize", field->arraysize);
    json_int(json, "nulls", (int64_t)column->nulls);
    json_int(json, "items", (int64_t)column->items);
    if (field_is_string(field)) {
        json_int(json, "bytes", (int64_t)column->bytes);
        json_int(json, "crc", column->crc);
    } else {
        json_numbers(json, field, column);
    }
    json_end(json, '}');
}

static void print_json(const struct stats *stats) {
    struct json json = {.stream = stdout, .compact = true};
    json_begin(&json, NULL, '{');
    json_begin(&json, "tables", '[');
    for (size_t i = 0; i < stats->table_count; i++) {
        const struct table *table = stats->tables[i].table;
        json_begin(&json, NULL, '{');
        json_text_or_null(&json, "name", table->name);
        json_text(&json, "serialization", serialization_name(table->serialization));
        json_int(&json, "rows", (int64_t)table->rows);
        json_begin(&json, "columns", '[');
        for (size_t j = 0; j < table->field_count; j++)
            json_column(&json, table->fields[j], &stats->tables[i].columns[j]);
        json_end(&json, ']');
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_end(&json, '}');
    putchar('\n');
}

/* Text from the file, fit for a terminal. Returns the columns that it takes. */
static int clean_text(char ret_clean[TEXT_BYTES], const char *text) {
    snprintf(ret_clean, TEXT_BYTES, "%s", text);
    utf8_clean(ret_clean);
    return (int)utf8_width(ret_clean);
}

static void print_padded(const char *text, int width) {
    char clean[TEXT_BYTES];
    int shown = clean_text(clean, text);
    printf("%s%*s", clean, width > shown ? width - shown : 0, "");
}

static void name_type(char ret_type[TEXT_BYTES], const struct field *field) {
    snprintf(ret_type, TEXT_BYTES, field->arraysize != NULL ? "%s[%.40s]" : "%s",
             field_type_name(field->type), field->arraysize);
}

/* Of the columns of text: what the longest takes, but not more than leaves room for numbers. */
struct widths {
    int name;
    int type;
};

static int wider(int width, const char *text) {
    char clean[TEXT_BYTES];
    int wanted = clean_text(clean, text);
    if (wanted > WIDTH_MAX)
        wanted = WIDTH_MAX;
    return wanted > width ? wanted : width;
}

static struct widths measure_widths(const struct table *table) {
    struct widths widths = {(int)strlen("column"), (int)strlen("type")};
    for (size_t i = 0; i < table->field_count; i++) {
        char type[TEXT_BYTES];
        name_type(type, table->fields[i]);
        widths.name = wider(widths.name, table->fields[i]->name);
        widths.type = wider(widths.type, type);
    }
    return widths;
}

static void print_column(const struct widths *widths, const struct field *field,
                         const struct column_stats *column) {
    char type[TEXT_BYTES];
    char sum[NUMBER_TEXT_BYTES] = "";
    char low[NUMBER_TEXT_BYTES] = "";
    char high[NUMBER_TEXT_BYTES] = "";
    name_type(type, field);
    print_padded(field->name, widths->name);
    printf(" ");
    print_padded(type, widths->type);
    printf(" %10" PRIu64 " %12" PRIu64, column->nulls, column->items);
    if (field_is_string(field)) {
        printf(" %" PRIu64 " bytes, crc %08" PRIx32 "\n", column->bytes, column->crc);
        return;
    }
    if (column->real) {
        print_real(sum, column_stats_sum(column));
        if (has_limits(field, column)) {
            print_real(low, column->real_low);
            print_real(high, column->real_high);
        }
    } else {
        print_wide(sum, column->integer_sum);
        if (has_limits(field, column)) {
            print_wide(low, column->integer_low);
            print_wide(high, column->integer_high);
        }
    }
    printf(" %24s %24s %24s", sum, low, high);
    if (column->magic > 0)
        printf(" %" PRIu64 " magic", column->magic);
    if (column->nan > 0)
        printf(" %" PRIu64 " NaN", column->nan);
    if (column->inf > 0)
        printf(" %" PRIu64 " Inf", column->inf);
    printf("\n");
}

static void print_table(const struct table_stats *stats) {
    const struct table *table = stats->table;
    const struct widths widths = measure_widths(table);
    printf("table ");
    print_padded(table->name != NULL ? table->name : "(no name)", 0);
    printf(", %" PRIu64 " %s, %s\n", table->rows, table->rows == 1 ? "row" : "rows",
           serialization_name(table->serialization));
    printf("%-*s %-*s %10s %12s %24s %24s %24s\n", widths.name, "column", widths.type, "type",
           "nulls", "items", "sum", "min", "max");
    for (size_t i = 0; i < table->field_count; i++)
        print_column(&widths, table->fields[i], &stats->columns[i]);
}

static void print_text(const struct stats *stats) {
    for (size_t i = 0; i < stats->table_count; i++) {
        if (i > 0)
            printf("\n");
        print_table(&stats->tables[i]);
    }
}

static int run(char *path, struct read_options *read, bool as_json) {
    struct stats stats;
    struct consumer consumer;
    struct votable votable = {0};
    struct problem problem = {0};
    int status = EXIT_CODE_TROUBLE;

    stats_init(&stats, &consumer);
    read->consumer = &consumer;
    read->warn = command_warn;
    read->warn_context = path;
    votable_library_init();
    votrace_region_begin("stats");
    int r = votable_scan(path, read, &votable, &problem);
    votrace_region_end("stats");
    if (r < 0) {
        complain_at(path, problem.lineno, "%s", problem.text);
    } else {
        if (as_json)
            print_json(&stats);
        else
            print_text(&stats);
        status = command_end_report();
    }
    stats_finish(&stats);
    votable_finish(&votable);
    votable_library_finish();
    return status;
}

int cmd_stats(int argc, char **argv) {
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"strict", no_argument, NULL, 's'},
        COMMAND_LIMIT_OPTIONS,
        {0},
    };
    struct read_options read = {.limits = READ_LIMITS};
    bool as_json = false;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'j')
            as_json = true;
        else if (option == 's')
            read.strict = true;
        else if (command_limit(option, optarg, &read.limits) < 0)
            return EXIT_CODE_TROUBLE;
    }
    if (optind + 1 != argc)
        return command_usage(optind == argc
                                 ? "stats needs a file, name one or - for standard input"
                                 : "more than one file, count them one by one");

    return run(argv[optind], &read, as_json);
}
