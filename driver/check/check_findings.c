/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_findings.c: the codes, and a list that stays short.
 *
 * Memory is bounded by the kinds of findings unless all are wanted; a document with a million
 * wrong cells makes one of them. Running out of memory is remembered, not reported from here:
 * whoever checks must not have to ask after each finding.
 */
#include "check_findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct code {
    const char *name;
    bool error;
    const char *summary;
};

// clang-format off
static const struct code codes[FINDING_CODES] = {
    [FINDING_D01] = {"D01", true,  "the version is none of VOTable's"},
    [FINDING_D02] = {"D02", false, "VOTABLE has no version"},
    [FINDING_D03] = {"D03", true,  "the namespace is not the one of the version"},
    [FINDING_D04] = {"D04", true,  "a prefix is bound to no namespace"},
    [FINDING_D05] = {"D05", false, "a DOCTYPE, which only VOTable 1.0 has"},
    [FINDING_D06] = {"D06", false, "no namespace, which every version after 1.0 has"},
    [FINDING_S01] = {"S01", true,  "VOTable has no such element"},
    [FINDING_S02] = {"S02", true,  "an element that this version does not have, or not here"},
    [FINDING_S03] = {"S03", true,  "an element where it cannot stand"},
    [FINDING_S04] = {"S04", true,  "an element after those that it must precede"},
    [FINDING_S05] = {"S05", true,  "an element twice that can be there once"},
    [FINDING_S06] = {"S06", true,  "an element lacks a child that it must have"},
    [FINDING_S07] = {"S07", true,  "text where no text can be"},
    [FINDING_S08] = {"S08", false, "an element that is deprecated in this version"},
    [FINDING_S09] = {"S09", true,  "an element of another namespace outside RESOURCE"},
    [FINDING_A01] = {"A01", true,  "the element has no such attribute"},
    [FINDING_A02] = {"A02", true,  "an attribute that this version does not have"},
    [FINDING_A03] = {"A03", true,  "a required attribute is missing"},
    [FINDING_A04] = {"A04", true,  "an attribute's value is none that it can have"},
    [FINDING_A05] = {"A05", false, "an attribute that is deprecated in this version"},
    [FINDING_A06] = {"A06", false, "a value that is not in the IVOA vocabulary"},
    [FINDING_A07] = {"A07", false, "a unit that cannot be read"},
    [FINDING_A08] = {"A08", false, "a ucd that is neither UCD1+ nor UCD1"},
    [FINDING_A09] = {"A09", false, "an xtype that does not fit datatype and arraysize"},
    [FINDING_R01] = {"R01", true,  "an ID twice"},
    [FINDING_R02] = {"R02", true,  "a ref to an ID that is not there"},
    [FINDING_R03] = {"R03", false, "a ref to an element of the wrong kind"},
    [FINDING_R04] = {"R04", false, "a name twice among the FIELDs of a TABLE"},
    [FINDING_R05] = {"R05", false, "a TIMESYS that nothing refers to"},
    [FINDING_F01] = {"F01", true,  "the datatype is none of VOTable's"},
    [FINDING_F02] = {"F02", true,  "the arraysize has no meaning"},
    [FINDING_F03] = {"F03", false, "char without arraysize: one character"},
    [FINDING_F04] = {"F04", false, "arraysize 1, which may be a scalar or an array"},
    [FINDING_F05] = {"F05", true,  "VALUES null is no value of the datatype"},
    [FINDING_F06] = {"F06", true,  "MIN, MAX or OPTION is no value of the datatype"},
    [FINDING_F07] = {"F07", true,  "a PARAM's value is none of its datatype and arraysize"},
    [FINDING_F08] = {"F08", true,  "a TABLE with data but without FIELDs"},
    [FINDING_F09] = {"F09", false, "unicodeChar, which is deprecated in this version"},
    [FINDING_C01] = {"C01", true,  "a cell is no value of its datatype"},
    [FINDING_C02] = {"C02", true,  "a cell is beyond the range of its datatype"},
    [FINDING_C03] = {"C03", true,  "a cell has not the number of items of its arraysize"},
    [FINDING_C04] = {"C04", true,  "an empty cell of a datatype that has none before 1.3"},
    [FINDING_C05] = {"C05", false, "a row has not as many cells as there are FIELDs"},
    [FINDING_C06] = {"C06", false, "a cell is longer than its arraysize"},
    [FINDING_C07] = {"C07", false, "a char beyond ASCII before 1.6, or no UTF-8"},
    [FINDING_C08] = {"C08", true,  "a character that unicodeChar does not have"},
    [FINDING_C09] = {"C09", false, "NaN or infinity in another spelling"},
    [FINDING_C10] = {"C10", false, "a cell is no value of its xtype"},
    [FINDING_C11] = {"C11", true,  "a cell with encoding is not what it should encode"},
    [FINDING_T01] = {"T01", true,  "nrows is not the number of rows"},
    [FINDING_B01] = {"B01", true,  "a character that base64 does not have"},
    [FINDING_B02] = {"B02", true,  "text after the padding of base64"},
    [FINDING_B03] = {"B03", true,  "base64 ends inside a group of four"},
    [FINDING_B04] = {"B04", true,  "a stream ends inside a row"},
    [FINDING_B05] = {"B05", true,  "a negative array length in a stream"},
    [FINDING_B06] = {"B06", true,  "an array length that is no multiple of its arraysize"},
    [FINDING_B07] = {"B07", true,  "a byte that is no boolean"},
    [FINDING_B08] = {"B08", false, "bits are set where none is used"},
    [FINDING_B09] = {"B09", true,  "a stream with bytes for a table whose rows have none"},
    [FINDING_B10] = {"B10", true,  "a STREAM has neither text nor href, or both"},
    [FINDING_B11] = {"B11", true,  "a STREAM's text is not encoded as base64"},
    [FINDING_B12] = {"B12", true,  "a FITS stream is no FITS file with a table"},
    [FINDING_B13] = {"B13", true,  "a FITS table has not as many columns as there are FIELDs"},
    [FINDING_B14] = {"B14", true,  "a column of a FITS table does not fit its FIELD"},
};
// clang-format on

