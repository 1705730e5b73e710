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
 * regions.NAME counts instances, rows.NAME those of them that kept their rows. Of a region:
 *
 *     NAME.thread=1            of one thread         NAME.slack          usable - requested,
 *     NAME.sizes.K             allocations of 2^(K-1) .. 2^K-1 bytes      at the peak
 *     NAME.sizes.total         of any size           NAME.usable_at_peak, usable_start ...
 *     NAME.timeline.points     how many; .min, .max, .first, .last are their bytes, .interval
 *     NAME.module.FILE         heap bytes allocated by code of the file of that name
 *
 * Of the trace: forked, usable (1: asked for), modules, generations (the greatest of a module),
 * node_generations (of a node), lanes (records), lane_rows (chunks of lanes beyond 0), in_event
 * (how many were inside an event). child_of=FILE: its parent's trace is FILE.
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
    HEADER(parent_pid),
    HEADER(start_realtime_ns),
    HEADER(end_elapsed_ns),
    HEADER(peak_resident_bytes),
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
    COMPLETENESS(malloc_elsewhere),
    COMPLETENESS(inherited_freed),
};

static const struct field totals_fields[] = {
    TOTALS(start.bytes, "start"),
    TOTALS(start.blocks, "start_blocks"),
    TOTALS(peak.bytes, "peak"),
    TOTALS(failed, "failed"),
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
    FIELD(trace_region, begin_thread, "begin_thread"),
    FIELD(trace_region, end_thread, "end_thread"),
    FIELD(trace_region, usable_start_bytes, "usable_start"),
    FIELD(trace_region, usable_live_bytes, "usable_live"),
    FIELD(trace_region, usable_at_peak_bytes, "usable_at_peak"),
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

/* A number that is not in the file as it stands. */
struct fact {
    const char *name;
    int64_t value;
};

static bool read_fact(const struct fact *facts, size_t count, const char *name,
                      int64_t *ret_value) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(facts[i].name, name) == 0) {
            *ret_value = facts[i].value;
            return true;
        }
    }
    return false;
}

/* The largest request: of the process, the lanes know theirs only. */
static int64_t largest(const struct trace_check *check, uint32_t region,
                       enum trace_space space) {
    uint64_t bytes = check->regions[region]->space[space].largest_bytes;
    for (uint32_t lane = 0; region == 0 && space == TRACE_HEAP && lane < TRACE_LANES_MAX;
         lane++)
        if (check->lanes[lane] != NULL && check->lanes[lane]->largest_bytes > bytes)
            bytes = check->lanes[lane]->largest_bytes;
    return (int64_t)bytes;
}

static int64_t reallocations(const struct trace_check *check, uint32_t region,
                             enum trace_space space) {
    uint64_t count = check->regions[region]->space[space].reallocations;
    for (uint32_t lane = 0; region == 0 && space == TRACE_HEAP && lane < TRACE_LANES_MAX;
         lane++)
        if (check->lanes[lane] != NULL)
            count += check->lanes[lane]->reallocations;
    return (int64_t)count;
}

/* Derived from the rows, so that open regions have them too; from the totals without rows. */
static bool read_count(struct trace_check *check, uint32_t region, enum trace_space space,
                       const char *name, int64_t *ret_value) {
    const struct trace_region *record = check->regions[region];
    const struct trace_totals *totals = &record->space[space];
    struct trace_check_sums sums = {
        .live_blocks = (int64_t)totals->live.blocks,
        .live_bytes = (int64_t)totals->live.bytes,
        .allocations = totals->allocated.blocks,
        .allocated_bytes = totals->allocated.bytes,
        .frees = totals->freed.blocks,
        .freed_bytes = totals->freed.bytes,
        .temporary = totals->temporary,
    };
    if ((record->flags & TRACE_REGION_NO_ROWS) == 0)
        sums = trace_check_sum(check, region, space);
    const struct fact facts[] = {
        {"live", sums.live_bytes},
        {"blocks", sums.live_blocks},
        {"allocations", (int64_t)sums.allocations},
        {"allocated", (int64_t)sums.allocated_bytes},
        {"frees", (int64_t)sums.frees},
        {"freed", (int64_t)sums.freed_bytes},
        {"temporary", (int64_t)sums.temporary},
        {"sites", (int64_t)sums.sites},
        {"largest", largest(check, region, space)},
        {"reallocations", reallocations(check, region, space)},
        {"added", (int64_t)(totals->peak.bytes - totals->start.bytes)},
        {"net", sums.live_bytes - (int64_t)totals->start.bytes},
    };
    return read_fact(facts, LENGTH(facts), name, ret_value);
}

/* NAME.sizes.K, NAME.sizes.total */
static bool read_sizes(struct trace_check *check, uint32_t region, const char *name,
                       int64_t *ret_value) {
    int64_t counts[TRACE_SIZE_BUCKETS];
    int64_t total = 0;
    char *end;
    if (trace_check_sizes(check, region, counts) < 0)
        return false;
    for (uint32_t bucket = 0; bucket < TRACE_SIZE_BUCKETS; bucket++)
        total += counts[bucket];
    unsigned long bucket = strtoul(name, &end, 10);
    bool is_total = strcmp(name, "total") == 0;
    if (!is_total && (end == name || *end != '\0' || bucket >= TRACE_SIZE_BUCKETS))
        return false;
    *ret_value = is_total ? total : counts[bucket];
    return true;
}

