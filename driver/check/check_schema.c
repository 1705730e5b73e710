/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_schema.c: VOTable's elements and attributes as data.
 *
 * A change of the standard is a change of rows here. What a value must look like is in
 * check_value.c; the rest of check knows no version but by asking here.
 */
#include "check_schema.h"

#include <string.h>

#define E(element) SCHEMA_BIT(SCHEMA_##element)

static const struct {
    const char *name;
    uint8_t since;
    uint8_t deprecated_since;
    uint8_t deprecated_until;
} elements[SCHEMA_ELEMENTS] = {
    [SCHEMA_VOTABLE] = {"VOTABLE", V1_0, NEVER, NEVER},
    [SCHEMA_RESOURCE] = {"RESOURCE", V1_0, NEVER, NEVER},
    [SCHEMA_DESCRIPTION] = {"DESCRIPTION", V1_0, NEVER, NEVER},
    [SCHEMA_DEFINITIONS] = {"DEFINITIONS", V1_0, V1_1, NEVER},
    [SCHEMA_INFO] = {"INFO", V1_0, NEVER, NEVER},
    /* Deprecated by 1.2, and again no longer by an erratum to 1.3. */
    [SCHEMA_COOSYS] = {"COOSYS", V1_0, V1_2, V1_3},
    [SCHEMA_TIMESYS] = {"TIMESYS", V1_4, NEVER, NEVER},
    [SCHEMA_PARAM] = {"PARAM", V1_0, NEVER, NEVER},
    [SCHEMA_GROUP] = {"GROUP", V1_1, NEVER, NEVER},
    [SCHEMA_FIELDREF] = {"FIELDref", V1_1, NEVER, NEVER},
    [SCHEMA_PARAMREF] = {"PARAMref", V1_1, NEVER, NEVER},
    [SCHEMA_LINK] = {"LINK", V1_0, NEVER, NEVER},
    [SCHEMA_TABLE] = {"TABLE", V1_0, NEVER, NEVER},
    [SCHEMA_FIELD] = {"FIELD", V1_0, NEVER, NEVER},
    [SCHEMA_VALUES] = {"VALUES", V1_0, NEVER, NEVER},
    [SCHEMA_MIN] = {"MIN", V1_0, NEVER, NEVER},
    [SCHEMA_MAX] = {"MAX", V1_0, NEVER, NEVER},
    [SCHEMA_OPTION] = {"OPTION", V1_0, NEVER, NEVER},
    [SCHEMA_DATA] = {"DATA", V1_0, NEVER, NEVER},
    [SCHEMA_TABLEDATA] = {"TABLEDATA", V1_0, NEVER, NEVER},
    [SCHEMA_TR] = {"TR", V1_0, NEVER, NEVER},
    [SCHEMA_TD] = {"TD", V1_0, NEVER, NEVER},
    [SCHEMA_BINARY] = {"BINARY", V1_0, NEVER, NEVER},
    [SCHEMA_BINARY2] = {"BINARY2", V1_3, NEVER, NEVER},
    [SCHEMA_FITS] = {"FITS", V1_0, NEVER, NEVER},
    [SCHEMA_STREAM] = {"STREAM", V1_0, NEVER, NEVER},
};

#define OLD_FRAMES                                                                             \
    "eq_FK4 eq_FK5 ICRS ecl_FK4 ecl_FK5 galactic supergalactic xy barycentric geo_app"
/* ivoa.net/rdf/refframe; the old names are in it, too. */
#define FRAMES                                                                                 \
    "EQUATORIAL geo_app ICRS FK4 FK5 eq_FK4 eq_FK5 ECLIPTIC ecl_FK4 ecl_FK5 GENERIC_GALACTIC " \
    "GALACTIC_I GALACTIC galactic SUPER_GALACTIC supergalactic AZ_EL BODY UNKNOWN xy "         \
    "barycentric"
/* ivoa.net/rdf/refposition and timescale */
#define POSITIONS "TOPOCENTER GEOCENTER BARYCENTER HELIOCENTER EMBARYCENTER UNKNOWN"
#define SCALES    "TAI TT UT UTC GPS TCG TCB TDB UNKNOWN"
#define ENCODINGS "gzip base64 dynamic none"

