/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store_series.c: sizes and timelines as JSON arrays of integers.
 *
 * Text, so that json_each() in plain sqlite3 reads it (and the view v_timeline does); one column
 * and not a table of points, because a row of its own costs each point three times as much. Times
 * and bytes of a timeline are differences to the point before: small numbers are short, and a
 * full timeline is some 10 kB.
 */
#include "store_series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX (2 * PROFILE_POINTS_MAX)

static char *numbers_write(const int64_t *numbers, size_t count) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    fputc('[', stream);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%" PRId64, i > 0 ? "," : "", numbers[i]);
    fputc(']', stream);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static char *sizes_write(const int64_t *sizes) {
    size_t count = TRACE_SIZE_BUCKETS;
    while (count > 0 && sizes[count - 1] == 0)
        count--;
    return numbers_write(sizes, count);
}

/* Points are within the bounds that profile_check() asserts, so that differences do not wrap. */
static char *timeline_write(const struct profile_point *points, size_t count) {
    int64_t *numbers = calloc(2 * count, sizeof(*numbers));
    if (!numbers)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct profile_point before = i > 0 ? points[i - 1] : (struct profile_point){0};
        numbers[2 * i] = points[i].elapsed_ns - before.elapsed_ns;
        numbers[2 * i + 1] =
            (int64_t)((uint64_t)points[i].live_bytes - (uint64_t)before.live_bytes);
    }
    char *text = numbers_write(numbers, 2 * count);
    free(numbers);
    return text;
}

int store_series_write(const struct profile_region *region, struct store_series *ret_series) {
    struct store_series series = {0};
    if (region->sizes)
        series.sizes = sizes_write(region->sizes);
    if (region->points_count > 0)
        series.timeline = timeline_write(region->points, region->points_count);
    if ((region->sizes && !series.sizes) || (region->points_count > 0 && !series.timeline)) {
        store_series_finish(&series);
        return -ENOMEM;
    }
    *ret_series = series;
    return 0;
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

static int sizes_read(const char *text, struct arena *arena, struct profile_region *region) {
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

int store_series_read(const char *sizes, const char *timeline, struct arena *arena,
                      struct profile_region *region) {
    int r = sizes ? sizes_read(sizes, arena, region) : 0;
    if (r < 0 || !timeline)
        return r;
    int64_t *numbers = calloc(NUMBERS_MAX, sizeof(*numbers));
    if (!numbers)
        return -ENOMEM;
    r = numbers_read(timeline, numbers, NUMBERS_MAX);
    if (r > 0 && r % 2 != 0)
        r = -EBADMSG;
    if (r >= 0)
        r = points_read(numbers, (size_t)r / 2, arena, region);
    free(numbers);
    return r;
}
