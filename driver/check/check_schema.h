/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_schema.h: which elements and attributes VOTable has, version by version, as tables.
 *
 * From the DTD of 1.0 and the schemas of 1.1 to 1.5 with their text, and the draft of 1.6.
 */
#pragma once

#include "attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum schema_version {
    V1_0,
    V1_1,
    V1_2,
    V1_3,
    V1_4,
    V1_5,
    V1_6,
    SCHEMA_VERSIONS,
    NEVER = SCHEMA_VERSIONS,
};

enum schema_element {
    SCHEMA_VOTABLE,
    SCHEMA_RESOURCE,
    SCHEMA_DESCRIPTION,
    SCHEMA_DEFINITIONS,
    SCHEMA_INFO,
    SCHEMA_COOSYS,
    SCHEMA_TIMESYS,
    SCHEMA_PARAM,
    SCHEMA_GROUP,
    SCHEMA_FIELDREF,
    SCHEMA_PARAMREF,
    SCHEMA_LINK,
    SCHEMA_TABLE,
    SCHEMA_FIELD,
    SCHEMA_VALUES,
    SCHEMA_MIN,
    SCHEMA_MAX,
    SCHEMA_OPTION,
    SCHEMA_DATA,
    SCHEMA_TABLEDATA,
    SCHEMA_TR,
    SCHEMA_TD,
    SCHEMA_BINARY,
    SCHEMA_BINARY2,
    SCHEMA_FITS,
    SCHEMA_STREAM,
    SCHEMA_ELEMENTS,
    SCHEMA_NONE = SCHEMA_ELEMENTS, /* no element of VOTable's */
};

/* A set of elements. */
#define SCHEMA_BIT(element) (UINT32_C(1) << (element))

/* What an attribute's value is. */
enum schema_kind {
    KIND_TEXT, /* anything */
    KIND_ID,
    KIND_REF,
    KIND_CHOICE, /* one of the words in `values` */
    KIND_TERM,   /* should be one of the words in `values`: a vocabulary */
    KIND_VERSION,
    KIND_COUNT,    /* 0 or more */
    KIND_POSITIVE, /* 1 or more */
    KIND_PRECISION,
    KIND_DATATYPE,
    KIND_ARRAYSIZE,
    KIND_UCD,
    KIND_UNIT,
    KIND_YEAR,
    KIND_TIME_ORIGIN,
    KIND_DATE_TIME,
};

struct schema_attribute {
    uint32_t elements;
    const char *name;
    enum schema_kind kind;
    const char *values; /* words with a blank between, or NULL */
    uint8_t since;      /* an enum schema_version */
    uint8_t until;      /* the first without it; NEVER */
    uint8_t required;   /* since when; NEVER */
    uint8_t deprecated; /* since when; NEVER */
};

/*
 * Children come in the order of their ranks.
 *
 * once       one of them at most
 * continues  only behind another child of the same rank: INFO follows TABLE
 */
struct schema_child {
    enum schema_element parent;
    uint32_t children;
    uint8_t rank;
    bool once;
    bool continues;
    uint8_t since;
    uint8_t until;
};

enum schema_element schema_element_find(const char *name) _nonnull_;
const char *schema_element_name(enum schema_element element);
enum schema_version schema_element_since(enum schema_element element);

/* Deprecated in this version, although it exists? */
bool schema_element_is_deprecated(enum schema_element element, enum schema_version version);

/* May this element hold text, of any kind? */
bool schema_has_text(enum schema_element element, enum schema_version version);

/* Children of which one at least is required, 0 for none. */
uint32_t schema_required_children(enum schema_element element, enum schema_version version);

const char *schema_version_name(enum schema_version version);
bool schema_version_find(const char *name, enum schema_version *ret_version) _nonnull_;
const char *schema_namespace(enum schema_version version); /* NULL: none */

extern const struct schema_attribute schema_attributes[];
extern const size_t schema_attribute_count;
extern const struct schema_child schema_children[];
extern const size_t schema_child_count;

/* The one that fits the version, else any of that name, else NULL. */
const struct schema_attribute *schema_attribute_find(enum schema_element element,
                                                     const char *name,
                                                     enum schema_version version) _nonnull_;