/* elements, name, kind, values, since, until, required since, deprecated since */
// clang-format off
const struct schema_attribute schema_attributes[] = {
    {E(VOTABLE) | E(RESOURCE) | E(TABLE) | E(FIELD) | E(PARAM) | E(VALUES) | E(LINK), "ID",
     KIND_ID, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(INFO), "ID", KIND_ID, NULL, V1_0, V1_1, NEVER, NEVER},
    {E(INFO), "ID", KIND_ID, NULL, V1_2, NEVER, NEVER, NEVER},
    {E(COOSYS), "ID", KIND_ID, NULL, V1_0, NEVER, V1_1, NEVER},
    {E(TIMESYS), "ID", KIND_ID, NULL, V1_4, NEVER, V1_4, NEVER},
    {E(GROUP), "ID", KIND_ID, NULL, V1_1, NEVER, NEVER, NEVER},
    {E(TR), "ID", KIND_ID, NULL, V1_2, NEVER, NEVER, NEVER},
    {E(VOTABLE), "version", KIND_VERSION, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(RESOURCE) | E(TABLE) | E(OPTION), "name", KIND_TEXT, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(GROUP), "name", KIND_TEXT, NULL, V1_1, NEVER, NEVER, NEVER},
    {E(FIELD) | E(PARAM) | E(INFO), "name", KIND_TEXT, NULL, V1_0, NEVER, V1_1, NEVER},
    {E(RESOURCE), "type", KIND_CHOICE, "results meta", V1_0, NEVER, NEVER, NEVER},
    {E(FIELD), "type", KIND_CHOICE, "hidden no_query trigger", V1_0, V1_1, NEVER, NEVER},
    {E(FIELD), "type", KIND_CHOICE, "hidden no_query trigger location", V1_1, NEVER, NEVER,
     NEVER},
    {E(PARAM), "type", KIND_CHOICE, "hidden no_query trigger location", V1_2, NEVER, NEVER,
     NEVER},
    {E(VALUES), "type", KIND_CHOICE, "legal actual", V1_0, NEVER, NEVER, NEVER},
    {E(STREAM), "type", KIND_CHOICE, "locator other", V1_0, NEVER, NEVER, NEVER},
    {E(RESOURCE) | E(TABLE) | E(FIELD) | E(PARAM) | E(GROUP), "utype", KIND_TEXT, NULL, V1_1,
     NEVER, NEVER, NEVER},
    {E(INFO) | E(FIELDREF) | E(PARAMREF), "utype", KIND_TEXT, NULL, V1_2, NEVER, NEVER, NEVER},
    {E(FIELD) | E(PARAM), "ucd", KIND_UCD, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(TABLE) | E(GROUP), "ucd", KIND_UCD, NULL, V1_1, NEVER, NEVER, NEVER},
    {E(INFO) | E(FIELDREF) | E(PARAMREF), "ucd", KIND_UCD, NULL, V1_2, NEVER, NEVER, NEVER},
    {E(TABLE) | E(FIELD) | E(PARAM), "ref", KIND_REF, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(GROUP) | E(VALUES), "ref", KIND_REF, NULL, V1_1, NEVER, NEVER, NEVER},
    {E(FIELDREF) | E(PARAMREF), "ref", KIND_REF, NULL, V1_1, NEVER, V1_1, NEVER},
    {E(INFO), "ref", KIND_REF, NULL, V1_2, NEVER, NEVER, NEVER},
    {E(TD), "ref", KIND_REF, NULL, V1_0, V1_1, NEVER, NEVER},
    {E(TABLE), "nrows", KIND_COUNT, NULL, V1_1, NEVER, NEVER, NEVER},
    {E(FIELD) | E(PARAM), "datatype", KIND_DATATYPE, NULL, V1_0, NEVER, V1_1, NEVER},
    {E(FIELD) | E(PARAM), "arraysize", KIND_ARRAYSIZE, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(FIELD) | E(PARAM), "unit", KIND_UNIT, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(INFO), "unit", KIND_UNIT, NULL, V1_2, NEVER, NEVER, NEVER},
    {E(FIELD) | E(PARAM), "precision", KIND_PRECISION, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(FIELD) | E(PARAM), "width", KIND_POSITIVE, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(FIELD) | E(PARAM) | E(INFO), "xtype", KIND_TEXT, NULL, V1_2, NEVER, NEVER, NEVER},
    {E(PARAM) | E(INFO), "value", KIND_TEXT, NULL, V1_0, NEVER, V1_1, NEVER},
    {E(MIN) | E(MAX) | E(OPTION), "value", KIND_TEXT, NULL, V1_0, NEVER, V1_0, NEVER},
    {E(LINK), "value", KIND_TEXT, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(VALUES), "null", KIND_TEXT, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(VALUES), "invalid", KIND_CHOICE, "yes no", V1_0, V1_1, NEVER, NEVER},
    {E(MIN) | E(MAX), "inclusive", KIND_CHOICE, "yes no", V1_0, NEVER, NEVER, NEVER},
    {E(LINK), "content-role", KIND_CHOICE, "query hints doc", V1_0, V1_1, NEVER, NEVER},
    {E(LINK), "content-role", KIND_CHOICE, "query hints doc location", V1_1, V1_2, NEVER,
     NEVER},
    {E(LINK), "content-role", KIND_TEXT, NULL, V1_2, NEVER, NEVER, NEVER},
    {E(LINK), "content-type", KIND_TEXT, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(LINK), "title", KIND_TEXT, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(LINK), "href", KIND_TEXT, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(LINK), "gref", KIND_TEXT, NULL, V1_0, NEVER, NEVER, V1_1},
    {E(LINK), "action", KIND_TEXT, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(COOSYS), "equinox", KIND_YEAR, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(COOSYS), "epoch", KIND_YEAR, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(COOSYS), "system", KIND_CHOICE, OLD_FRAMES, V1_0, V1_5, NEVER, NEVER},
    {E(COOSYS), "system", KIND_TERM, FRAMES, V1_5, NEVER, NEVER, NEVER},
    {E(COOSYS), "refposition", KIND_TERM, POSITIONS, V1_5, NEVER, NEVER, NEVER},
    {E(TIMESYS), "refposition", KIND_TERM, POSITIONS, V1_4, NEVER, V1_4, NEVER},
    {E(TIMESYS), "timescale", KIND_TERM, SCALES, V1_4, NEVER, V1_4, NEVER},
    {E(TIMESYS), "timeorigin", KIND_TIME_ORIGIN, NULL, V1_4, NEVER, NEVER, NEVER},
    {E(TD), "encoding", KIND_CHOICE, ENCODINGS, V1_1, NEVER, NEVER, NEVER},
    {E(FITS), "extnum", KIND_POSITIVE, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(STREAM), "href", KIND_TEXT, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(STREAM), "actuate", KIND_CHOICE, "onLoad onRequest other none", V1_0, NEVER, NEVER,
     NEVER},
    {E(STREAM), "encoding", KIND_CHOICE, ENCODINGS, V1_0, NEVER, NEVER, NEVER},
    {E(STREAM), "expires", KIND_DATE_TIME, NULL, V1_0, NEVER, NEVER, NEVER},
    {E(STREAM), "rights", KIND_TEXT, NULL, V1_0, NEVER, NEVER, NEVER},
};
const size_t schema_attribute_count = sizeof(schema_attributes) / sizeof(schema_attributes[0]);

