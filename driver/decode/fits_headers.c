/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fits_headers.c: from header to header by the sizes that they give themselves.
 *
 * cfitsio 4.2 goes on with what its stack holds when a mandatory card has no number, and allocates
 * as many columns as that says. So it is given nothing whose mandatory cards were not read here.
 * What else is in a header (TFORM and so on) it reads by name, and reports what is missing.
 */
#include "fits_headers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES 2880
#define CARD_BYTES  80
#define KEY_BYTES   8
#define AXES_MAX    999
#define COLUMNS_MAX 999

struct headers {
    const struct fits_source *source;
    struct problem *problem;
    int fd;
    uint64_t file_bytes;
    uint64_t number;      /* of the header, the primary is 0 */
    uint64_t block_start; /* of the block that is here */
    uint64_t card_start;  /* of the next card */
    char block[BLOCK_BYTES];
};

static int complain(struct headers *headers, const char *key, const char *what) {
    return problem_set(headers->problem, -EBADMSG, headers->source->lineno,
                       "header %" PRIu64
                       " of the FITS file is damaged: %s %s, correct the FITS "
                       "or fetch it again",
                       headers->number, key, what);
}

static int read_block(struct headers *headers, uint64_t start) {
    size_t got = 0;
    headers->block_start = start;
    if (headers->fd < 0) {
        memcpy(headers->block, (const char *)headers->source->bytes + start, BLOCK_BYTES);
        return 0;
    }
    while (got < BLOCK_BYTES) {
        ssize_t n =
            pread(headers->fd, headers->block + got, BLOCK_BYTES - got, (off_t)(start + got));
        if (n > 0)
            got += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return problem_set(headers->problem, n == 0 ? -EBADMSG : -errno,
                               headers->source->lineno, "the FITS file cannot be read: %s",
                               n == 0 ? "it became shorter, fetch it again" : strerror(errno));
    }
    return 0;
}

/* The next card of the header, CARD_BYTES long; NULL with a problem when the file is over. */
static const char *next_card(struct headers *headers) {
    uint64_t start = headers->card_start / BLOCK_BYTES * BLOCK_BYTES;
    if (start + BLOCK_BYTES > headers->file_bytes) {
        complain(headers, "END", "is missing");
        return NULL;
    }
    if (start != headers->block_start && read_block(headers, start) < 0)
        return NULL;
    const char *card = headers->block + (headers->card_start - start);
    headers->card_start += CARD_BYTES;
    return card;
}

static bool has_key(const char *card, const char *key) {
    char padded[KEY_BYTES + 1];
    snprintf(padded, sizeof(padded), "%-8s", key);
    return memcmp(card, padded, KEY_BYTES) == 0;
}

/* "= " and a whole number. */
static bool read_number(const char *card, int64_t *ret_number) {
    const char *c = card + KEY_BYTES;
    const char *end = card + CARD_BYTES;
    if (c[0] != '=' || c[1] != ' ')
        return false;
    for (c += 2; c < end && *c == ' '; c++)
        ;
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+'))
        c++;
    const char *digits = c;
    int64_t number = 0;
    for (; c < end && *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *c - '0', &number))
            return false;
    *ret_number = negative ? -number : number;
    return c > digits && (c == end || *c == ' ' || *c == '/');
}

/* The card that must come now. Returns 0 or a negative errno with a problem. */
static int take_number(struct headers *headers, const char *key, int64_t least, int64_t most,
                       int64_t *ret_number) {
    const char *card = next_card(headers);
    int64_t number;
    if (card == NULL)
        return headers->problem->code;
    if (!has_key(card, key))
        return complain(headers, key, "is not where it must be");
    if (!read_number(card, &number) || number < least || number > most)
        return complain(headers, key, "has no value that it can have");
    *ret_number = number;
    return 0;
}

