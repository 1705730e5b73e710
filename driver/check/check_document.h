/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_document.h: elements and text, in document order, against the schema and each other.
 *
 * check_document.c has what is the same for all elements: where they stand, which attributes
 * they have. check_field.c and check_table.c have what some mean: FIELDs, and the cells that
 * must fit them. check_xml.c brings them.
 */
#pragma once

#include "attributes.h"
#include "check_cell.h"
#include "check_findings.h"
#include "check_ids.h"
#include "check_schema.h"
#include "check_stream.h"
#include "problem.h"
#include "votable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_attribute {
    const char *name;   /* without its prefix */
    const char *prefix; /* NULL: none */
    const char *uri;    /* of its namespace, NULL: none */
    char *value;        /* NUL-terminated, to be written to by whoever checks it */
};

struct check_begin {
    const char *name;   /* without its prefix */
    const char *prefix; /* NULL: none */
    const char *uri;    /* NULL: none */
    uint64_t lineno;
    struct check_attribute *attributes;
    size_t attribute_count;
};

/* An element that has begun and not ended. */
struct check_frame {
    enum schema_element element;
    uint64_t lineno;
    uint32_t seen;     /* children so far */
    int rank;          /* of the last one, -1 before */
    bool text_is_told; /* S07, once for each element */
};

/* The TABLE that has begun. */
struct check_table {
    struct check_fields fields;
    bool has_ref; /* the fields are those of another TABLE, borrowed */
    bool unknown; /* of one that has not come yet, if it ever does */
    bool has_nrows;
    uint64_t nrows;
    bool has_data;
    bool rows_known;
    uint64_t rows;
    uint64_t lineno;
    struct check_id *id; /* NULL: none */
};

struct check_document {
    struct findings findings;
    struct check_ids ids;
    struct problem *problem; /* borrowed; set: nothing more can be said */
    enum schema_version version;
    bool seen_root;
    uint64_t doctype_lineno; /* 0: none */
    char *root_uri;          /* owned; NULL: none */
    uint64_t skipped;        /* depth inside an element that is not looked into */
    struct read_limits limits;
    struct check_frame *frames; /* owned; of the elements that are looked into */
    size_t depth;
    size_t frame_room;

    struct check_table table;
    bool in_table;
    struct check_field *field; /* FIELD or PARAM that has begun, else NULL */
    struct check_field param;
    size_t cells; /* TDs of this TR so far */
    uint64_t tr_lineno;
    bool cell_encoded; /* this TD has an encoding */
    bool cell_base64;
    char *text; /* of this TD; owned, reused */
    size_t text_bytes;
    size_t text_room;
    bool streaming;
    bool stream_has_text;
    bool stream_has_href;
    bool stream_is_base64;
    uint64_t extnum; /* of this FITS; 0: none */
    struct check_stream stream;
};

/* @document is all zero before, but for findings.all. Finish it in every case. */
void check_document_init(struct check_document *document, const struct read_limits *limits,
                         struct problem *problem) _nonnull_;
void check_document_finish(struct check_document *document) _nonnull_;

void check_document_begin(struct check_document *document,
                          const struct check_begin *begin) _nonnull_;
void check_document_end(struct check_document *document) _nonnull_;
void check_document_text(struct check_document *document, const char *text,
                         size_t length) _nonnull_;
void check_document_doctype(struct check_document *document, uint64_t lineno) _nonnull_;

/* The whole document was there. */
void check_document_complete(struct check_document *document) _nonnull_;

/* For check_table.c: what an element means. The frame of it is the last one. */
void check_table_begin(struct check_document *document, enum schema_element element,
                       const struct check_begin *begin) _nonnull_;
void check_table_end(struct check_document *document, enum schema_element element) _nonnull_;
void check_table_text(struct check_document *document, enum schema_element element,
                      const char *text, size_t length) _nonnull_;

/* For check_table.c: FIELD, PARAM, VALUES, and MIN, MAX or OPTION begin. In check_field.c. */
void check_begin_field(struct check_document *document,
                       const struct check_begin *begin) _nonnull_;
void check_begin_param(struct check_document *document,
                       const struct check_begin *begin) _nonnull_;
void check_begin_values(struct check_document *document,
                        const struct check_begin *begin) _nonnull_;
void check_begin_bound(struct check_document *document, enum schema_element element,
                       const struct check_begin *begin) _nonnull_;

/* The value of an attribute without prefix, or NULL. */
const char *check_begin_get(const struct check_begin *element, const char *name) _nonnull_;

/* Read the file at @path into @document. What went wrong is in its problem. */
void check_xml_read(const char *path, struct check_document *document) _nonnull_;