/* parent, children, rank, once, continues, since, until */
const struct schema_child schema_children[] = {
    {SCHEMA_VOTABLE, E(DESCRIPTION), 0, true, false, V1_0, NEVER},
    {SCHEMA_VOTABLE, E(DEFINITIONS), 1, true, false, V1_0, NEVER},
    {SCHEMA_VOTABLE, E(INFO), 2, false, false, V1_0, NEVER},
    {SCHEMA_VOTABLE, E(COOSYS) | E(PARAM), 2, false, false, V1_1, NEVER},
    {SCHEMA_VOTABLE, E(GROUP), 2, false, false, V1_2, NEVER},
    {SCHEMA_VOTABLE, E(TIMESYS), 2, false, false, V1_4, NEVER},
    {SCHEMA_VOTABLE, E(RESOURCE), 3, false, false, V1_0, NEVER},
    {SCHEMA_VOTABLE, E(INFO), 4, false, false, V1_2, NEVER},

    {SCHEMA_RESOURCE, E(DESCRIPTION), 0, true, false, V1_0, NEVER},
    {SCHEMA_RESOURCE, E(INFO), 1, false, false, V1_0, V1_1},
    {SCHEMA_RESOURCE, E(COOSYS), 2, false, false, V1_0, V1_1},
    {SCHEMA_RESOURCE, E(PARAM), 3, false, false, V1_0, V1_1},
    {SCHEMA_RESOURCE, E(INFO) | E(COOSYS) | E(PARAM), 1, false, false, V1_1, V1_2},
    {SCHEMA_RESOURCE, E(LINK), 4, false, false, V1_0, V1_2},
    {SCHEMA_RESOURCE, E(TABLE), 5, false, false, V1_0, V1_2},
    {SCHEMA_RESOURCE, E(RESOURCE), 6, false, false, V1_0, V1_2},
    {SCHEMA_RESOURCE, E(INFO), 1, false, false, V1_2, NEVER},
    {SCHEMA_RESOURCE, E(COOSYS) | E(GROUP) | E(PARAM), 2, false, false, V1_2, NEVER},
    {SCHEMA_RESOURCE, E(TIMESYS), 2, false, false, V1_4, NEVER},
    {SCHEMA_RESOURCE, E(LINK) | E(TABLE) | E(RESOURCE), 3, false, false, V1_2, NEVER},
    {SCHEMA_RESOURCE, E(INFO), 3, false, true, V1_2, NEVER},

    {SCHEMA_DEFINITIONS, E(COOSYS) | E(PARAM), 0, false, false, V1_0, NEVER},
    {SCHEMA_DEFINITIONS, E(TIMESYS), 0, false, false, V1_4, NEVER},

    {SCHEMA_TABLE, E(DESCRIPTION), 0, true, false, V1_0, NEVER},
    {SCHEMA_TABLE, E(INFO), 1, false, false, V1_2, NEVER},
    {SCHEMA_TABLE, E(FIELD), 2, false, false, V1_0, NEVER},
    {SCHEMA_TABLE, E(PARAM) | E(GROUP), 2, false, false, V1_1, NEVER},
    {SCHEMA_TABLE, E(LINK), 3, false, false, V1_0, NEVER},
    {SCHEMA_TABLE, E(DATA), 4, true, false, V1_0, NEVER},
    {SCHEMA_TABLE, E(INFO), 5, false, false, V1_2, NEVER},

    {SCHEMA_FIELD, E(DESCRIPTION), 0, true, false, V1_0, NEVER},
    {SCHEMA_FIELD, E(VALUES), 1, false, false, V1_0, V1_1},
    {SCHEMA_FIELD, E(VALUES), 1, true, false, V1_1, NEVER},
    {SCHEMA_FIELD, E(LINK), 2, false, false, V1_0, NEVER},
    {SCHEMA_PARAM, E(DESCRIPTION), 0, true, false, V1_0, NEVER},
    {SCHEMA_PARAM, E(VALUES), 1, true, false, V1_0, NEVER},
    {SCHEMA_PARAM, E(LINK), 2, false, false, V1_0, NEVER},

    {SCHEMA_GROUP, E(DESCRIPTION), 0, true, false, V1_1, NEVER},
    {SCHEMA_GROUP, E(FIELDREF) | E(PARAMREF) | E(PARAM) | E(GROUP), 1, false, false, V1_1,
     NEVER},

    {SCHEMA_VALUES, E(MIN), 0, true, false, V1_0, NEVER},
    {SCHEMA_VALUES, E(MAX), 1, true, false, V1_0, NEVER},
    {SCHEMA_VALUES, E(OPTION), 2, false, false, V1_0, NEVER},
    {SCHEMA_OPTION, E(OPTION), 0, false, false, V1_0, NEVER},

    {SCHEMA_DATA, E(TABLEDATA) | E(BINARY) | E(FITS), 0, true, false, V1_0, V1_3},
    {SCHEMA_DATA, E(TABLEDATA) | E(BINARY) | E(BINARY2) | E(FITS), 0, true, false, V1_3, NEVER},
    {SCHEMA_DATA, E(INFO), 1, false, false, V1_2, NEVER},
    {SCHEMA_TABLEDATA, E(TR), 0, false, false, V1_0, NEVER},
    {SCHEMA_TR, E(TD), 0, false, false, V1_0, NEVER},
    {SCHEMA_BINARY, E(STREAM), 0, true, false, V1_0, NEVER},
    {SCHEMA_BINARY2, E(STREAM), 0, true, false, V1_3, NEVER},
    {SCHEMA_FITS, E(STREAM), 0, true, false, V1_0, NEVER},
};
const size_t schema_child_count = sizeof(schema_children) / sizeof(schema_children[0]);

