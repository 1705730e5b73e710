/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_field.c: what FIELDs and PARAMs say of their values, and whether VALUES and the value
 * of a PARAM fit it.
 *
 * A FIELD whose datatype or arraysize has no meaning is kept as one whose cells are not looked
 * at: how many there are is still known.
 */
#include "check_document.h"
#include "check_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS                                                                                \
    (SCHEMA_BIT(FIELD_UNSIGNED_BYTE) | SCHEMA_BIT(FIELD_SHORT) | SCHEMA_BIT(FIELD_INT) |       \
     SCHEMA_BIT(FIELD_LONG) | SCHEMA_BIT(FIELD_FLOAT) | SCHEMA_BIT(FIELD_DOUBLE))
#define STRINGS (SCHEMA_BIT(FIELD_CHAR) | SCHEMA_BIT(FIELD_UNICODE_CHAR))

/* The xtypes of DALI 1.1, section 3.3: datatypes, and items that a value has; 0: any number. */
static const struct {
    const char *name;
    uint32_t types;
    uint64_t items;
} xtypes[] = {
    {"timestamp", STRINGS, 0}, {"interval", NUMBERS, 2}, {"hms", STRINGS, 0},
    {"dms", STRINGS, 0},       {"point", NUMBERS, 2},    {"circle", NUMBERS, 3},
    {"polygon", NUMBERS, 0},   {"uri", STRINGS, 0},      {"uuid", STRINGS, 0},
    {"moc", STRINGS, 0},       {"shape", STRINGS, 0},
};

static struct findings *findings_of(struct check_document *document) {
    return &document->findings;
}

static uint64_t lineno_of(const struct check_document *document) {
    return document->frames[document->depth - 1].lineno;
}

/* ---- FIELD and PARAM ---- */

/* Items at most: all numbers of an arraysize multiplied, unless it ends in a * by itself. */
static uint64_t read_bound(const char *arraysize) {
    uint64_t bound = 1;
    const char *c = arraysize;
    while (*c >= '0' && *c <= '9') {
        char *end;
        unsigned long long extent = strtoull(c, &end, 10);
        if (__builtin_mul_overflow(bound, extent, &bound))
            return UINT64_MAX;
        c = *end == 'x' ? end + 1 : end;
    }
    return *c == '*' && (c == arraysize || c[-1] == 'x') ? UINT64_MAX : bound;
}

static bool check_datatype(struct check_document *document, enum schema_element element,
                           const char *datatype, struct check_field *field) {
    if (datatype == NULL)
        return false; /* A03 has been told where it is wrong */
    if (field_type_find(datatype, strlen(datatype), &field->field.type) < 0) {
        findings_add(findings_of(document), FINDING_F01, lineno_of(document), element,
                     "datatype",
                     "%s '%.60s' has datatype \"%.40s\", which VOTable does not have, its "
                     "values are not looked at",
                     schema_element_name(element), field->field.name, datatype);
        return false;
    }
    if (field->field.type == FIELD_UNICODE_CHAR && document->version >= V1_6)
        findings_add(
            findings_of(document), FINDING_F09, lineno_of(document), element, NULL,
            "%s '%.60s' is of unicodeChar, which is deprecated in VOTable %s, use char",
            schema_element_name(element), field->field.name,
            schema_version_name(document->version));
    return true;
}

static bool check_arraysize(struct check_document *document, enum schema_element element,
                            const char *arraysize, struct check_field *field) {
    struct findings *findings = findings_of(document);
    const char *name = schema_element_name(element);
    field->scalar = arraysize == NULL || *arraysize == '\0';
    field->field.items = 1;
    field->bound = 1;
    if (field->scalar && field_is_string(&field->field))
        findings_add(findings, FINDING_F03, lineno_of(document), element, NULL,
                     "%s '%.60s' is one %s, arraysize is missing: \"*\" makes it a string",
                     name, field->field.name, field_type_name(field->field.type));
    if (field->scalar)
        return true;
    if (field_set_arraysize(&field->field, arraysize, strlen(arraysize)) < 0) {
        /* What is no arraysize at all has been told by A04. */
        if (value_is_of_kind(KIND_ARRAYSIZE, arraysize, document->version))
            findings_add(findings, FINDING_F02, lineno_of(document), element, "arraysize",
                         "%s '%.60s' has arraysize \"%.40s\", which has no meaning, its values "
                         "are not looked at",
                         name, field->field.name, arraysize);
        return false;
    }
    field->bound = read_bound(arraysize);
    if (strcmp(arraysize, "1") == 0)
        findings_add(
            findings, FINDING_F04, lineno_of(document), element, NULL,
            "%s '%.60s' has arraysize \"1\", which some read as an array and some as a "
            "scalar, leave it out",
            name, field->field.name);
    return true;
}

