/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_findings.h: what check has to say about a document.
 *
 * Findings of one code about one kind of element and attribute are alike: the first is kept and
 * the others counted, unless all are wanted. They come out in document order, whenever they
 * were made.
 */
#pragma once

#include "attributes.h"
#include "check_schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FINDING_TEXT_BYTES 400

/* More than these are counted, and not kept. */
#define FINDINGS_KEPT_MAX 1000000

/* Stable: a code means the same for ever. votdriver(1) lists them. */
enum finding_code {
    FINDING_D01,
    FINDING_D02,
    FINDING_D03,
    FINDING_D04,
    FINDING_D05,
    FINDING_D06,
    FINDING_S01,
    FINDING_S02,
    FINDING_S03,
    FINDING_S04,
    FINDING_S05,
    FINDING_S06,
    FINDING_S07,
    FINDING_S08,
    FINDING_S09,
    FINDING_A01,
    FINDING_A02,
    FINDING_A03,
    FINDING_A04,
    FINDING_A05,
    FINDING_A06,
    FINDING_A07,
    FINDING_A08,
    FINDING_A09,
    FINDING_R01,
    FINDING_R02,
    FINDING_R03,
    FINDING_R04,
    FINDING_R05,
    FINDING_F01,
    FINDING_F02,
    FINDING_F03,
    FINDING_F04,
    FINDING_F05,
    FINDING_F06,
    FINDING_F07,
    FINDING_F08,
    FINDING_F09,
    FINDING_C01,
    FINDING_C02,
    FINDING_C03,
    FINDING_C04,
    FINDING_C05,
    FINDING_C06,
    FINDING_C07,
    FINDING_C08,
    FINDING_C09,
    FINDING_C10,
    FINDING_C11,
    FINDING_T01,
    FINDING_B01,
    FINDING_B02,
    FINDING_B03,
    FINDING_B04,
    FINDING_B05,
    FINDING_B06,
    FINDING_B07,
    FINDING_B08,
    FINDING_B09,
    FINDING_B10,
    FINDING_B11,
    FINDING_B12,
    FINDING_B13,
    FINDING_B14,
    FINDING_CODES,
};

struct finding {
    enum finding_code code;
    uint64_t lineno;
    uint64_t count;    /* of all like it, this one too */
    uint64_t sequence; /* when it was made */
    enum schema_element element;
    const char *subject; /* an attribute's name from the schema, or NULL */
    char *text;          /* owned */
};

/* All zero is empty. */
struct findings {
    bool all;
    bool no_memory;        /* one was lost */
    struct finding *items; /* owned */
    size_t count;
    size_t room;
    uint64_t total;   /* with those that were only counted */
    uint64_t dropped; /* beyond FINDINGS_KEPT_MAX */
};

/* @subject is not copied: a string of the schema, or NULL. */
void findings_add(struct findings *findings, enum finding_code code, uint64_t lineno,
                  enum schema_element element, const char *subject, const char *format, ...)
    _printf_(6, 7);

/* Into document order, when nothing more is added. */
void findings_sort(struct findings *findings) _nonnull_;
void findings_finish(struct findings *findings) _nonnull_;

const char *finding_name(enum finding_code code);    /* "S01" */
const char *finding_summary(enum finding_code code); /* what it means, in general */
bool finding_is_error(enum finding_code code);
