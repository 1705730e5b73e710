/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cdata_splitter.c: a state for each byte, which only follows what a CDATA section can hide in.
 *
 * A border is put between two characters, not into a line end and not where "]]>" might be
 * coming: neither text nor lines change.
 */
#include "cdata_splitter.h"

#include <stdbool.h>
#include <string.h>

#define RUN_BYTES 200

static const char border[] = "]]><![CDATA[";

static const struct {
    const char *text;
    enum cdata_state leads_to;
} openings[] = {
    {"<![CDATA[", CDATA_INSIDE},
    {"<!--", CDATA_COMMENT},
    {"<?", CDATA_INSTRUCTION},
};

static void open_with(struct cdata_splitter *splitter, char c) {
    splitter->opening[splitter->opened++] = c;
    for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
        if (strncmp(openings[i].text, splitter->opening, splitter->opened) != 0)
            continue;
        if (openings[i].text[splitter->opened] == '\0') {
            splitter->state = openings[i].leads_to;
            splitter->run = 0;
            splitter->closing = 0;
        }
        return;
    }
    splitter->state = CDATA_OUTSIDE;
    if (c != '<')
        return;
    splitter->state = CDATA_OPENING;
    splitter->opening[0] = '<';
    splitter->opened = 1;
}

/* Does @c complete "]]>", "-->" or "?>", whose @repeats first characters are @mark? */
static bool closes(struct cdata_splitter *splitter, char c, char mark, size_t repeats) {
    if (c == mark) {
        splitter->closing++;
        return false;
    }
    bool closed = c == '>' && splitter->closing >= repeats;
    splitter->closing = 0;
    return closed;
}

static void step(struct cdata_splitter *splitter, char c) {
    switch (splitter->state) {
    case CDATA_OUTSIDE:
        if (c != '<')
            return;
        splitter->state = CDATA_OPENING;
        splitter->opened = 0;
        open_with(splitter, c);
        return;
    case CDATA_OPENING:
        open_with(splitter, c);
        return;
    case CDATA_INSIDE:
        splitter->run++;
        if (closes(splitter, c, ']', 2))
            splitter->state = CDATA_OUTSIDE;
        return;
    case CDATA_COMMENT:
        if (closes(splitter, c, '-', 2))
            splitter->state = CDATA_OUTSIDE;
        return;
    case CDATA_INSTRUCTION:
        if (closes(splitter, c, '?', 1))
            splitter->state = CDATA_OUTSIDE;
        return;
    }
}

size_t cdata_splitter_copy(struct cdata_splitter *splitter, const char *from, size_t bytes,
                           char *to, size_t room, size_t *ret_taken) {
    const char *c = from;
    const char *end = from + bytes;
    char *at = to;
    while (c < end && (size_t)(at - to) + sizeof(border) <= room) {
        step(splitter, *c);
        *at++ = *c;
        bool may_split = splitter->state == CDATA_INSIDE && splitter->run >= RUN_BYTES &&
                         *c != ']' && *c != '\r' && (*c & 0x80) == 0;
        c++;
        if (!may_split)
            continue;
        memcpy(at, border, sizeof(border) - 1);
        at += sizeof(border) - 1;
        splitter->run = 0;
    }
    *ret_taken = (size_t)(c - from);
    return (size_t)(at - to);
}
