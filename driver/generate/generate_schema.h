/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_schema.h: columns in the words of the command line. */
#pragma once

#include "attributes.h"
#include "generate_values.h"
#include "problem.h"

#include <stddef.h>

struct generate_schema {
    struct field **fields; /* owned, each on its own */
    generate_cell **makers;
    size_t count;
};

/* Both return 0, or a negative errno with a problem; finish in either case. */
int generate_schema_from_preset(const char *preset, struct generate_schema *ret_schema,
                                struct problem *problem) _must_check_ _nonnull_;

/* "ra:double,flux:float[8],name:char[*]" */
int generate_schema_from_text(const char *text, struct generate_schema *ret_schema,
                              struct problem *problem) _must_check_ _nonnull_;
void generate_schema_finish(struct generate_schema *schema) _nonnull_;

/* Give integers that have no VALUES null one, so that BINARY and FITS can say null. */
int generate_schema_allow_nulls(struct generate_schema *schema,
                                struct problem *problem) _must_check_ _nonnull_;
