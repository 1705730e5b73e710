/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_reader.c: walk the chunks of a file once to count, once to fill the tables, and refuse
 * at the first thing that cannot be.
 *
 * The bytes are our own, see trace_load.c. The entries of the tables are checked in
 * trace_entries.c. Nothing here is derived or summed, nothing is printed.
 */
#include "trace_reader.h"

#include "arena.h"
#include "trace_entries.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_READER_MAX_BYTES (UINT64_C(16) << 30)

struct trace_file {
    struct trace trace; /* first: what the world sees of it */
    struct arena arena;
    unsigned char *bytes;
    uint64_t end; /* of the chunks that are whole */
    size_t chunk_rows;
    size_t chunk_modules;
    size_t chunk_codes;
    struct trace_loaded_module *modules;
    struct trace_loaded_code *codes;
    const struct trace_timeline **timelines; /* by region */
    const struct trace_sizes **sizes;
    struct trace_header header;
};

/* Where the next id of a table has to come from, while the chunks are walked in order. */
struct id_table {
    const char *name;
    unsigned char *items;
    size_t item_bytes;
    uint32_t in_use; /* ids 0 .. in_use-1 */
    uint64_t filled; /* ids seen so far: chunks continue where the last one ended */
};

static int damaged(struct fault *fault, const char *what, uint64_t offset) {
    return fault_set(fault, -EBADMSG, "trace damaged: %s at byte %" PRIu64, what, offset);
}

int trace_header_check(const void *bytes, size_t size, struct trace_header *ret_header,
                       struct fault *fault) {
    struct trace_header header;
    if (size < sizeof(header.magic) || memcmp(bytes, TRACE_MAGIC, sizeof(header.magic)) != 0)
        return fault_set(fault, -ENOMSG, "this is not a votrace trace");
    if (size < TRACE_HEADER_BYTES)
        return fault_set(fault, -EBADMSG,
                         "trace truncated: %zu bytes do not hold its header of %u", size,
                         TRACE_HEADER_BYTES);
    memcpy(&header, bytes, sizeof(header));
    if (header.byte_order == __builtin_bswap32(TRACE_BYTE_ORDER))
        return fault_set(fault, -ENOTSUP,
                         "trace of a machine with the other byte order: import it there");
    if (header.version > TRACE_VERSION)
        return fault_set(fault, -ENOTSUP,
                         "trace version %" PRIu32 " is newer than this votreport, which reads "
                         "version %u: use the votreport that came with its libvotrace.so",
                         header.version, TRACE_VERSION);
    if (header.version != TRACE_VERSION)
        return fault_set(fault, -ENOTSUP,
                         "trace version %" PRIu32 " is older than any release: record it again",
                         header.version);
    if (header.byte_order != TRACE_BYTE_ORDER || header.header_bytes != TRACE_HEADER_BYTES)
        return damaged(fault, "a header that cannot be", 0);
    if (header.state > TRACE_EXECED || header.stacks > TRACE_STACKS_ALL ||
        header.updating > 1 || (header.flags & ~(TRACE_FORKED | TRACE_USABLE)) != 0 ||
        memchr(header.program, '\0', sizeof(header.program)) == NULL ||
        memchr(header.votrace_version, '\0', sizeof(header.votrace_version)) == NULL)
        return damaged(fault, "a header that cannot be", 0);
    if (header.used_bytes < TRACE_HEADER_BYTES || header.used_bytes % TRACE_CHUNK_ALIGN != 0 ||
        header.used_bytes > TRACE_READER_MAX_BYTES)
        return damaged(fault, "a size that cannot be", 0);
    if (header.region_count == 0)
        return fault_set(fault, -EBADMSG,
                         "trace is empty: the program ended before anything was recorded");
    if (header.node_count == 0 || header.site_count < TRACE_FIXED_SITES)
        return damaged(fault, "tables without their first entries", 0);
    *ret_header = header;
    return 0;
}

/*
 * Payload bytes that @chunk must have for its kind and count; UINT64_MAX for an unknown kind.
 */
