/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate.c: presets, and the values that fill them.
 *
 * Values come from a splitmix64 sequence by integer arithmetic, conversions that are exact and
 * at most one rounded multiplication: no libm, no sum of products that a compiler might fuse.
 * Memory does not grow with rows. The presets are those of astropy's benchmarks (arrays) and
 * their neighbours: votable.py, classes Mixed, Numeric and StringIntensive.
 */
#include "generate.h"

#include "output.h"
#include "writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 16
#define ARENA_BYTES 2048 /* of one row's items */
#define ARRAY_ITEMS 64

struct generator {
    uint64_t state;
    uint64_t row;
    size_t used;
    _Alignas(8) unsigned char arena[ARENA_BYTES];
};

struct preset_column {
    const char *name;
    enum field_type type;
    const char *arraysize;
    const char *null_text;
    void (*make)(struct generator *generator, struct writer_cell *ret_cell);
};

/* Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014. */
static uint64_t next_random(struct generator *generator) {
    uint64_t z = generator->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 .. bound-1. The bias of the multiplication is far below what a table shows. */
static uint64_t random_below(struct generator *generator, uint32_t bound) {
    return (next_random(generator) >> 32) * bound >> 32;
}

/* [0, 1) with 53 random bits, exact. */
static double random_unit(struct generator *generator) {
    return (double)(next_random(generator) >> 11) * 0x1p-53;
}

/* Keep @bytes of items until the row is written. */
static void keep(struct generator *generator, struct writer_cell *ret_cell, const void *items,
                 size_t bytes, uint64_t count) {
    unsigned char *at = generator->arena + generator->used;
    memcpy(at, items, bytes);
    generator->used += (bytes + 7) / 8 * 8;
    *ret_cell = (struct writer_cell){.items = at, .count = count};
}

static void keep_text(struct generator *generator, struct writer_cell *ret_cell,
                      const char *text) {
    keep(generator, ret_cell, text, strlen(text), strlen(text));
}

static void make_ra(struct generator *generator, struct writer_cell *ret_cell) {
    double value = random_unit(generator) * 360;
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_dec(struct generator *generator, struct writer_cell *ret_cell) {
    int64_t offset = (int64_t)(next_random(generator) >> 10) - (INT64_C(1) << 53);
    double value = (double)offset * 0x1p-53 * 90;
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_array(struct generator *generator, struct writer_cell *ret_cell) {
    double values[ARRAY_ITEMS];
    for (size_t i = 0; i < ARRAY_ITEMS; i++)
        values[i] = random_unit(generator);
    keep(generator, ret_cell, values, sizeof(values), ARRAY_ITEMS);
}

/* 24 random bits are what a float holds. */
static void make_ra_float(struct generator *generator, struct writer_cell *ret_cell) {
    float value = (float)(next_random(generator) >> 40) * 0x1p-24f * 360;
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_dec_float(struct generator *generator, struct writer_cell *ret_cell) {
    int32_t offset = (int32_t)(next_random(generator) >> 39) - (1 << 24);
    float value = (float)offset * 0x1p-24f * 90;
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

/* 10 .. 25 in steps of 2^-16: the integer is exact in a float, and so is its scaling. */
static void make_mag(struct generator *generator, struct writer_cell *ret_cell) {
    uint32_t steps = (10u << 16) + (uint32_t)random_below(generator, 15u << 16);
    float value = (float)steps * 0x1p-16f;
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

/* Full mantissas over twelve binary orders of magnitude, put together as bits. */
static void make_flux(struct generator *generator, struct writer_cell *ret_cell) {
    uint64_t bits = next_random(generator) >> 12;
    bits |= (1017 + random_below(generator, 12)) << 52;
    double value;
    memcpy(&value, &bits, sizeof(value));
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

/* Around 100: a sum of bits spreads like a Poisson draw. */
static void make_counts(struct generator *generator, struct writer_cell *ret_cell) {
    int32_t value = 0;
    for (int i = 0; i < 3; i++)
        value += __builtin_popcountll(next_random(generator));
    value += 4;
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_id(struct generator *generator, struct writer_cell *ret_cell) {
    int64_t value = (int64_t)generator->row;
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_quality(struct generator *generator, struct writer_cell *ret_cell) {
    uint8_t value = (uint8_t)random_below(generator, 255);
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_bit(struct generator *generator, struct writer_cell *ret_cell) {
    uint8_t value = (uint8_t)(random_below(generator, 2) << 7);
    keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_object_id(struct generator *generator, struct writer_cell *ret_cell) {
    char text[32];
    snprintf(text, sizeof(text), "OBJ_%08u", (unsigned)(generator->row % 100000000));
    keep_text(generator, ret_cell, text);
}

static void make_filter(struct generator *generator, struct writer_cell *ret_cell) {
    static const char *const filters[] = {"u", "g", "r", "i", "z", "Y"};
    keep_text(generator, ret_cell, filters[random_below(generator, 6)]);
}

static void make_class(struct generator *generator, struct writer_cell *ret_cell) {
    static const char *const classes[] = {"STAR", "GALAXY", "QSO", "UNKNOWN"};
    keep_text(generator, ret_cell, classes[random_below(generator, 4)]);
}

static void make_grade(struct generator *generator, struct writer_cell *ret_cell) {
    static const char *const grades[] = {"A", "B", "C", "D"};
    keep_text(generator, ret_cell, grades[random_below(generator, 4)]);
}

static void make_priority(struct generator *generator, struct writer_cell *ret_cell) {
    static const char *const priorities[] = {"HIGH", "MED", "LOW"};
    keep_text(generator, ret_cell, priorities[random_below(generator, 3)]);
}

static void make_description(struct generator *generator, struct writer_cell *ret_cell) {
    static const char *const remarks[] = {"", " <blended>", " & neighbour", " at the edge"};
    char text[80];
    snprintf(text, sizeof(text), "Extended description of a field %04u%s",
             (unsigned)(generator->row / 1000 % 10000), remarks[random_below(generator, 4)]);
    keep_text(generator, ret_cell, text);
}

/* One cell in sixteen is null. The value is drawn all the same, to keep the sequence simple. */
static void maybe_null(struct generator *generator, struct writer_cell *ret_cell) {
    ret_cell->null = random_below(generator, 16) == 0;
}

static void make_mag_or_null(struct generator *generator, struct writer_cell *ret_cell) {
    make_mag(generator, ret_cell);
    maybe_null(generator, ret_cell);
}

static void make_class_or_null(struct generator *generator, struct writer_cell *ret_cell) {
    make_class(generator, ret_cell);
    maybe_null(generator, ret_cell);
}

static void make_counts_or_null(struct generator *generator, struct writer_cell *ret_cell) {
    make_counts(generator, ret_cell);
    maybe_null(generator, ret_cell);
}

static void make_quality_or_null(struct generator *generator, struct writer_cell *ret_cell) {
    make_quality(generator, ret_cell);
    maybe_null(generator, ret_cell);
}

// clang-format off
static const struct preset_column arrays_columns[] = {
    {"ra",         FIELD_DOUBLE, NULL, NULL, make_ra},
    {"dec",        FIELD_DOUBLE, NULL, NULL, make_dec},
    {"flux",       FIELD_DOUBLE, "64", NULL, make_array},
    {"flux_error", FIELD_DOUBLE, "64", NULL, make_array},
    {"time",       FIELD_DOUBLE, "64", NULL, make_array},
    {0},
};

static const struct preset_column mixed_columns[] = {
    {"ra",       FIELD_FLOAT,         NULL, NULL,    make_ra_float},
    {"dec",      FIELD_FLOAT,         NULL, NULL,    make_dec_float},
    {"id",       FIELD_UNICODE_CHAR,  "12", NULL,    make_object_id},
    {"mag",      FIELD_FLOAT,         NULL, NULL,    make_mag_or_null},
    {"flux",     FIELD_DOUBLE,        NULL, NULL,    make_flux},
    {"filter",   FIELD_CHAR,          "1",  NULL,    make_filter},
    {"class",    FIELD_CHAR,          "*",  NULL,    make_class_or_null},
    {"counts",   FIELD_INT,           NULL, "-9999", make_counts_or_null},
    {"quality",  FIELD_UNSIGNED_BYTE, NULL, "255",   make_quality_or_null},
    {"detected", FIELD_BIT,           NULL, NULL,    make_bit},
    {0},
};

static const struct preset_column numeric_columns[] = {
    {"ra",      FIELD_FLOAT,         NULL, NULL, make_ra_float},
    {"dec",     FIELD_FLOAT,         NULL, NULL, make_dec_float},
    {"mag",     FIELD_FLOAT,         NULL, NULL, make_mag},
    {"flux",    FIELD_DOUBLE,        NULL, NULL, make_flux},
    {"counts",  FIELD_INT,           NULL, NULL, make_counts},
    {"id",      FIELD_LONG,          NULL, NULL, make_id},
    {"quality", FIELD_UNSIGNED_BYTE, NULL, NULL, make_quality},
    {0},
};

static const struct preset_column strings_columns[] = {
    {"id",          FIELD_UNICODE_CHAR, "12", NULL, make_object_id},
    {"filter",      FIELD_UNICODE_CHAR, "1",  NULL, make_filter},
    {"class",       FIELD_UNICODE_CHAR, "7",  NULL, make_class},
    {"grade",       FIELD_CHAR,         "1",  NULL, make_grade},
    {"priority",    FIELD_CHAR,         "4",  NULL, make_priority},
    {"description", FIELD_CHAR,         "*",  NULL, make_description},
    {"ra",          FIELD_FLOAT,        NULL, NULL, make_ra_float},
    {"dec",         FIELD_FLOAT,        NULL, NULL, make_dec_float},
    {0},
};
// clang-format on

static const struct {
    const char *name;
    const struct preset_column *columns;
} presets[] = {
    {"arrays", arrays_columns},
    {"mixed", mixed_columns},
    {"numeric", numeric_columns},
    {"strings", strings_columns},
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

const char *generate_preset_name(unsigned index) {
    return index < PRESETS ? presets[index].name : NULL;
}

static const struct preset_column *find_preset(const char *name) {
    for (size_t i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, name) == 0)
            return presets[i].columns;
    return NULL;
}

/* @ret_field is all zero. */
static int make_field(const struct preset_column *column, struct field *ret_field) {
    ret_field->type = column->type;
    ret_field->items = 1;
    ret_field->name = strdup(column->name);
    if (ret_field->name == NULL)
        return -ENOMEM;
    int r = 0;
    if (column->arraysize != NULL)
        r = field_set_arraysize(ret_field, column->arraysize, strlen(column->arraysize));
    if (r == 0 && column->null_text != NULL)
        r = field_set_null(ret_field, column->null_text, strlen(column->null_text));
    return r;
}

static void write_rows(const struct generate_options *options,
                       const struct preset_column *columns, const struct field *fields,
                       size_t field_count, struct output *output) {
    struct generator generator = {.state = options->seed};
    struct writer_cell cells[COLUMNS_MAX];
    struct writer writer;
    writer_begin(&writer, output, options->preset, fields, field_count, options->format,
                 options->rows);
    for (; generator.row < options->rows && output->error == 0; generator.row++) {
        generator.used = 0;
        for (size_t i = 0; i < field_count; i++)
            columns[i].make(&generator, &cells[i]);
        writer_row(&writer, cells);
    }
    writer_end(&writer);
}

int generate_run(const struct generate_options *options, struct problem *problem) {
    const struct preset_column *columns = find_preset(options->preset);
    if (columns == NULL)
        return -EINVAL;
    struct field fields[COLUMNS_MAX] = {0};
    size_t field_count = 0;
    struct output *output = NULL;
    int r = 0;

    while (r == 0 && columns[field_count].name != NULL) {
        r = make_field(&columns[field_count], &fields[field_count]);
        field_count++;
    }
    if (r == 0)
        output = malloc(sizeof(*output));
    if (output == NULL) {
        r = problem_set_memory(problem);
        goto out;
    }
    r = output_open(output, options->path, problem);
    if (r < 0)
        goto out;
    write_rows(options, columns, fields, field_count, output);
    r = output_commit(output, problem);
    output_abandon(output);
out:
    free(output);
    for (size_t i = 0; i < field_count; i++)
        field_finish(&fields[i]);
    return r;
}
