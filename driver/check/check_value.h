/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_value.h: what attributes' values must look like, by themselves.
 *
 * Texts are NUL-terminated and without blanks around, as the schema's types have them.
 */
#pragma once

#include "attributes.h"
#include "check_schema.h"

#include <stdbool.h>

/* Is it a value of this kind? True for kinds that need to know more than the text. */
bool value_is_of_kind(enum schema_kind kind, const char *text,
                      enum schema_version version) _nonnull_;

/* Is it one of these words, that have a blank between? */
bool value_is_word(const char *words, const char *text) _nonnull_;

/* Can it be read: words of UCD1+, or one of UCD1? */
bool value_is_readable_ucd(const char *text) _nonnull_;

/* Can it be read, by VOUnits or by the rules of the CDS? */
bool value_is_readable_unit(const char *text) _nonnull_;

/* DALI, 3.3.3: a date, or a date and a time in ISO 8601. */
bool value_is_timestamp(const char *text) _nonnull_;

/* What a value of this kind is, to be said in a message. */
const char *value_kind_text(enum schema_kind kind);