static uint64_t payload_need(const struct trace_chunk *chunk) {
    static const uint32_t item_bytes[] = {
        [TRACE_CHUNK_NODES] = sizeof(struct trace_node),
        [TRACE_CHUNK_SITES] = sizeof(struct trace_site),
        [TRACE_CHUNK_REGIONS] = sizeof(struct trace_region),
        [TRACE_CHUNK_ROWS] = sizeof(struct trace_row),
        [TRACE_CHUNK_TEXT] = 1,
    };
    static const uint32_t single_bytes[] = {
        [TRACE_CHUNK_MODULE] = sizeof(struct trace_module),
        [TRACE_CHUNK_LANE] = sizeof(struct trace_lane),
        [TRACE_CHUNK_TIMELINE] = sizeof(struct trace_timeline),
        [TRACE_CHUNK_SIZES] = sizeof(struct trace_sizes),
        [TRACE_CHUNK_CODE] = sizeof(struct trace_code),
    };
    if (chunk->kind == 0 || chunk->kind >= sizeof(single_bytes) / sizeof(single_bytes[0]))
        return UINT64_MAX;
    if (single_bytes[chunk->kind] > 0)
        return single_bytes[chunk->kind];
    return (uint64_t)item_bytes[chunk->kind] * chunk->count;
}

/*
 * Read the chunk header at @offset. Returns 1 and sets @ret_chunk, 0 when the file ends inside
 * this chunk, -EBADMSG when it is no chunk.
 */
static int chunk_at(const struct trace_file *file, size_t size, uint64_t offset,
                    struct trace_chunk *ret_chunk, struct fault *fault) {
    struct trace_chunk chunk;
    if (offset + sizeof(chunk) > size)
        return 0;
    memcpy(&chunk, file->bytes + offset, sizeof(chunk));
    if (chunk.magic != TRACE_CHUNK_MAGIC)
        return damaged(fault, "no chunk", offset);
    if (chunk.bytes < sizeof(chunk) || chunk.bytes % TRACE_CHUNK_ALIGN != 0 ||
        chunk.bytes > file->header.used_bytes - offset)
        return damaged(fault, "a chunk of impossible size", offset);
    if (payload_need(&chunk) > chunk.bytes - sizeof(chunk))
        return damaged(fault, "a chunk with more entries than room", offset);
    if (offset + chunk.bytes > size)
        return 0;
    *ret_chunk = chunk;
    return 1;
}

/* First walk: find where the whole chunks end, and how many of the variable kinds there are. */
static int chunks_count(struct trace_file *file, size_t size, struct fault *fault) {
    uint64_t offset = TRACE_HEADER_BYTES;
    while (offset < file->header.used_bytes) {
        struct trace_chunk chunk = {0};
        int r = chunk_at(file, size, offset, &chunk, fault);
        if (r < 0)
            return r;
        if (r == 0) {
            file->trace.truncated = true;
            break;
        }
        file->chunk_modules += chunk.kind == TRACE_CHUNK_MODULE;
        file->chunk_codes += chunk.kind == TRACE_CHUNK_CODE;
        file->chunk_rows += chunk.kind == TRACE_CHUNK_ROWS;
        offset += chunk.bytes;
    }
    file->end = offset;
    return 0;
}

static int ids_take(struct id_table *table, const struct trace_chunk *chunk,
                    const unsigned char *payload, uint64_t offset, struct fault *fault) {
    if (chunk->count == 0 || chunk->first != table->filled ||
        (uint64_t)chunk->first + chunk->count > UINT32_MAX)
        return damaged(fault, "ids that do not count up", offset);
    if (chunk->first < table->in_use) {
        uint64_t left = table->in_use - chunk->first;
        uint64_t count = chunk->count < left ? chunk->count : left;
        memcpy(table->items + (size_t)chunk->first * table->item_bytes, payload,
               count * table->item_bytes);
    }
    table->filled += chunk->count;
    return 0;
}

