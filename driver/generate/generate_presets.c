/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generate_presets.c: columns with names and the values that one expects of them.
 *
 * The presets are those of astropy's benchmarks: votable.py, a class each, and the arrays of
 * peak memory. `strings` and `mixed` are older than those and keep their values.
 */
#include "generate_values.h"

#include "generate.h"

#include <string.h>

#define ARRAY_ITEMS 64

/* [0, 1) with 53 random bits, exact. */
static double random_unit(struct generator *generator) {
    return (double)(generate_random(&generator->state) >> 11) * 0x1p-53;
}

static void keep_text(struct generator *generator, struct wire_cell *ret_cell,
                      const char *text) {
    size_t length = strlen(text);
    generate_keep(generator, ret_cell, text, length, length);
}

/* The last @count digits of a number, with zeros in front. */
static void put_digits(char *to, int count, uint64_t number) {
    for (int i = count; i-- > 0; number /= 10)
        to[i] = (char)('0' + number % 10);
}

static void make_ra(struct generator *generator, const struct field *field,
                    struct wire_cell *ret_cell) {
    double value = random_unit(generator) * 360;
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_dec(struct generator *generator, const struct field *field,
                     struct wire_cell *ret_cell) {
    int64_t offset = (int64_t)(generate_random(&generator->state) >> 10) - (INT64_C(1) << 53);
    double value = (double)offset * 0x1p-53 * 90;
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_array(struct generator *generator, const struct field *field,
                       struct wire_cell *ret_cell) {
    double values[ARRAY_ITEMS];
    for (size_t i = 0; i < ARRAY_ITEMS; i++)
        values[i] = random_unit(generator);
    generate_keep(generator, ret_cell, values, sizeof(values), ARRAY_ITEMS);
}

/* 24 random bits are what a float holds. */
static void make_ra_float(struct generator *generator, const struct field *field,
                          struct wire_cell *ret_cell) {
    float value = (float)(generate_random(&generator->state) >> 40) * 0x1p-24f * 360;
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_dec_float(struct generator *generator, const struct field *field,
                           struct wire_cell *ret_cell) {
    int32_t offset = (int32_t)(generate_random(&generator->state) >> 39) - (1 << 24);
    float value = (float)offset * 0x1p-24f * 90;
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

/* 10 .. 25 in steps of 2^-16: the integer is exact in a float, and so is its scaling. */
static void make_mag(struct generator *generator, const struct field *field,
                     struct wire_cell *ret_cell) {
    uint32_t steps = (10u << 16) + (uint32_t)generate_below(generator, 15u << 16);
    float value = (float)steps * 0x1p-16f;
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

/* Full mantissas over twelve binary orders of magnitude, put together as bits. */
static void make_flux(struct generator *generator, const struct field *field,
                      struct wire_cell *ret_cell) {
    uint64_t bits = generate_random(&generator->state) >> 12;
    bits |= (1017 + generate_below(generator, 12)) << 52;
    double value;
    memcpy(&value, &bits, sizeof(value));
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

/* Around 100: a sum of bits spreads like a Poisson draw. */
static void make_counts(struct generator *generator, const struct field *field,
                        struct wire_cell *ret_cell) {
    int32_t value = 0;
    for (int i = 0; i < 3; i++)
        value += __builtin_popcountll(generate_random(&generator->state));
    value += 4;
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_id(struct generator *generator, const struct field *field,
                    struct wire_cell *ret_cell) {
    int64_t value = (int64_t)generator->row;
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_quality(struct generator *generator, const struct field *field,
                         struct wire_cell *ret_cell) {
    uint8_t value = (uint8_t)generate_below(generator, 255);
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_bit(struct generator *generator, const struct field *field,
                     struct wire_cell *ret_cell) {
    uint8_t value = (uint8_t)(generate_below(generator, 2) << 7);
    generate_keep(generator, ret_cell, &value, sizeof(value), 1);
}

static void make_object_id(struct generator *generator, const struct field *field,
                           struct wire_cell *ret_cell) {
    char text[] = "OBJ_00000000";
    put_digits(text + 4, 8, generator->row);
    keep_text(generator, ret_cell, text);
}

static void make_filter(struct generator *generator, const struct field *field,
                        struct wire_cell *ret_cell) {
    static const char *const filters[] = {"u", "g", "r", "i", "z", "Y"};
    keep_text(generator, ret_cell, filters[generate_below(generator, 6)]);
}

static void make_class(struct generator *generator, const struct field *field,
                       struct wire_cell *ret_cell) {
    static const char *const classes[] = {"STAR", "GALAXY", "QSO", "UNKNOWN"};
    keep_text(generator, ret_cell, classes[generate_below(generator, 4)]);
}

static void make_grade(struct generator *generator, const struct field *field,
                       struct wire_cell *ret_cell) {
    static const char *const grades[] = {"A", "B", "C", "D"};
    keep_text(generator, ret_cell, grades[generate_below(generator, 4)]);
}

static void make_priority(struct generator *generator, const struct field *field,
                          struct wire_cell *ret_cell) {
    static const char *const priorities[] = {"HIGH", "MED", "LOW"};
    keep_text(generator, ret_cell, priorities[generate_below(generator, 3)]);
}

static void make_description(struct generator *generator, const struct field *field,
                             struct wire_cell *ret_cell) {
    static const char *const remarks[] = {"", " <blended>", " & neighbour", " at the edge"};
    char text[80] = "Extended description of a field 0000";
    put_digits(text + 32, 4, generator->row / 1000);
    strcpy(text + 36, remarks[generate_below(generator, 4)]);
    keep_text(generator, ret_cell, text);
}

/* One cell in sixteen is null. The value is drawn all the same, to keep the sequence simple. */
static void maybe_null(struct generator *generator, struct wire_cell *ret_cell) {
    ret_cell->null = generate_below(generator, 16) == 0;
}

static void make_mag_or_null(struct generator *generator, const struct field *field,
                             struct wire_cell *ret_cell) {
    make_mag(generator, field, ret_cell);
    maybe_null(generator, ret_cell);
}

static void make_class_or_null(struct generator *generator, const struct field *field,
                               struct wire_cell *ret_cell) {
    make_class(generator, field, ret_cell);
    maybe_null(generator, ret_cell);
}

static void make_counts_or_null(struct generator *generator, const struct field *field,
                                struct wire_cell *ret_cell) {
    make_counts(generator, field, ret_cell);
    maybe_null(generator, ret_cell);
}

static void make_quality_or_null(struct generator *generator, const struct field *field,
                                 struct wire_cell *ret_cell) {
    make_quality(generator, field, ret_cell);
    maybe_null(generator, ret_cell);
}

static void make_long_description(struct generator *generator, const struct field *field,
                                  struct wire_cell *ret_cell) {
    char text[] = "Extend description about a field 0000";
    put_digits(text + 33, 4, generator->row / 1000);
    keep_text(generator, ret_cell, text);
}

static void make_bits(struct generator *generator, const struct field *field,
                      struct wire_cell *ret_cell) {
    uint64_t bits = generate_random(&generator->state);
    generate_keep(generator, ret_cell, &bits, (field->items + 7) / 8, field->items);
}

// clang-format off
static const struct generate_column arrays_columns[] = {
    {"ra",         FIELD_DOUBLE, NULL, NULL, make_ra},
    {"dec",        FIELD_DOUBLE, NULL, NULL, make_dec},
    {"flux",       FIELD_DOUBLE, "64", NULL, make_array},
    {"flux_error", FIELD_DOUBLE, "64", NULL, make_array},
    {"time",       FIELD_DOUBLE, "64", NULL, make_array},
    {0},
};

static const struct generate_column mixed_columns[] = {
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

static const struct generate_column numeric_columns[] = {
    {"ra",      FIELD_FLOAT,         NULL, NULL, make_ra_float},
    {"dec",     FIELD_FLOAT,         NULL, NULL, make_dec_float},
    {"mag",     FIELD_FLOAT,         NULL, NULL, make_mag},
    {"flux",    FIELD_DOUBLE,        NULL, NULL, make_flux},
    {"counts",  FIELD_INT,           NULL, NULL, make_counts},
    {"id",      FIELD_LONG,          NULL, NULL, make_id},
    {"quality", FIELD_UNSIGNED_BYTE, NULL, NULL, make_quality},
    {0},
};

static const struct generate_column strings_columns[] = {
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

static const struct generate_column short_strings_columns[] = {
    {"ra",        FIELD_FLOAT,        NULL, NULL, make_ra_float},
    {"dec",       FIELD_FLOAT,        NULL, NULL, make_dec_float},
    {"object_id", FIELD_UNICODE_CHAR, "12", NULL, make_object_id},
    {"filter",    FIELD_UNICODE_CHAR, "1",  NULL, make_filter},
    {"class",     FIELD_UNICODE_CHAR, "7",  NULL, make_class},
    {"mag",       FIELD_FLOAT,        NULL, NULL, make_mag},
    {0},
};

static const struct generate_column long_strings_columns[] = {
    {"ra",          FIELD_FLOAT,        NULL, NULL, make_ra_float},
    {"dec",         FIELD_FLOAT,        NULL, NULL, make_dec_float},
    {"description", FIELD_UNICODE_CHAR, "37", NULL, make_long_description},
    {"mag",         FIELD_FLOAT,        NULL, NULL, make_mag},
    {0},
};

static const struct generate_column string_intensive_columns[] = {
    {"id",          FIELD_UNICODE_CHAR, "12", NULL, make_object_id},
    {"filter",      FIELD_UNICODE_CHAR, "1",  NULL, make_filter},
    {"class",       FIELD_UNICODE_CHAR, "7",  NULL, make_class},
    {"grade",       FIELD_UNICODE_CHAR, "1",  NULL, make_grade},
    {"priority",    FIELD_UNICODE_CHAR, "4",  NULL, make_priority},
    {"description", FIELD_UNICODE_CHAR, "37", NULL, make_long_description},
    {"ra",          FIELD_FLOAT,        NULL, NULL, make_ra_float},
    {"dec",         FIELD_FLOAT,        NULL, NULL, make_dec_float},
    {0},
};

static const struct generate_column booleans_columns[] = {
    {"ra",         FIELD_FLOAT, NULL, NULL, make_ra_float},
    {"dec",        FIELD_FLOAT, NULL, NULL, make_dec_float},
    {"saturated",  FIELD_BIT,   NULL, NULL, make_bit},
    {"flagged",    FIELD_BIT,   NULL, NULL, make_bit},
    {"edge_pixel", FIELD_BIT,   NULL, NULL, make_bit},
    {"cosmic_ray", FIELD_BIT,   NULL, NULL, make_bit},
    {"variable",   FIELD_BIT,   NULL, NULL, make_bit},
    {"extended",   FIELD_BIT,   NULL, NULL, make_bit},
    {"public",     FIELD_BIT,   NULL, NULL, make_bit},
    {"calibrated", FIELD_BIT,   NULL, NULL, make_bit},
    {0},
};

static const struct generate_column bit_arrays_columns[] = {
    {"ra",         FIELD_FLOAT, NULL, NULL, make_ra_float},
    {"dec",        FIELD_FLOAT, NULL, NULL, make_dec_float},
    {"mag",        FIELD_FLOAT, NULL, NULL, make_mag},
    {"detected",   FIELD_BIT,   "8",  NULL, make_bits},
    {"saturated",  FIELD_BIT,   "8",  NULL, make_bits},
    {"edge_pixel", FIELD_BIT,   "16", NULL, make_bits},
    {"cosmic_ray", FIELD_BIT,   "16", NULL, make_bits},
    {0},
};

static const struct generate_column small_columns[] = {
    {"ra",  FIELD_FLOAT, NULL, NULL, make_ra_float},
    {"dec", FIELD_FLOAT, NULL, NULL, make_dec_float},
    {"mag", FIELD_FLOAT, NULL, NULL, make_mag},
    {0},
};

/* The limits of the datatypes are values; what stands for null lies beside them. */
static const struct generate_column all_types_columns[] = {
    {"s_boolean", FIELD_BOOLEAN, NULL, NULL, generate_any},
    {"f_boolean", FIELD_BOOLEAN, "3", NULL, generate_any},
    {"v_boolean", FIELD_BOOLEAN, "*", NULL, generate_any},
    {"m_boolean", FIELD_BOOLEAN, "2x3", NULL, generate_any},
    {"x_boolean", FIELD_BOOLEAN, "2x*", NULL, generate_any},
    {"s_bit", FIELD_BIT, NULL, NULL, generate_any},
    {"f_bit", FIELD_BIT, "3", NULL, generate_any},
    {"v_bit", FIELD_BIT, "*", NULL, generate_any},
    {"m_bit", FIELD_BIT, "2x3", NULL, generate_any},
    {"x_bit", FIELD_BIT, "2x*", NULL, generate_any},
    {"s_byte", FIELD_UNSIGNED_BYTE, NULL, "254", generate_any},
    {"f_byte", FIELD_UNSIGNED_BYTE, "3", "254", generate_any},
    {"v_byte", FIELD_UNSIGNED_BYTE, "*", "254", generate_any},
    {"m_byte", FIELD_UNSIGNED_BYTE, "2x3", "254", generate_any},
    {"x_byte", FIELD_UNSIGNED_BYTE, "2x*", "254", generate_any},
    {"s_short", FIELD_SHORT, NULL, "-9", generate_any},
    {"f_short", FIELD_SHORT, "3", "-9", generate_any},
    {"v_short", FIELD_SHORT, "*", "-9", generate_any},
    {"m_short", FIELD_SHORT, "2x3", "-9", generate_any},
    {"x_short", FIELD_SHORT, "2x*", "-9", generate_any},
    {"s_int", FIELD_INT, NULL, "-9", generate_any},
    {"f_int", FIELD_INT, "3", "-9", generate_any},
    {"v_int", FIELD_INT, "*", "-9", generate_any},
    {"m_int", FIELD_INT, "2x3", "-9", generate_any},
    {"x_int", FIELD_INT, "2x*", "-9", generate_any},
    {"s_long", FIELD_LONG, NULL, "-9", generate_any},
    {"f_long", FIELD_LONG, "3", "-9", generate_any},
    {"v_long", FIELD_LONG, "*", "-9", generate_any},
    {"m_long", FIELD_LONG, "2x3", "-9", generate_any},
    {"x_long", FIELD_LONG, "2x*", "-9", generate_any},
    {"s_char", FIELD_CHAR, NULL, NULL, generate_any},
    {"f_char", FIELD_CHAR, "8", NULL, generate_any},
    {"v_char", FIELD_CHAR, "*", NULL, generate_any},
    {"m_char", FIELD_CHAR, "4x3", NULL, generate_any},
    {"x_char", FIELD_CHAR, "4x*", NULL, generate_any},
    {"s_unicode", FIELD_UNICODE_CHAR, NULL, NULL, generate_any},
    {"f_unicode", FIELD_UNICODE_CHAR, "8", NULL, generate_any},
    {"v_unicode", FIELD_UNICODE_CHAR, "*", NULL, generate_any},
    {"m_unicode", FIELD_UNICODE_CHAR, "4x3", NULL, generate_any},
    {"x_unicode", FIELD_UNICODE_CHAR, "4x*", NULL, generate_any},
    {"s_float", FIELD_FLOAT, NULL, NULL, generate_any},
    {"f_float", FIELD_FLOAT, "3", NULL, generate_any},
    {"v_float", FIELD_FLOAT, "*", NULL, generate_any},
    {"m_float", FIELD_FLOAT, "2x3", NULL, generate_any},
    {"x_float", FIELD_FLOAT, "2x*", NULL, generate_any},
    {"s_double", FIELD_DOUBLE, NULL, NULL, generate_any},
    {"f_double", FIELD_DOUBLE, "3", NULL, generate_any},
    {"v_double", FIELD_DOUBLE, "*", NULL, generate_any},
    {"m_double", FIELD_DOUBLE, "2x3", NULL, generate_any},
    {"x_double", FIELD_DOUBLE, "2x*", NULL, generate_any},
    {"s_fcomplex", FIELD_FLOAT_COMPLEX, NULL, NULL, generate_any},
    {"f_fcomplex", FIELD_FLOAT_COMPLEX, "3", NULL, generate_any},
    {"v_fcomplex", FIELD_FLOAT_COMPLEX, "*", NULL, generate_any},
    {"m_fcomplex", FIELD_FLOAT_COMPLEX, "2x3", NULL, generate_any},
    {"x_fcomplex", FIELD_FLOAT_COMPLEX, "2x*", NULL, generate_any},
    {"s_dcomplex", FIELD_DOUBLE_COMPLEX, NULL, NULL, generate_any},
    {"f_dcomplex", FIELD_DOUBLE_COMPLEX, "3", NULL, generate_any},
    {"v_dcomplex", FIELD_DOUBLE_COMPLEX, "*", NULL, generate_any},
    {"m_dcomplex", FIELD_DOUBLE_COMPLEX, "2x3", NULL, generate_any},
    {"x_dcomplex", FIELD_DOUBLE_COMPLEX, "2x*", NULL, generate_any},
    {0},
};
// clang-format on

static const struct {
    const char *name;
    const struct generate_column *columns;
} presets[] = {
    {"all-types", all_types_columns},
    {"arrays", arrays_columns},
    {"bit-arrays", bit_arrays_columns},
    {"booleans", booleans_columns},
    {"long-strings", long_strings_columns},
    {"mixed", mixed_columns},
    {"numeric", numeric_columns},
    {"short-strings", short_strings_columns},
    {"small", small_columns},
    {"string-intensive", string_intensive_columns},
    {"strings", strings_columns},
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

const char *generate_preset_name(unsigned index) {
    return index < PRESETS ? presets[index].name : NULL;
}

const struct generate_column *generate_preset_find(const char *name) {
    for (size_t i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, name) == 0)
            return presets[i].columns;
    return NULL;
}