static const struct {
    enum schema_element element;
    uint32_t children;
    enum schema_version since;
} required_children[] = {
    {SCHEMA_VOTABLE, E(RESOURCE), V1_2},
    {SCHEMA_DATA, E(TABLEDATA) | E(BINARY) | E(BINARY2) | E(FITS), V1_0},
    {SCHEMA_TABLE, E(FIELD) | E(PARAM) | E(GROUP), V1_2},
    {SCHEMA_TR, E(TD), V1_0},
    {SCHEMA_BINARY, E(STREAM), V1_0},
    {SCHEMA_BINARY2, E(STREAM), V1_3},
    {SCHEMA_FITS, E(STREAM), V1_0},
};

static const struct {
    enum schema_element element;
    enum schema_version until;
} with_text[] = {
    {SCHEMA_DESCRIPTION, NEVER}, {SCHEMA_INFO, NEVER}, {SCHEMA_COOSYS, NEVER},
    {SCHEMA_TIMESYS, NEVER},     {SCHEMA_TD, NEVER},   {SCHEMA_STREAM, NEVER},
    {SCHEMA_LINK, V1_2},         {SCHEMA_MIN, V1_1},   {SCHEMA_MAX, V1_1},
};

static const struct {
    const char *name;
    const char *namespace;
} versions[SCHEMA_VERSIONS] = {
    [V1_0] = {"1.0", NULL},
    [V1_1] = {"1.1", "http://www.ivoa.net/xml/VOTable/v1.1"},
    [V1_2] = {"1.2", "http://www.ivoa.net/xml/VOTable/v1.2"},
    [V1_3] = {"1.3", "http://www.ivoa.net/xml/VOTable/v1.3"},
    [V1_4] = {"1.4", "http://www.ivoa.net/xml/VOTable/v1.3"},
    [V1_5] = {"1.5", "http://www.ivoa.net/xml/VOTable/v1.3"},
    [V1_6] = {"1.6", "http://www.ivoa.net/xml/VOTable/v1.3"},
};
// clang-format on

