/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cdata_splitter.h: long CDATA sections become short ones that follow each other.
 *
 * They mean the same. A push parser of libxml2 looks for the end of a section from its start
 * again with every piece it is given, so that one of 10 MB takes minutes.
 */
#pragma once

#include "attributes.h"

#include <stddef.h>

enum cdata_state {
    CDATA_OUTSIDE,
    CDATA_OPENING, /* inside what may become "<![CDATA[", "<!--" or "<?" */
    CDATA_INSIDE,
    CDATA_COMMENT,
    CDATA_INSTRUCTION,
};

/* All zero before the first byte of a document, which has an encoding that contains ASCII. */
struct cdata_splitter {
    enum cdata_state state;
    char opening[9]; /* what was seen of it */
    size_t opened;
    size_t run;     /* bytes of this section */
    size_t closing; /* how far the end of the section, comment or instruction has come */
};

/*
 * Copy from @from to @to until one of them is full, with borders put in. Returns the bytes
 * written; @room is at least 16.
 */
size_t cdata_splitter_copy(struct cdata_splitter *splitter, const char *from, size_t bytes,
                           char *to, size_t room, size_t *ret_taken) _nonnull_;