static int rows_take(struct trace_file *file, const struct trace_chunk *chunk,
                     const unsigned char *payload, struct trace_rows *rows, uint64_t offset,
                     struct fault *fault) {
    const struct trace_header *header = &file->header;
    if (chunk->count != TRACE_ROWS_PER_CHUNK || chunk->first % TRACE_ROWS_PER_CHUNK != 0)
        return damaged(fault, "rows of other sites than there can be", offset);
    if (chunk->lane >= TRACE_LANES_MAX ||
        (chunk->lane > 0 && chunk->owner != 0 && chunk->owner != TRACE_NO_OWNER))
        return damaged(fault, "rows of a lane that cannot be", offset);
    if (chunk->owner == TRACE_NO_OWNER)
        return 0;
    if (chunk->owner >= header->region_count)
        return damaged(fault, "rows of no region", offset);
    /* Of sites not in use yet: made ready, and the process died before it needed them. */
    if (chunk->first >= header->site_count)
        return 0;
    uint32_t left = header->site_count - chunk->first;
    rows[file->trace.rows_count++] = (struct trace_rows){
        .region = chunk->owner,
        .lane = chunk->lane,
        .first = chunk->first,
        .count = chunk->count < left ? chunk->count : left,
        .rows = (const struct trace_row *)(const void *)payload,
    };
    return 0;
}

static int module_take(struct trace_file *file, const struct trace_chunk *chunk,
                       const unsigned char *payload, uint64_t offset, struct fault *fault) {
    const struct trace_module *module = (const struct trace_module *)(const void *)payload;
    uint64_t room = chunk->bytes - sizeof(*chunk) - sizeof(*module);
    if (module->path_bytes > room || module->build_id_bytes > TRACE_BUILD_ID_MAX ||
        module->start >= module->end)
        return damaged(fault, "a module that cannot be", offset);
    file->modules[file->trace.module_count++] = (struct trace_loaded_module){
        .module = module,
        .path = {(const char *)(module + 1), module->path_bytes},
    };
    return 0;
}

static int code_take(struct trace_file *file, const struct trace_chunk *chunk,
                     const unsigned char *payload, uint64_t offset, struct fault *fault) {
    const struct trace_code *code = (const struct trace_code *)(const void *)payload;
    const char *text = (const char *)(code + 1);
    uint64_t room = chunk->bytes - sizeof(*chunk) - sizeof(*code);
    if (chunk->first != file->trace.code_count + 1 || code->function_bytes > room ||
        code->path_bytes > room - code->function_bytes)
        return damaged(fault, "a function that cannot be", offset);
    file->codes[file->trace.code_count++] = (struct trace_loaded_code){
        .first_line = code->first_line,
        .function = {text, code->function_bytes},
        .path = {text + code->function_bytes, code->path_bytes},
    };
    return 0;
}

static int text_take(struct trace_file *file, const struct trace_chunk *chunk,
                     const unsigned char *payload, uint64_t offset, struct fault *fault) {
    struct trace_bytes *texts[] = {
        [TRACE_TEXT_EXE] = &file->trace.exe,
        [TRACE_TEXT_COMMAND] = &file->trace.command,
        [TRACE_TEXT_CWD] = &file->trace.cwd,
        [TRACE_TEXT_PARENT] = &file->trace.parent,
    };
    if (chunk->first == 0 || chunk->first >= sizeof(texts) / sizeof(texts[0]))
        return damaged(fault, "a text of unknown meaning", offset);
    *texts[chunk->first] = (struct trace_bytes){(const char *)payload, chunk->count};
    return 0;
}

static int lane_take(struct trace_file *file, const struct trace_chunk *chunk,
                     const unsigned char *payload, uint64_t offset, struct fault *fault) {
    const struct trace_lane *lane = (const struct trace_lane *)(const void *)payload;
    if (chunk->first >= TRACE_LANES_MAX || lane->updating > 1)
        return damaged(fault, "a lane that cannot be", offset);
    if (file->trace.lanes[chunk->first])
        return damaged(fault, "a lane that is there already", offset);
    file->trace.lanes[chunk->first] = lane;
    return 0;
}

/* Or it was made ready for a region that the process did not live to begin. */
static bool is_owned(const struct trace_file *file, const struct trace_chunk *chunk) {
    return chunk->owner != TRACE_NO_OWNER && chunk->owner < file->header.region_count;
}

