/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vtrcheck: check a trace, and what a test expects of it.
 *
 *     vtrcheck FILE [KEY=VALUE | KEY>=VALUE | KEY<=VALUE]...
 *     vtrcheck --print FILE KEY...
 *
 * Without --print: exit 0 when the invariants of trace_layout.h hold and all expectations are
 * met, else 1 with one line for each that is not. Keys are the fields of the header and of
 * completeness, and NAME.SPACE.FIELD for the youngest region of that name (NAME@3: its third
 * instance), SPACE heap, anon, file or reserved:
 *
 *     state=2  unknown_frees=0  parse.heap.added>=1000  process.anon.live=4096
 *
 * regions.NAME counts instances, rows.NAME those of them that kept their rows.
 */
#include "trace_check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct field {
    const char *name;
    size_t offset;
    size_t bytes;
};

#define FIELD(type, path, name)                                                                \
    { name, offsetof(struct type, path), sizeof(((struct type *)0)->path) }
#define HEADER(member)       FIELD(trace_header, member, #member)
#define COMPLETENESS(member) FIELD(trace_header, completeness.member, #member)
#define TOTALS(member, name) FIELD(trace_totals, member, name)

static const struct field header_fields[] = {
    HEADER(state),
    HEADER(updating),
    HEADER(used_bytes),
    HEADER(pid),
    HEADER(end_elapsed_ns),
    HEADER(stacks),
    HEADER(depth_limit),
    HEADER(node_count),
    HEADER(site_count),
    HEADER(region_count),
    HEADER(stacks_truncated),
    COMPLETENESS(events_lost),
    COMPLETENESS(unknown_frees),
    COMPLETENESS(table_refused),
    COMPLETENESS(file_refused),
    COMPLETENESS(stacks_missing),
    COMPLETENESS(stacks_other),
    COMPLETENESS(forked_children),
    COMPLETENESS(unbalanced_ends),
    COMPLETENESS(regions_dropped),
    COMPLETENESS(settings_ignored),
};

static const struct field totals_fields[] = {
    TOTALS(start.bytes, "start"),
    TOTALS(start.blocks, "start_blocks"),
    TOTALS(live.bytes, "live"),
    TOTALS(live.blocks, "blocks"),
    TOTALS(peak.bytes, "peak"),
    TOTALS(largest_bytes, "largest"),
    TOTALS(failed, "failed"),
    TOTALS(reallocations, "reallocations"),
    TOTALS(owned_live_bytes, "owned_live"),
    TOTALS(owned_peak_bytes, "owned_peak"),
};

/* Fields of a region's own. */
static const struct field region_fields[] = {
    FIELD(trace_region, instance, "instance"),
    FIELD(trace_region, parent, "parent"),
    FIELD(trace_region, open, "open"),
    FIELD(trace_region, flags, "flags"),
    FIELD(trace_region, combined_start_bytes, "combined_start"),
    FIELD(trace_region, combined_peak_bytes, "combined_peak"),
    FIELD(trace_region, combined_end_bytes, "combined_end"),
};

static bool read_field(const struct field *fields, size_t count, const void *from,
                       const char *name, int64_t *ret_value) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) != 0)
            continue;
        const unsigned char *at = (const unsigned char *)from + fields[i].offset;
        uint32_t narrow;
        memcpy(&narrow, at, sizeof(narrow));
        *ret_value = narrow;
        if (fields[i].bytes == sizeof(*ret_value))
            memcpy(ret_value, at, sizeof(*ret_value));
        return true;
    }
    return false;
}

/* Derived from the rows, so that open regions have them too; from the totals without rows. */
static bool read_count(struct trace_check *check, uint32_t region, enum trace_space space,
                       const char *name, int64_t *ret_value) {
    const struct trace_region *record = check->regions[region];
    const struct trace_totals *totals = &record->space[space];
    struct trace_check_sums sums = {
        .allocations = totals->allocated.blocks,
        .allocated_bytes = totals->allocated.bytes,
        .frees = totals->freed.blocks,
        .freed_bytes = totals->freed.bytes,
        .temporary = totals->temporary,
    };
    if ((record->flags & TRACE_REGION_NO_ROWS) == 0)
        sums = trace_check_sum(check, region, space);
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"allocations", sums.allocations},
        {"allocated", sums.allocated_bytes},
        {"frees", sums.frees},
        {"freed", sums.freed_bytes},
        {"temporary", sums.temporary},
        {"sites", sums.sites},
        {"added", totals->peak.bytes - totals->start.bytes},
        {"net", totals->live.bytes - totals->start.bytes},
    };
    for (size_t i = 0; i < LENGTH(counts); i++) {
        if (strcmp(counts[i].name, name) == 0) {
            *ret_value = (int64_t)counts[i].value;
            return true;
        }
    }
    return false;
}

