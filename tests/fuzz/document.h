/* SPDX-License-Identifier: BSD-3-Clause */
/* document.h: what the fuzz targets that make documents share. A failed property aborts. */
#pragma once

#include "check_findings.h"
#include "problem.h"
#include "votable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A document in memory, with a path for those who take one. */
struct document {
    int fd;
    char path[32];
};

void document_open(struct document *ret_document, const void *bytes, size_t length);
void document_close(struct document *document);

/* A text that grows; what it is made of is escaped where @escape says so. */
struct document_text {
    char *bytes; /* owned */
    size_t length;
    size_t room;
};

void document_text_add(struct document_text *text, const void *bytes, size_t length);
void document_text_print(struct document_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void document_text_escape(struct document_text *text, const uint8_t *bytes, size_t length);

/* The start of a FIELD's text: one of the datatypes and arraysizes, chosen by two numbers. */
void document_text_field(struct document_text *text, unsigned name, unsigned type,
                         unsigned arraysize);

void require(bool holds, const char *what, const struct problem *problem);

/* Read with a strategy; one hash over all tables, 0 when the document is refused. */
uint64_t document_read(const struct document *document, enum strategy strategy, bool strict,
                       struct problem *ret_problem);

/* What check says: which codes. Returns the code of its problem. */
int document_check(const struct document *document, bool ret_codes[FINDING_CODES]);

/* Which of the codes of errors was found, or FINDING_CODES. */
enum finding_code document_first_error(const bool codes[FINDING_CODES]);
