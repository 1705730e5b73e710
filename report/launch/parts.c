/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.c: the list is whole in memory; a region is looked up in it by its place after sorting. */
#include "parts.h"

#include "split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part_name {
    const char *region;
    const char *benchmark;
};

static int compare_names(const void *a, const void *b) {
    return strcmp(((const struct part_name *)a)->region, ((const struct part_name *)b)->region);
}

static const struct part_name *name_find(const struct parts *parts, const char *region) {
    const struct part_name key = {region, NULL};
    return parts->names.count == 0 ? NULL
                                   : bsearch(&key, parts->names.items, parts->names.count,
                                             sizeof(key), compare_names);
}

static int line_take(struct parts *parts, const char *line, size_t length) {
    const char *tab = memchr(line, '\t', length);
    if (!tab || tab == line || tab + 1 == line + length || strlen(line) != length)
        return -EINVAL;
    struct part_name *name = vector_add(&parts->names);
    if (!name)
        return -ENOMEM;
    name->region = arena_text(&parts->arena, line, (size_t)(tab - line));
    name->benchmark = arena_text(&parts->arena, tab + 1, length - (size_t)(tab + 1 - line));
    return name->region && name->benchmark ? 0 : -ENOMEM;
}

static int lines_take(struct parts *parts, FILE *stream, struct fault *fault) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int r = 0;
    for (size_t number = 1; r == 0 && (length = getline(&line, &room, stream)) > 0; number++) {
        length -= line[length - 1] == '\n';
        line[length] = '\0';
        r = line_take(parts, line, (size_t)length);
        if (r == -EINVAL)
            fault_set(fault, r, "line %zu is not a region, a tab and a benchmark", number);
    }
    if (r == 0 && ferror(stream))
        r = fault_set(fault, -EIO, "cannot be read");
    free(line);
    return r == -ENOMEM ? fault_set(fault, r, "out of memory") : r;
}

/* The same line may come again, as that of a test that was repeated. */
static int names_sort(struct parts *parts, struct fault *fault) {
    struct part_name *names = parts->names.items;
    if (parts->names.count > 0)
        qsort(names, parts->names.count, sizeof(*names), compare_names);
    for (size_t i = 1; i < parts->names.count; i++)
        if (compare_names(&names[i - 1], &names[i]) == 0 &&
            strcmp(names[i - 1].benchmark, names[i].benchmark) != 0)
            return fault_set(fault, -EINVAL, "region \"%s\" is two benchmarks",
                             names[i].region);
    return 0;
}

int parts_read(const char *path, struct parts *ret_parts, struct fault *fault) {
    struct parts parts = {.names = VECTOR_OF(struct part_name)};
    FILE *stream = fopen(path, "re");
    if (!stream)
        return fault_set(fault, -errno, "%s", strerror(errno));
    int r = lines_take(&parts, stream, fault);
    fclose(stream);
    if (r == 0)
        r = names_sort(&parts, fault);
    if (r < 0)
        parts_finish(&parts);
    else
        *ret_parts = parts;
    return r;
}

static int part_make(const struct run *whole, size_t index, const char *benchmark,
                     struct run *ret_run) {
    struct run run = *whole;
    int r = profile_split(&whole->profile, index, &run.profile);
    if (r < 0)
        return r;
    run.benchmark = arena_text(&run.profile.arena, benchmark, strlen(benchmark));
    r = run.benchmark ? run_uuid_make(run.uuid) : -ENOMEM;
    if (r < 0)
        run_finish(&run);
    else
        *ret_run = run;
    return r;
}

static int part_add(const struct run *whole, size_t index, const char *benchmark,
                    struct vector *runs) {
    struct run run;
    int r = part_make(whole, index, benchmark, &run);
    if (r < 0)
        return r;
    struct run *added = vector_add(runs);
    if (!added) {
        run_finish(&run);
        return -ENOMEM;
    }
    *added = run;
    return 0;
}

int parts_split(const struct parts *parts, const struct run *whole, struct vector *runs) {
    const struct profile *profile = &whole->profile;
    const struct part_name *names = parts->names.items;
    /* By place in the list. A test that was repeated has several: the last is its result. */
    size_t *last = calloc(parts->names.count + 1, sizeof(*last));
    if (!last)
        return -ENOMEM;
    for (size_t i = 1; i < profile->region_count; i++) {
        const struct part_name *name = name_find(parts, profile->regions[i].name);
        if (name)
            last[name - names] = i;
    }
    int r = 0;
    for (size_t i = 1; r == 0 && i < profile->region_count; i++) {
        const struct part_name *name = name_find(parts, profile->regions[i].name);
        if (name && last[name - names] == i)
            r = part_add(whole, i, name->benchmark, runs);
    }
    free(last);
    return r;
}

void parts_finish(struct parts *parts) {
    vector_finish(&parts->names);
    arena_finish(&parts->arena);
    *parts = (struct parts){0};
}
