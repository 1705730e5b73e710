/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_series.c: sizes and timelines as lists of integers.
 *
 * Sizes are few and are JSON text. A timeline has a thousand points: it is packed, see
 * store_pack.h, in one column and not a table of points, because a row of its own costs each
 * point three times as much. Times and bytes are differences to the point before: small numbers
 * are short.
 */
#include "store_series.h"

#include "store_pack.h"
#include "textstream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX (2 * PROFILE_POINTS_MAX)

static char *numbers_write(const int64_t *numbers, size_t count) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    fputc('[', stream);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%" PRId64, i > 0 ? "," : "", numbers[i]);
    fputc(']', stream);
    return textstream_take(&text);
}

static char *sizes_write(const int64_t *sizes) {
    size_t count = TRACE_SIZE_BUCKETS;
    while (count > 0 && sizes[count - 1] == 0)
        count--;
    return numbers_write(sizes, count);
}

/* Points are within the bounds that profile_check() asserts, so that differences do not wrap. */
static int timeline_write(const struct profile_point *points, size_t count,
                          struct store_series *series) {
    struct pack pack = {0};
    struct profile_point before = {0};
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            pack_mark(&pack, PACK_NEXT);
        pack_number(&pack, points[i].elapsed_ns - before.elapsed_ns);
        pack_mark(&pack, PACK_NEXT);
        pack_number(&pack,
                    (int64_t)((uint64_t)points[i].live_bytes - (uint64_t)before.live_bytes));
        before = points[i];
    }
    if (pack.refused) {
        pack_finish(&pack);
        return -ENOMEM;
    }
    series->timeline = pack.bytes;
    series->timeline_bytes = pack_size(&pack);
    return 0;
}

int store_series_write(const struct profile_region *region, struct store_series *ret_series) {
    struct store_series series = {0};
    int r = 0;
    if (region->sizes) {
        series.sizes = sizes_write(region->sizes);
        r = series.sizes ? 0 : -ENOMEM;
    }
    if (r == 0 && region->points_count > 0)
        r = timeline_write(region->points, region->points_count, &series);
    if (r < 0)
        store_series_finish(&series);
    else
        *ret_series = series;
    return r;
}

void store_series_finish(struct store_series *series) {
    free(series->sizes);
    free(series->timeline);
    *series = (struct store_series){0};
}

static const char *skip_space(const char *text) {
    return text + strspn(text, " \t\r\n");
}

/* "[1,-2,3]". Returns how many, -EBADMSG when it is no such list or has more than @room. */
static int numbers_read(const char *text, int64_t *ret_numbers, size_t room) {
    size_t count = 0;
    const char *at = skip_space(text);
    if (*at++ != '[')
        return -EBADMSG;
    at = skip_space(at);
    while (*at != ']') {
        char *end;
        errno = 0;
        long long number = strtoll(at, &end, 10);
        if (end == at || errno != 0 || count == room)
            return -EBADMSG;
        ret_numbers[count++] = number;
        at = skip_space(end);
        if (*at == ',')
            at++;
        else if (*at != ']')
            return -EBADMSG;
    }
    return *skip_space(at + 1) == '\0' ? (int)count : -EBADMSG;
}

int store_series_read_sizes(const char *text, struct arena *arena,
                            struct profile_region *region) {
    int64_t *sizes = arena_array(arena, TRACE_SIZE_BUCKETS, sizeof(*sizes));
    if (!sizes)
        return -ENOMEM;
    int r = numbers_read(text, sizes, TRACE_SIZE_BUCKETS);
    if (r < 0)
        return r;
    region->sizes = sizes;
    return 0;
}

static int points_read(const int64_t *numbers, size_t count, struct arena *arena,
                       struct profile_region *region) {
    struct profile_point *points = arena_array(arena, count, sizeof(*points));
    struct profile_point now = {0};
    if (!points)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(now.elapsed_ns, numbers[2 * i], &now.elapsed_ns) ||
            __builtin_add_overflow(now.live_bytes, numbers[2 * i + 1], &now.live_bytes))
            return -EBADMSG;
        points[i] = now;
    }
    region->points = points;
    region->points_count = count;
    return 0;
}

/* @numbers has room for NUMBERS_MAX. */
static int packed_read(const unsigned char *packed, size_t size, int64_t *numbers) {
    struct unpack unpack = {packed, 2 * size, 0};
    int count = 0;
    while (unpack_peek(&unpack) != PACK_END) {
        if (count > 0 && unpack_peek(&unpack) != PACK_NEXT)
            break;
        unpack.at += count > 0;
        if (count == NUMBERS_MAX || !unpack_number(&unpack, &numbers[count++]))
            return -EBADMSG;
    }
    if (unpack_peek(&unpack) == PACK_NULL)
        unpack.at++;
    return unpack.at == unpack.nibbles ? count : -EBADMSG;
}

static int timeline_read(const char *text, const unsigned char *packed, size_t size,
                         struct arena *arena, struct profile_region *region) {
    int64_t *numbers = calloc(NUMBERS_MAX, sizeof(*numbers));
    if (!numbers)
        return -ENOMEM;
    int r =
        text ? numbers_read(text, numbers, NUMBERS_MAX) : packed_read(packed, size, numbers);
    if (r > 0 && r % 2 != 0)
        r = -EBADMSG;
    if (r >= 0)
        r = points_read(numbers, (size_t)r / 2, arena, region);
    free(numbers);
    return r;
}

int store_series_read_timeline(const unsigned char *packed, size_t size, struct arena *arena,
                               struct profile_region *region) {
    return timeline_read(NULL, packed, size, arena, region);
}

int store_series_read_old_timeline(const char *text, struct arena *arena,
                                   struct profile_region *region) {
    return timeline_read(text, NULL, 0, arena, region);
}