static void check_xtype(struct check_document *document, enum schema_element element,
                        const char *xtype, struct check_field *field) {
    for (size_t i = 0; i < sizeof(xtypes) / sizeof(xtypes[0]); i++) {
        if (strcmp(xtypes[i].name, xtype) != 0)
            continue;
        bool fits = (xtypes[i].types & SCHEMA_BIT(field->field.type)) != 0;
        /* Arrays of such values have one more dimension. */
        if (xtypes[i].items > 0)
            fits = fits && !field->scalar && field->field.items % xtypes[i].items == 0;
        if (!fits)
            findings_add(findings_of(document), FINDING_A09, lineno_of(document), element,
                         "xtype",
                         "%s '%.60s' has xtype \"%s\", which its datatype and arraysize cannot "
                         "hold",
                         schema_element_name(element), field->field.name, xtype);
        field->timestamp = fits && i == 0 && field->field.string_items == 0;
    }
}

/* Returns false when memory ran out. */
static bool read_field(struct check_document *document, enum schema_element element,
                       const struct check_begin *begin, struct check_field *field) {
    const char *name = check_begin_get(begin, "name");
    const char *id = check_begin_get(begin, "ID");
    const char *xtype = check_begin_get(begin, "xtype");
    field->field.name = strdup(name != NULL ? name : id != NULL ? id : "");
    if (field->field.name == NULL) {
        problem_set_memory(document->problem);
        return false;
    }
    field->usable =
        check_datatype(document, element, check_begin_get(begin, "datatype"), field) &&
        check_arraysize(document, element, check_begin_get(begin, "arraysize"), field);
    if (field->usable && xtype != NULL)
        check_xtype(document, element, xtype, field);
    return true;
}

void check_begin_field(struct check_document *document, const struct check_begin *begin) {
    struct check_table *table = &document->table;
    document->field = NULL;
    if (table->has_ref) {
        /* Its own FIELDs take the place of the other table's. */
        table->has_ref = false;
        table->unknown = false;
        table->fields = (struct check_fields){0};
    }
    if (table->fields.count >= document->limits.fields) {
        problem_set(document->problem, -EBADMSG, begin->lineno,
                    "a TABLE has more than %" PRIu64 " FIELDs, split it or raise --max-fields",
                    document->limits.fields);
        return;
    }
    struct check_field *field = check_fields_add(&table->fields);
    if (field == NULL) {
        problem_set_memory(document->problem);
        return;
    }
    if (read_field(document, SCHEMA_FIELD, begin, field))
        document->field = field;
}

void check_begin_param(struct check_document *document, const struct check_begin *begin) {
    struct check_field *param = &document->param;
    check_field_finish(param);
    *param = (struct check_field){0};
    document->field = NULL;
    if (!read_field(document, SCHEMA_PARAM, begin, param))
        return;
    document->field = param;
    const char *value = check_begin_get(begin, "value");
    if (value == NULL || !param->usable)
        return;
    char words[FINDING_TEXT_BYTES];
    enum finding_code code =
        check_cell_text(param, document->version, value, strlen(value), words);
    /* What is but a warning of a cell is one of a PARAM. */
    if (code != FINDING_CODES)
        findings_add(findings_of(document), finding_is_error(code) ? FINDING_F07 : code,
                     begin->lineno, SCHEMA_PARAM, "value", "the value of PARAM '%.60s': %s",
                     param->field.name, words);
}

/* ---- VALUES and what is in it ---- */

/* One item of the field, by itself. */
static struct check_field item_of(const struct check_field *field) {
    struct check_field item = *field;
    item.field.null_text = NULL;
    item.field.variable = false;
    item.field.items = 1;
    item.field.string_items = 0;
    item.bound = UINT64_MAX;
    return item;
}

void check_begin_values(struct check_document *document, const struct check_begin *begin) {
    const char *null = check_begin_get(begin, "null");
    struct check_field *field = document->field;
    if (null == NULL || field == NULL || !field->usable)
        return;
    struct check_field item = item_of(field);
    char words[FINDING_TEXT_BYTES] = "it is empty";
    enum finding_code code = *null == '\0' && field_is_integer(&field->field)
                                 ? FINDING_C01
                                 : check_cell_text(&item, V1_6, null, strlen(null), words);
    if (code != FINDING_CODES && finding_is_error(code))
        findings_add(findings_of(document), FINDING_F05, begin->lineno, SCHEMA_VALUES, "null",
                     "VALUES null of '%.60s': %s", field->field.name, words);
    if (field_set_null(&field->field, null, strlen(null)) < 0)
        problem_set_memory(document->problem);
}

void check_begin_bound(struct check_document *document, enum schema_element element,
                       const struct check_begin *begin) {
    const char *value = check_begin_get(begin, "value");
    const struct check_field *field = document->field;
    if (value == NULL || field == NULL || !field->usable || field_is_string(&field->field))
        return;
    struct check_field item = item_of(field);
    /* Of arrays they may be arrays, from 1.5 on. */
    item.field.variable = !field->scalar;
    char words[FINDING_TEXT_BYTES] = "it is empty";
    enum finding_code code = *value == '\0'
                                 ? FINDING_C01
                                 : check_cell_text(&item, V1_6, value, strlen(value), words);
    if (code != FINDING_CODES && finding_is_error(code))
        findings_add(findings_of(document), FINDING_F06, begin->lineno, element, "value",
                     "%s of '%.60s': %s", schema_element_name(element), field->field.name,
                     words);
}