static int timeline_take(struct trace_file *file, const struct trace_chunk *chunk,
                         const unsigned char *payload, uint64_t offset, struct fault *fault) {
    const struct trace_timeline *timeline =
        (const struct trace_timeline *)(const void *)payload;
    if (!is_owned(file, chunk))
        return 0;
    if (timeline->count > TRACE_TIMELINE_POINTS)
        return damaged(fault, "a timeline with more points than room", offset);
    if (file->timelines[chunk->owner])
        return damaged(fault, "a second timeline of one region", offset);
    file->timelines[chunk->owner] = timeline;
    return 0;
}

static int sizes_take(struct trace_file *file, const struct trace_chunk *chunk,
                      const unsigned char *payload, uint64_t offset, struct fault *fault) {
    if (!is_owned(file, chunk))
        return 0;
    if (file->sizes[chunk->owner])
        return damaged(fault, "second sizes of one region", offset);
    file->sizes[chunk->owner] = (const struct trace_sizes *)(const void *)payload;
    return 0;
}

/* Second walk: put everything where its table wants it. */
static int chunks_take(struct trace_file *file, struct id_table tables[],
                       struct trace_rows *rows, struct fault *fault) {
    for (uint64_t offset = TRACE_HEADER_BYTES; offset < file->end;) {
        struct trace_chunk chunk;
        memcpy(&chunk, file->bytes + offset, sizeof(chunk));
        const unsigned char *payload = file->bytes + offset + sizeof(chunk);
        int r = 0;
        switch (chunk.kind) {
        case TRACE_CHUNK_NODES:
        case TRACE_CHUNK_SITES:
        case TRACE_CHUNK_REGIONS:
            r = ids_take(&tables[chunk.kind], &chunk, payload, offset, fault);
            break;
        case TRACE_CHUNK_ROWS:
            r = rows_take(file, &chunk, payload, rows, offset, fault);
            break;
        case TRACE_CHUNK_MODULE:
            r = module_take(file, &chunk, payload, offset, fault);
            break;
        case TRACE_CHUNK_CODE:
            r = code_take(file, &chunk, payload, offset, fault);
            break;
        case TRACE_CHUNK_TEXT:
            r = text_take(file, &chunk, payload, offset, fault);
            break;
        case TRACE_CHUNK_LANE:
            r = lane_take(file, &chunk, payload, offset, fault);
            break;
        case TRACE_CHUNK_TIMELINE:
            r = timeline_take(file, &chunk, payload, offset, fault);
            break;
        case TRACE_CHUNK_SIZES:
            r = sizes_take(file, &chunk, payload, offset, fault);
            break;
        }
        if (r < 0)
            return r;
        offset += chunk.bytes;
    }
    return 0;
}

static int rows_compare(const void *a, const void *b) {
    const struct trace_rows *left = a;
    const struct trace_rows *right = b;
    if (left->region != right->region)
        return left->region < right->region ? -1 : 1;
    if (left->lane != right->lane)
        return left->lane < right->lane ? -1 : 1;
    return left->first < right->first ? -1 : left->first > right->first;
}

static int rows_order(struct trace *trace, struct trace_rows *rows, struct fault *fault) {
    if (trace->rows_count > 0)
        qsort(rows, trace->rows_count, sizeof(*rows), rows_compare);
    for (size_t i = 1; i < trace->rows_count; i++)
        if (rows[i].region == rows[i - 1].region && rows[i].lane == rows[i - 1].lane &&
            rows[i].first < rows[i - 1].first + rows[i - 1].count)
            return fault_set(fault, -EBADMSG,
                             "trace damaged: two sets of rows for the sites from %" PRIu32
                             " in region %" PRIu32,
                             rows[i].first, rows[i].region);
    return 0;
}