/* NAME or NAME@INSTANCE. */
static bool find_region(const struct trace_check *check, char *name, uint32_t *ret_region) {
    unsigned long instance = 0;
    char *at = strchr(name, '@');
    bool found = false;
    if (at != NULL) {
        *at = '\0';
        instance = strtoul(at + 1, NULL, 10);
    }
    for (uint32_t id = 0; id < check->header->region_count; id++) {
        const struct trace_region *region = check->regions[id];
        if (strcmp(region->name, name) != 0 || (instance != 0 && region->instance != instance))
            continue;
        *ret_region = id;
        found = true;
    }
    return found;
}

static int64_t count_regions(const struct trace_check *check, const char *name,
                             bool with_rows) {
    int64_t count = 0;
    for (uint32_t id = 0; id < check->header->region_count; id++)
        if (strcmp(check->regions[id]->name, name) == 0 &&
            (!with_rows || (check->regions[id]->flags & TRACE_REGION_NO_ROWS) == 0))
            count++;
    return count;
}

static bool read_region_key(struct trace_check *check, char *key, int64_t *ret_value) {
    static const char *const spaces[] = {"heap", "anon", "file", "reserved"};
    uint32_t region = 0;
    char *space_name = strchr(key, '.');
    if (space_name == NULL)
        return false;
    *space_name++ = '\0';
    if (strcmp(key, "regions") == 0 || strcmp(key, "rows") == 0) {
        *ret_value = count_regions(check, space_name, strcmp(key, "rows") == 0);
        return true;
    }
    if (!find_region(check, key, &region))
        return false;
    char *field = strchr(space_name, '.');
    if (field == NULL)
        return read_field(region_fields, LENGTH(region_fields), check->regions[region],
                          space_name, ret_value);
    *field++ = '\0';
    for (size_t i = 0; i < LENGTH(spaces); i++)
        if (strcmp(spaces[i], space_name) == 0)
            return read_field(totals_fields, LENGTH(totals_fields),
                              &check->regions[region]->space[i], field, ret_value) ||
                   read_count(check, region, (enum trace_space)i, field, ret_value);
    return false;
}

static bool read_key(struct trace_check *check, const char *key, int64_t *ret_value) {
    char copy[256];
    if (strcmp(key, "cut") == 0) {
        *ret_value = check->cut;
        return true;
    }
    if (read_field(header_fields, LENGTH(header_fields), check->header, key, ret_value))
        return true;
    if (check->cut || strlen(key) >= sizeof(copy))
        return false;
    memcpy(copy, key, strlen(key) + 1);
    return read_region_key(check, copy, ret_value);
}

/* One expectation. Returns whether it is met. */
static bool expect(struct trace_check *check, const char *file, const char *text) {
    char key[256];
    const char *sign = strpbrk(text, "=<>");
    int64_t value;
    if (sign == NULL || (size_t)(sign - text) >= sizeof(key)) {
        fprintf(stderr, "vtrcheck: '%s' is no expectation\n", text);
        return false;
    }
    memcpy(key, text, (size_t)(sign - text));
    key[sign - text] = '\0';
    int64_t wanted = strtoll(sign + (*sign == '=' ? 1 : 2), NULL, 10);
    if (!read_key(check, key, &value)) {
        fprintf(stderr, "vtrcheck: %s: no %s here\n", file, key);
        return false;
    }
    bool met = *sign == '='   ? value == wanted
               : *sign == '>' ? value >= wanted
                              : value <= wanted;
    if (!met)
        fprintf(stderr, "vtrcheck: %s: %s expected, it is %" PRIi64 "\n", file, text, value);
    return met;
}

static const void *map_file(const char *path, size_t *ret_size) {
    struct stat status;
    const void *bytes = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return NULL;
    *ret_size = (size_t)status.st_size;
    return bytes;
}

int main(int argc, char **argv) {
    bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
    int at = print ? 2 : 1;
    struct trace_check check;
    size_t size = 0;
    if (at >= argc) {
        fputs("usage: vtrcheck [--print] FILE [KEY | EXPECTATION]...\n", stderr);
        return 2;
    }
    const char *file = argv[at++];
    const void *bytes = map_file(file, &size);
    if (bytes == NULL) {
        fprintf(stderr, "vtrcheck: %s: cannot be read\n", file);
        return 1;
    }
    int result = trace_check(&check, bytes, size) < 0;
    if (result != 0)
        fprintf(stderr, "vtrcheck: %s: %s\n", file, check.fault);
    for (; at < argc && check.fault[0] == 0; at++) {
        int64_t value;
        if (!print)
            result |= !expect(&check, file, argv[at]);
        else if (read_key(&check, argv[at], &value))
            printf("%" PRIi64 "\n", value);
        else
            result = 1;
    }
    trace_check_finish(&check);
    return result;
}