/* BITPIX, NAXIS and NAXISn: the items of the data, and the bits of each. */
static int take_axes(struct headers *headers, int64_t *ret_bits, uint64_t *ret_items) {
    int64_t axes = 0;
    int r = take_number(headers, "BITPIX", -64, 64, ret_bits);
    if (r == 0 && (*ret_bits == 0 || *ret_bits % 8 != 0))
        r = complain(headers, "BITPIX", "has no value that it can have");
    if (r == 0)
        r = take_number(headers, "NAXIS", 0, AXES_MAX, &axes);
    uint64_t items = axes > 0 ? 1 : 0;
    for (int64_t i = 1; r == 0 && i <= axes; i++) {
        char key[KEY_BYTES + 1];
        int64_t extent = 0;
        snprintf(key, sizeof(key), "NAXIS%d", (int)i);
        r = take_number(headers, key, 0, INT64_MAX, &extent);
        if (r == 0 && __builtin_mul_overflow(items, (uint64_t)extent, &items))
            r = complain(headers, key, "is beyond every file");
    }
    *ret_items = items;
    return r;
}

/* To what follows END. */
static int skip_cards(struct headers *headers) {
    const char *card;
    do
        card = next_card(headers);
    while (card != NULL && !has_key(card, "END"));
    return card == NULL ? headers->problem->code : 0;
}

static uint64_t whole_blocks(uint64_t bytes) {
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

/* One header, from its second card on. @ret_next is where the next one begins. */
static int check_header(struct headers *headers, bool extension, bool table,
                        uint64_t *ret_next) {
    int64_t bits = 0, extra = 0, groups = 1, columns = 0;
    uint64_t items = 0, bytes = 0;
    int r = take_axes(headers, &bits, &items);
    if (r == 0 && extension)
        r = take_number(headers, "PCOUNT", 0, INT64_MAX, &extra);
    if (r == 0 && extension)
        r = take_number(headers, "GCOUNT", table ? 1 : 0, table ? 1 : INT64_MAX, &groups);
    if (r == 0 && table)
        r = take_number(headers, "TFIELDS", 0, COLUMNS_MAX, &columns);
    if (r == 0)
        r = skip_cards(headers);
    if (r < 0)
        return r;
    uint64_t item_bytes = (uint64_t)(bits < 0 ? -bits : bits) / 8;
    if (__builtin_add_overflow(items, (uint64_t)extra, &bytes) ||
        __builtin_mul_overflow(bytes, (uint64_t)groups, &bytes) ||
        __builtin_mul_overflow(bytes, item_bytes, &bytes) || bytes > INT64_MAX / 2)
        return complain(headers, "NAXIS", "is beyond every file");
    *ret_next = whole_blocks(headers->card_start) + whole_blocks(bytes);
    return 0;
}

int fits_headers_check(const struct fits_source *source, int fd, uint64_t file_bytes,
                       struct problem *problem) {
    struct headers headers = {.source = source,
                              .problem = problem,
                              .fd = fd,
                              .file_bytes = file_bytes,
                              .block_start = UINT64_MAX};
    uint64_t start = 0;
    for (; file_bytes >= BLOCK_BYTES && start <= file_bytes - BLOCK_BYTES; headers.number++) {
        headers.card_start = start;
        const char *card = next_card(&headers);
        if (card == NULL)
            return problem->code;
        bool extension = headers.number > 0;
        if (memcmp(card, extension ? "XTENSION= '" : "SIMPLE  = ", extension ? 11 : 10) != 0)
            return complain(&headers, extension ? "XTENSION" : "SIMPLE", "is missing");
        bool binary = extension && memcmp(card + 11, "BINTABLE", 8) == 0;
        bool table = binary || (extension && memcmp(card + 11, "TABLE", 5) == 0);
        int r = check_header(&headers, extension, table, &start);
        if (r < 0)
            return r;
        if (source->extnum > 0 ? headers.number == source->extnum : binary)
            return 0;
    }
    if (start == file_bytes)
        return 0;
    /* cfitsio says another thing of this in memory than of it in a file. */
    return problem_set(
        problem, -EBADMSG, source->lineno,
        "the FITS file ends before its table, it is cut short, fetch or write it "
        "again");
}