static bool read_timeline(const struct trace_check *check, uint32_t region, const char *name,
                          int64_t *ret_value) {
    const struct trace_timeline *timeline = trace_check_timeline(check, region);
    if (timeline == NULL)
        return false;
    const struct trace_point *points = timeline->points;
    uint32_t count = timeline->count;
    int64_t min = count > 0 ? points[0].live_bytes : 0;
    int64_t max = min;
    for (uint32_t i = 0; i < count; i++) {
        if (points[i].live_bytes < min)
            min = points[i].live_bytes;
        if (points[i].live_bytes > max)
            max = points[i].live_bytes;
    }
    const struct fact facts[] = {
        {"points", count},
        {"interval", (int64_t)timeline->interval},
        {"min", min},
        {"max", max},
        {"first", count > 0 ? points[0].live_bytes : 0},
        {"last", count > 0 ? points[count - 1].live_bytes : 0},
    };
    return read_fact(facts, LENGTH(facts), name, ret_value);
}

static bool read_region_fact(const struct trace_check *check, uint32_t region, const char *name,
                             int64_t *ret_value) {
    const struct trace_region *record = check->regions[region];
    const struct fact facts[] = {
        {"thread", (record->flags & TRACE_REGION_THREAD) != 0},
        {"slack", record->usable_at_peak_bytes - (int64_t)record->space[TRACE_HEAP].peak.bytes},
    };
    return read_fact(facts, LENGTH(facts), name, ret_value);
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

/* The module that a frame's code is in: of the greatest generation up to the node's own. */
static const struct trace_module *find_module(const struct trace_check *check,
                                              const struct trace_node *node) {
    const struct trace_module *found = NULL;
    for (uint64_t at = TRACE_HEADER_BYTES; at < check->header->used_bytes;) {
        const struct trace_chunk *chunk =
            (const struct trace_chunk *)(const void *)(check->bytes + at);
        const struct trace_module *module =
            (const struct trace_module *)(const void *)(chunk + 1);
        if (chunk->kind == TRACE_CHUNK_MODULE && node->address > module->start &&
            node->address <= module->end && module->generation <= node->generation &&
            (found == NULL || module->generation > found->generation))
            found = module;
        at += chunk->bytes;
    }
    return found;
}

/* Heap bytes allocated in a region by code of the file @name, which ends the module's path. */
static int64_t module_bytes(const struct trace_check *check, uint32_t region,
                            const char *name) {
    size_t length = strlen(name);
    int64_t bytes = 0;
    for (uint32_t site = TRACE_FIXED_SITES; site < check->header->site_count; site++) {
        if (check->sites[site]->space != TRACE_HEAP)
            continue;
        const struct trace_module *module =
            find_module(check, check->nodes[check->sites[site]->node]);
        if (module == NULL)
            continue;
        const char *path = (const char *)(module + 1);
        if (module->path_bytes > length &&
            memcmp(path + module->path_bytes - length, name, length) == 0 &&
            path[module->path_bytes - length - 1] == '/')
            bytes += (int64_t)trace_check_site(check, region, site).allocated_bytes;
    }
    return bytes;
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
                          space_name, ret_value) ||
               read_region_fact(check, region, space_name, ret_value);
    *field++ = '\0';
    if (strcmp(space_name, "module") == 0) {
        *ret_value = module_bytes(check, region, field);
        return true;
    }
    if (strcmp(space_name, "sizes") == 0)
        return read_sizes(check, region, field, ret_value);
    if (strcmp(space_name, "timeline") == 0)
        return read_timeline(check, region, field, ret_value);
    for (size_t i = 0; i < LENGTH(spaces); i++)
        if (strcmp(spaces[i], space_name) == 0)
            return read_field(totals_fields, LENGTH(totals_fields),
                              &check->regions[region]->space[i], field, ret_value) ||
                   read_count(check, region, (enum trace_space)i, field, ret_value);
    return false;
}

static uint32_t node_generations(const struct trace_check *check) {
    uint32_t greatest = 0;
    for (uint32_t id = 0; !check->cut && id < check->header->node_count; id++)
        if (check->nodes[id]->generation > greatest)
            greatest = check->nodes[id]->generation;
    return greatest;
}

static bool read_trace_fact(const struct trace_check *check, const char *name,
                            int64_t *ret_value) {
    const struct fact facts[] = {
        {"cut", check->cut},
        {"forked", (check->header->flags & TRACE_FORKED) != 0},
        {"usable", (check->header->flags & TRACE_USABLE) != 0},
        {"modules", check->module_count},
        {"generations", check->generations},
        {"node_generations", node_generations(check)},
        {"lanes", check->lane_count},
        {"lane_rows", (int64_t)check->lane_row_chunks},
        {"in_event", check->updating},
    };
    return read_fact(facts, LENGTH(facts), name, ret_value);
}

static bool read_key(struct trace_check *check, const char *key, int64_t *ret_value) {
    char copy[256];
    if (read_trace_fact(check, key, ret_value))
        return true;
    if (read_field(header_fields, LENGTH(header_fields), check->header, key, ret_value))
        return true;
    if (check->cut || strlen(key) >= sizeof(copy))
        return false;
    memcpy(copy, key, strlen(key) + 1);
    return read_region_key(check, copy, ret_value);
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

/* Does @header say that the trace at @path is its parent's? */
static bool is_child_of(const struct trace_header *header, const char *path) {
    size_t size;
    const struct trace_header *parent = map_file(path, &size);
    bool is_child = parent != NULL && size >= TRACE_HEADER_BYTES &&
                    (header->flags & TRACE_FORKED) != 0 &&
                    memcmp(parent->uuid, header->parent_uuid, TRACE_UUID_BYTES) == 0;
    if (parent != NULL)
        munmap((void *)(uintptr_t)parent, size);
    return is_child;
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
    if (strcmp(key, "child_of") == 0) {
        if (!is_child_of(check->header, sign + 1))
            fprintf(stderr, "vtrcheck: %s: is no child of %s\n", file, sign + 1);
        return is_child_of(check->header, sign + 1);
    }
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
