/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plain_rows.c: looks at a row twice: is it plain and complete, and then, what are its cells?
 *
 * A row that is cut by the end of the text cannot be given back once some of its cells are
 * stored, so nothing is told of it before its last tag was seen. The second look needs no test
 * but for the '<' at the end of a cell, and the row is in the processor's nearest cache by
 * then.
 */
#include "plain_rows.h"

#include "utf8.h"

#include <stdbool.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* All comparisons with a tag, and one step of a search, stay within so many bytes. */
#define MARGIN_BYTES 16

#define TAG_IS(at, tag) (memcmp((at), (tag), sizeof(tag) - 1) == 0)

static inline bool is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Not simply text. */
static inline bool is_special(char c) {
    return (c & 0x80) != 0 || c < ' ' || c == '<' || c == '&' || c == '>';
}

/*
 * The first byte from @c on that is not simply text: '<', '&', '>' (which may end a "]]>"),
 * control characters and all beyond ASCII. NULL when there is none before @end, or close to it.
 */
static inline const char *find_special(const char *c, const char *end) {
#if defined(__SSE2__)
    const __m128i first_text = _mm_set1_epi8(' ');
    const __m128i ampersand = _mm_set1_epi8('&');
    const __m128i greater = _mm_set1_epi8('>');
    const __m128i two = _mm_set1_epi8('<' ^ '>');
    for (; end - c >= MARGIN_BYTES; c += 16) {
        __m128i text = _mm_loadu_si128((const __m128i *)(const void *)c);
        __m128i special = _mm_cmplt_epi8(text, first_text);
        special = _mm_or_si128(special, _mm_cmpeq_epi8(text, ampersand));
        special = _mm_or_si128(special, _mm_cmpeq_epi8(_mm_or_si128(text, two), greater));
        int mask = _mm_movemask_epi8(special);
        if (mask != 0)
            return c + __builtin_ctz((unsigned)mask);
    }
#else
    for (; end - c >= MARGIN_BYTES; c++)
        if (is_special(*c))
            return c;
#endif
    return NULL;
}

/* The first '<', which there is. */
static inline const char *find_tag(const char *c) {
#if defined(__SSE2__)
    const __m128i less = _mm_set1_epi8('<');
    for (;; c += 16) {
        __m128i text = _mm_loadu_si128((const __m128i *)(const void *)c);
        int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(text, less));
        if (mask != 0)
            return c + __builtin_ctz((unsigned)mask);
    }
#else
    while (*c != '<')
        c++;
    return c;
#endif
}

/* Behind the text at @c, where its '<' is; NULL when a parser has to look at it. */
static inline const char *text_end(const char *c, const char *end, uint64_t *lines) {
    while ((c = find_special(c, end)) != NULL && *c != '<') {
        if (*c == '\n' || *c == '\t') {
            *lines += *c == '\n';
            c++;
            continue;
        }
        if ((*c & 0x80) == 0)
            return NULL;
        uint32_t point;
        size_t bytes = utf8_decode(c, (size_t)(end - c), &point);
        if (point == UTF8_INVALID || point == 0xfffe || point == 0xffff)
            return NULL;
        c += bytes;
    }
    return c;
}

/* Over white space to a tag. */
static inline const char *find_blanks_end(const char *c, const char *end, uint64_t *lines) {
    for (; c < end && is_blank(*c); c++)
        *lines += *c == '\n';
    return end - c >= MARGIN_BYTES ? c : NULL;
}

const char *plain_row_find(const char *from, const char *end, size_t cells,
                           uint64_t *ret_lines) {
    uint64_t lines = 0;
    const char *c = find_blanks_end(from, end, &lines);
    if (c == NULL || !TAG_IS(c, "<TR>"))
        return NULL;
    c += 4;
    for (; cells > 0; cells--) {
        c = find_blanks_end(c, end, &lines);
        if (c == NULL)
            return NULL;
        if (TAG_IS(c, "<TD/>")) {
            c += 5;
            continue;
        }
        if (!TAG_IS(c, "<TD>"))
            return NULL;
        c = text_end(c + 4, end, &lines);
        if (c == NULL || !TAG_IS(c, "</TD>"))
            return NULL;
        c += 5;
    }
    c = find_blanks_end(c, end, &lines);
    if (c == NULL || !TAG_IS(c, "</TR>"))
        return NULL;
    *ret_lines = lines;
    return c + 5;
}

static inline void pass_blanks(struct plain_cursor *cursor) {
    for (; *cursor->at != '<'; cursor->at++)
        cursor->lines -= *cursor->at == '\n';
}

void plain_row_enter(struct plain_cursor *cursor, const char *from, uint64_t lines) {
    cursor->at = from;
    cursor->lines = lines;
    pass_blanks(cursor);
    cursor->at += sizeof("<TR>") - 1;
}

const char *plain_row_cell(struct plain_cursor *cursor, size_t *ret_length,
                           uint64_t *ret_lines) {
    pass_blanks(cursor);
    const char *text = cursor->at + sizeof("<TD>") - 1;
    *ret_lines = cursor->lines;
    *ret_length = 0;
    if (text[-1] == '/') {
        cursor->at = text + 1;
        return text;
    }
    const char *end = find_tag(text);
    *ret_length = (size_t)(end - text);
    if (cursor->lines > 0)
        for (const char *c = text; c < end; c++)
            cursor->lines -= *c == '\n';
    cursor->at = end + sizeof("</TD>") - 1;
    return text;
}

const char *plain_text_end(const char *from, const char *end, uint64_t *ret_lines) {
    uint64_t lines = 0;
    for (const char *c = from;; c++) {
        const char *special = find_special(c, end);
        if (special != NULL)
            c = special;
        else
            while (c < end && !is_special(*c))
                c++;
        if (c == end || (*c != '\n' && *c != '\t')) {
            *ret_lines = lines;
            return c;
        }
        lines += *c == '\n';
    }
}