static int tables_fill(struct trace_file *file, struct fault *fault) {
    struct trace *trace = &file->trace;
    const struct trace_header *header = &file->header;
    struct id_table tables[] = {
        [TRACE_CHUNK_NODES] = {"stack nodes", NULL, sizeof(struct trace_node),
                               header->node_count, 0},
        [TRACE_CHUNK_SITES] = {"call sites", NULL, sizeof(struct trace_site),
                               header->site_count, 0},
        [TRACE_CHUNK_REGIONS] = {"regions", NULL, sizeof(struct trace_region),
                                 header->region_count, 0},
    };
    for (size_t kind = TRACE_CHUNK_NODES; kind <= TRACE_CHUNK_REGIONS; kind++) {
        struct id_table *table = &tables[kind];
        /* Before asking for memory: could the file hold that many? */
        if ((uint64_t)table->in_use * table->item_bytes > file->end)
            return fault_set(fault, -EBADMSG, "trace %s: its table of %s is not all there",
                             trace->truncated ? "truncated" : "damaged", table->name);
        table->items = arena_array(&file->arena, table->in_use, table->item_bytes);
        if (!table->items)
            return fault_set(fault, -ENOMEM, "out of memory");
    }
    struct trace_rows *rows = arena_array(&file->arena, file->chunk_rows, sizeof(*rows));
    file->modules = arena_array(&file->arena, file->chunk_modules, sizeof(*file->modules));
    file->codes = arena_array(&file->arena, file->chunk_codes, sizeof(*file->codes));
    file->timelines = arena_array(&file->arena, header->region_count, sizeof(*file->timelines));
    file->sizes = arena_array(&file->arena, header->region_count, sizeof(*file->sizes));
    if (!rows || !file->modules || !file->codes || !file->timelines || !file->sizes)
        return fault_set(fault, -ENOMEM, "out of memory");

    int r = chunks_take(file, tables, rows, fault);
    if (r < 0)
        return r;
    for (size_t kind = TRACE_CHUNK_NODES; kind <= TRACE_CHUNK_REGIONS; kind++)
        if (tables[kind].filled < tables[kind].in_use)
            return fault_set(fault, -EBADMSG, "trace %s: its table of %s is not all there",
                             trace->truncated ? "truncated" : "damaged", tables[kind].name);
    trace->header = &file->header;
    trace->nodes = (const void *)tables[TRACE_CHUNK_NODES].items;
    trace->sites = (const void *)tables[TRACE_CHUNK_SITES].items;
    trace->regions = (const void *)tables[TRACE_CHUNK_REGIONS].items;
    trace->rows = rows;
    trace->modules = file->modules;
    trace->codes = file->codes;
    trace->timelines = file->timelines;
    trace->sizes = file->sizes;
    return rows_order(trace, rows, fault);
}

int trace_from_taken_bytes(void *take_bytes, size_t size, struct trace **ret_trace,
                           struct fault *fault) {
    int r;
    struct trace_file *file = calloc(1, sizeof(*file));
    if (!file) {
        free(take_bytes);
        return fault_set(fault, -ENOMEM, "out of memory");
    }
    file->bytes = take_bytes;
    file->trace.bytes = take_bytes;
    file->trace.size = size;

    r = trace_header_check(file->bytes, size, &file->header, fault);
    if (r == 0)
        r = chunks_count(file, size, fault);
    if (r == 0)
        r = tables_fill(file, fault);
    if (r == 0)
        r = trace_entries_check(&file->trace, fault);
    if (r < 0) {
        trace_close(&file->trace);
        return r;
    }
    *ret_trace = &file->trace;
    return 0;
}

int trace_from_bytes(const void *bytes, size_t size, struct trace **ret_trace,
                     struct fault *fault) {
    unsigned char *copy = malloc(size > 0 ? size : 1);
    if (!copy)
        return fault_set(fault, -ENOMEM, "out of memory");
    memcpy(copy, bytes, size);
    return trace_from_taken_bytes(copy, size, ret_trace, fault);
}

unsigned trace_events_in_flight(const struct trace *trace) {
    unsigned count = trace->header->updating != 0;
    for (size_t i = 0; i < TRACE_LANES_MAX; i++)
        count += trace->lanes[i] && trace->lanes[i]->updating != 0;
    return count;
}

bool trace_has_lanes(const struct trace *trace) {
    for (size_t i = 1; i < TRACE_LANES_MAX; i++)
        if (trace->lanes[i])
            return true;
    return false;
}

bool trace_has_ended(const struct trace *trace) {
    return trace->header->state == TRACE_EXITED || trace->header->state == TRACE_EXECED;
}

void trace_close(struct trace *trace) {
    if (!trace)
        return;
    struct trace_file *file = (struct trace_file *)trace;
    arena_finish(&file->arena);
    free(file->bytes);
    free(file);
}