enum schema_element schema_element_find(const char *name) {
    for (int i = 0; i < SCHEMA_ELEMENTS; i++)
        if (strcmp(elements[i].name, name) == 0)
            return (enum schema_element)i;
    return SCHEMA_NONE;
}

const char *schema_element_name(enum schema_element element) {
    return element < SCHEMA_ELEMENTS ? elements[element].name : "the document";
}

enum schema_version schema_element_since(enum schema_element element) {
    return elements[element].since;
}

bool schema_element_is_deprecated(enum schema_element element, enum schema_version version) {
    return version >= elements[element].deprecated_since &&
           version < elements[element].deprecated_until;
}

bool schema_has_text(enum schema_element element, enum schema_version version) {
    for (size_t i = 0; i < sizeof(with_text) / sizeof(with_text[0]); i++)
        if (with_text[i].element == element)
            return version < with_text[i].until;
    return false;
}

uint32_t schema_required_children(enum schema_element element, enum schema_version version) {
    for (size_t i = 0; i < sizeof(required_children) / sizeof(required_children[0]); i++)
        if (required_children[i].element == element && version >= required_children[i].since)
            return required_children[i].children;
    return 0;
}

const char *schema_version_name(enum schema_version version) {
    return version < SCHEMA_VERSIONS ? versions[version].name : "a later version";
}

bool schema_version_find(const char *name, enum schema_version *ret_version) {
    for (int i = 0; i < SCHEMA_VERSIONS; i++) {
        if (strcmp(versions[i].name, name) != 0)
            continue;
        *ret_version = (enum schema_version)i;
        return true;
    }
    return false;
}

const char *schema_namespace(enum schema_version version) {
    return versions[version].namespace;
}

const struct schema_attribute *schema_attribute_find(enum schema_element element,
                                                     const char *name,
                                                     enum schema_version version) {
    const struct schema_attribute *found = NULL;
    for (size_t i = 0; i < schema_attribute_count; i++) {
        const struct schema_attribute *attribute = &schema_attributes[i];
        if ((attribute->elements & SCHEMA_BIT(element)) == 0 ||
            strcmp(attribute->name, name) != 0)
            continue;
        found = attribute;
        if (version >= attribute->since && version < attribute->until)
            break;
    }
    return found;
}