const char *finding_name(enum finding_code code) {
    return codes[code].name;
}

const char *finding_summary(enum finding_code code) {
    return codes[code].summary;
}

bool finding_is_error(enum finding_code code) {
    return codes[code].error;
}

/* One that is alike, or NULL. Subjects are strings of the schema: the same is at one place. */
static struct finding *find_alike(struct findings *findings, enum finding_code code,
                                  enum schema_element element, const char *subject) {
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        if (finding->code == code && finding->element == element && finding->subject == subject)
            return finding;
    }
    return NULL;
}

static struct finding *append(struct findings *findings) {
    if (findings->count == findings->room) {
        size_t room = findings->room == 0 ? 64 : findings->room * 2;
        struct finding *grown = reallocarray(findings->items, room, sizeof(*grown));
        if (grown == NULL)
            return NULL;
        findings->items = grown;
        findings->room = room;
    }
    return &findings->items[findings->count];
}

/* Control bytes and the ends of lines never reach the terminal. */
static void clean(char *text) {
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

void findings_add(struct findings *findings, enum finding_code code, uint64_t lineno,
                  enum schema_element element, const char *subject, const char *format, ...) {
    findings->total++;
    struct finding *alike = findings->all ? NULL : find_alike(findings, code, element, subject);
    if (alike != NULL) {
        alike->count++;
        return;
    }
    if (findings->count == FINDINGS_KEPT_MAX) {
        findings->dropped++;
        return;
    }
    char text[FINDING_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    clean(text);
    char *copy = strdup(text);
    struct finding *finding = copy != NULL ? append(findings) : NULL;
    if (finding == NULL) {
        free(copy);
        findings->no_memory = true;
        return;
    }
    *finding = (struct finding){code, lineno, 1, findings->count, element, subject, copy};
    findings->count++;
}

static int compare(const void *a, const void *b) {
    const struct finding *one = a;
    const struct finding *other = b;
    if (one->lineno != other->lineno)
        return one->lineno < other->lineno ? -1 : 1;
    return one->sequence < other->sequence ? -1 : 1;
}

void findings_sort(struct findings *findings) {
    if (findings->count > 0)
        qsort(findings->items, findings->count, sizeof(*findings->items), compare);
}

void findings_finish(struct findings *findings) {
    for (size_t i = 0; i < findings->count; i++)
        free(findings->items[i].text);
    free(findings->items);
    *findings = (struct findings){0};
}
