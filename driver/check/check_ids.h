/* SPDX-License-Identifier: BSD-3-Clause */
/* check_ids.h: the IDs of a document and what refers to them, in any order. */
#pragma once

#include "attributes.h"
#include "check_cell.h"
#include "check_findings.h"
#include "check_schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_id {
    char *name; /* owned */
    enum schema_element element;
    uint64_t lineno;
    bool used;
    struct check_fields fields; /* of a TABLE that is over; owned */
};

struct check_ref {
    char *name; /* owned */
    enum schema_element from;
    uint64_t lineno;
};

/* All zero is empty. */
struct check_ids {
    void *tree; /* of struct check_id, for tsearch(3) */
    struct check_ref *refs;
    size_t ref_count;
    size_t ref_room;
    bool no_memory;
};

/* An element has this ID. When another has it too, that is a finding, and NULL is returned. */
struct check_id *check_ids_add(struct check_ids *ids, struct findings *findings,
                               const char *name, enum schema_element element,
                               uint64_t lineno) _nonnull_;
void check_ids_refer(struct check_ids *ids, const char *name, enum schema_element from,
                     uint64_t lineno) _nonnull_;

/* Among those so far; NULL: none. */
struct check_id *check_ids_find(struct check_ids *ids, const char *name) _nonnull_;

/* The document is over: which refs lead to nothing, or to the wrong thing? */
void check_ids_resolve(struct check_ids *ids, struct findings *findings) _nonnull_;
void check_ids_finish(struct check_ids *ids) _nonnull_;
