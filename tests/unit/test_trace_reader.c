/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader takes whole traces whole, and survives everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile.h"
#include "trace_builder.h"
#include "trace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A program that kept 100 bytes, and 50 more in an open region; then it exited. */
static unsigned char *small_trace(size_t *ret_size) {
    struct trace_builder b;
    trace_builder_init(&b);
    trace_builder_module(&b, "/opt/victim", 0x1000, 0x2000, 0x1000);
    uint32_t outer = trace_builder_node(&b, 0, 0x1100);
    uint32_t inner = trace_builder_node(&b, outer, 0x1200);
    uint32_t site = trace_builder_site(&b, inner, TRACE_HEAP);
    trace_builder_allocate(&b, site, 100);
    trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, 0, 50);
    trace_builder_exit(&b);
    return trace_builder_write(&b, ret_size);
}

/* One of everything that a trace can hold: lanes, sizes, timelines, a thread's region. */
static void full_builder(struct trace_builder *b) {
    trace_builder_init(b);
    b->header.flags = TRACE_FORKED | TRACE_USABLE;
    b->header.parent_uuid[3] = 1;
    b->parent = "/tmp/parent.vtr";
    b->slack_bytes = 8;
    trace_builder_module(b, "/opt/victim", 0x1000, 0x2000, 0x1000);
    uint32_t node = trace_builder_node(b, 0, 0x1100);
    uint32_t code = trace_builder_code(b, "parse", "/opt/table.py", 170);
    node = trace_builder_node(b, node,
                              TRACE_CODE_FRAME | (uint64_t)code << TRACE_CODE_LINE_BITS | 174);
    uint32_t site = trace_builder_site(b, node, TRACE_HEAP);
    trace_builder_count_sizes(b);
    trace_builder_allocate(b, site, 100);
    trace_builder_use_lane(b, 1);
    trace_builder_allocate(b, site, 60);
    trace_builder_use_lane(b, 2);
    trace_builder_free(b, site, 100);
    uint32_t region = trace_builder_begin(b, "parse");
    trace_builder_allocate(b, site, 30);
    trace_builder_point(b, region, 2100, 90);
    trace_builder_end(b, region);
    b->thread = 12;
    trace_builder_begin_thread(b, "work");
    trace_builder_free(b, site, 60);
    trace_builder_point(b, 0, 100, 100);
}

static unsigned char *full_trace(size_t *ret_size) {
    struct trace_builder b;
    full_builder(&b);
    return trace_builder_write(&b, ret_size);
}

static void test_all_kinds_of_chunks_come_back(void **state) {
    size_t size;
    unsigned char *bytes = full_trace(&size);
    struct fault fault = {0};
    struct trace *trace;
    assert_int_equal(trace_from_bytes(bytes, size, &trace, &fault), 0);
    assert_non_null(trace->lanes[0]);
    assert_int_equal(trace->lanes[1]->largest_bytes, 60);
    assert_non_null(trace->lanes[2]);
    assert_null(trace->lanes[3]);
    assert_true(trace_has_lanes(trace));
    assert_false(trace_has_ended(trace));
    assert_int_equal(trace_events_in_flight(trace), 0);
    assert_int_equal(trace->rows[1].lane, 1);
    assert_int_equal(trace->rows[2].lane, 2);
    assert_int_equal(trace->timelines[0]->count, 1);
    assert_int_equal(trace->timelines[1]->points[0].live_bytes, 90);
    assert_null(trace->timelines[2]);
    assert_non_null(trace->sizes[2]);
    assert_memory_equal(trace->parent.data, "/tmp/parent.vtr", trace->parent.length);
    assert_int_equal(trace->code_count, 1);
    assert_int_equal(trace->codes[0].first_line, 170);
    assert_memory_equal(trace->codes[0].function.data, "parse", 5);
    assert_int_equal(trace->codes[0].path.length, strlen("/opt/table.py"));
    trace_close(trace);
    free(bytes);
}

static void test_whole_trace_comes_back_as_tables(void **state) {
    size_t size;
    unsigned char *bytes = small_trace(&size);
    struct fault fault = {0};
    struct trace *trace;
    assert_int_equal(trace_from_bytes(bytes, size, &trace, &fault), 0);
    assert_int_equal(trace->header->pid, 4711);
    assert_int_equal(trace->header->node_count, 3);
    assert_int_equal(trace->nodes[2].address, 0x1200);
    assert_int_equal(trace->sites[TRACE_FIXED_SITES].node, 2);
    assert_int_equal(trace->header->region_count, 2);
    assert_string_equal(trace->regions[1].name, "parse");
    assert_int_equal(trace->rows_count, 2);
    assert_int_equal(trace->rows[0].rows[TRACE_FIXED_SITES].allocated.bytes, 100);
    assert_int_equal(trace->module_count, 1);
    assert_int_equal(trace->modules[0].path.length, strlen("/opt/victim"));
    assert_int_equal(trace->command.length, sizeof("victim\0--fast"));
    assert_false(trace->truncated);
    trace_close(trace);
    free(bytes);
}

/* Whatever is left of a trace: refused in words, or certain totals that are the true ones. */
static void test_truncation_at_every_byte_gives_true_totals_or_a_refusal(void **state) {
    size_t size;
    size_t taken = 0;
    unsigned char *bytes = small_trace(&size);
    for (size_t length = 0; length < size; length++) {
        struct fault fault = {0};
        struct profile profile;
        struct trace *trace;
        int r = trace_from_bytes(bytes, length, &trace, &fault);
        if (r < 0) {
            assert_true(fault.text[0] != '\0');
            continue;
        }
        assert_true(trace->truncated);
        assert_int_equal(profile_from_trace(trace, &profile, &fault), 0);
        assert_true(profile_is_incomplete(&profile));
        assert_int_equal(profile.regions[1].totals[TRACE_HEAP].peak_bytes, 150);
        assert_int_equal(profile.regions[1].totals[TRACE_HEAP].start.bytes, 100);
        assert_false(profile.regions[0].has_rows);
        assert_false(profile_counts_are_known(&profile.regions[0]));
        taken++;
        profile_finish(&profile);
        trace_close(trace);
    }
    assert_true(taken > 1000);
    free(bytes);
}

/*
 * A flipped bit may not matter, may be refused by form or by sums; it never crashes the rest.
 */
static void flip_and_read(unsigned char *bytes, size_t size, size_t byte, unsigned bit) {
    struct fault fault = {0};
    struct profile profile;
    struct trace *trace;
    bytes[byte] ^= (unsigned char)(1u << bit);
    int r = trace_from_bytes(bytes, size, &trace, &fault);
    if (r == 0) {
        r = profile_from_trace(trace, &profile, &fault);
        if (r == 0) {
            struct fault again;
            assert_int_equal(profile_check(&profile, &again), 0);
            profile_finish(&profile);
        }
        trace_close(trace);
    }
    if (r < 0)
        assert_true(fault.text[0] != '\0');
    bytes[byte] ^= (unsigned char)(1u << bit);
}

static void test_flipped_bits_never_crash_and_never_pass_with_broken_sums(void **state) {
    size_t size;
    unsigned char *bytes = small_trace(&size);
    for (size_t byte = 0; byte < size; byte++)
        for (unsigned bit = 0; bit < 8; bit++)
            if (byte < sizeof(struct trace_header) || bit == byte % 8 || bit == 7)
                flip_and_read(bytes, size, byte, bit);
    free(bytes);
}

/* Chunk headers and what the checks look at; of long tables of points only the beginning. */
static void test_flipped_bits_of_all_kinds_of_chunks_never_crash(void **state) {
    size_t size;
    unsigned char *bytes = full_trace(&size);
    for (size_t at = TRACE_HEADER_BYTES; at < size;) {
        struct trace_chunk chunk;
        memcpy(&chunk, bytes + at, sizeof(chunk));
        for (size_t byte = at; byte < at + chunk.bytes && byte < at + 1200; byte++)
            flip_and_read(bytes, size, byte, byte < at + sizeof(chunk) ? 0 : byte % 8);
        for (unsigned bit = 1; bit < 8; bit++)
            for (size_t byte = at; byte < at + sizeof(chunk); byte++)
                flip_and_read(bytes, size, byte, bit);
        at += chunk.bytes;
    }
    free(bytes);
}

/* The first chunk of @kind of @owner, or of lane @owner. */
static unsigned char *find_chunk(unsigned char *bytes, size_t size, uint32_t kind,
                                 uint32_t owner) {
    for (size_t at = TRACE_HEADER_BYTES; at < size;) {
        struct trace_chunk *chunk = (struct trace_chunk *)(void *)(bytes + at);
        if (chunk->kind == kind &&
            (kind == TRACE_CHUNK_LANE ? chunk->first == owner : chunk->owner == owner))
            return bytes + at;
        at += chunk->bytes;
    }
    fail_msg("no such chunk");
    return NULL;
}

/* Set 4 bytes of a chunk to @value, and see that the trace is refused with @words. */
static void assert_chunk_refused(uint32_t kind, uint32_t owner, size_t offset, uint32_t value,
                                 const char *words) {
    size_t size;
    struct fault fault = {0};
    struct trace *trace;
    unsigned char *bytes = full_trace(&size);
    memcpy(find_chunk(bytes, size, kind, owner) + offset, &value, sizeof(value));
    assert_int_equal(trace_from_bytes(bytes, size, &trace, &fault), -EBADMSG);
    if (!strstr(fault.text, words))
        fail_msg("\"%s\" does not say \"%s\"", fault.text, words);
    free(bytes);
}

static void test_lanes_timelines_and_sizes_that_cannot_be_are_refused(void **state) {
    const size_t first = offsetof(struct trace_chunk, first);
    const size_t lane = offsetof(struct trace_chunk, lane);
    const size_t owner = offsetof(struct trace_chunk, owner);
    const size_t payload = sizeof(struct trace_chunk);
    assert_chunk_refused(TRACE_CHUNK_LANE, 1, first, TRACE_LANES_MAX, "a lane that cannot be");
    assert_chunk_refused(TRACE_CHUNK_LANE, 1, first, 2, "a lane that is there already");
    assert_chunk_refused(TRACE_CHUNK_LANE, 1, first, 3, "rows of lane 1, which has no record");
    assert_chunk_refused(TRACE_CHUNK_LANE, 1, payload, 2, "a lane that cannot be");
    assert_chunk_refused(TRACE_CHUNK_ROWS, 1, lane, 1, "rows of a lane that cannot be");
    assert_chunk_refused(TRACE_CHUNK_ROWS, 0, lane, TRACE_LANES_MAX,
                         "rows of a lane that cannot be");
    assert_chunk_refused(TRACE_CHUNK_ROWS, 0, lane, 2, "two sets of rows");
    assert_chunk_refused(TRACE_CHUNK_ROWS, 1, owner, 3, "rows of no region");
    assert_chunk_refused(TRACE_CHUNK_ROWS, 1, first, 1, "rows of other sites");
    assert_chunk_refused(TRACE_CHUNK_TIMELINE, 1, owner, 0, "a second timeline of one region");
    assert_chunk_refused(TRACE_CHUNK_TIMELINE, 1, payload, TRACE_TIMELINE_POINTS + 1,
                         "a timeline with more points than room");
    assert_chunk_refused(TRACE_CHUNK_SIZES, 1, owner, 0, "second sizes of one region");
    assert_chunk_refused(TRACE_CHUNK_TIMELINE, 1, offsetof(struct trace_chunk, kind),
                         TRACE_CHUNK_CODE + 1, "a chunk with more entries than room");
}

static void test_interpreted_code_that_cannot_be_is_refused(void **state) {
    const size_t first = offsetof(struct trace_chunk, first);
    const size_t payload = sizeof(struct trace_chunk);
    const size_t function = payload + offsetof(struct trace_code, function_bytes);
    const size_t path = payload + offsetof(struct trace_code, path_bytes);
    assert_chunk_refused(TRACE_CHUNK_CODE, 0, first, 0, "a function that cannot be");
    assert_chunk_refused(TRACE_CHUNK_CODE, 0, first, 2, "a function that cannot be");
    assert_chunk_refused(TRACE_CHUNK_CODE, 0, function, 1000, "a function that cannot be");
    assert_chunk_refused(TRACE_CHUNK_CODE, 0, function, UINT32_MAX,
                         "a function that cannot be");
    assert_chunk_refused(TRACE_CHUNK_CODE, 0, path, UINT32_MAX, "a function that cannot be");
    assert_chunk_refused(TRACE_CHUNK_CODE, 0, offsetof(struct trace_chunk, kind),
                         TRACE_CHUNK_MODULE, "a module that cannot be");
}

/* Made ready, and the process died before the region was; or given up. */
static void test_chunks_of_no_region_are_left_alone(void **state) {
    static const uint32_t owners[] = {TRACE_NO_OWNER, 3, 1000000};
    static const uint32_t kinds[] = {TRACE_CHUNK_TIMELINE, TRACE_CHUNK_SIZES};
    for (size_t i = 0; i < 6; i++) {
        size_t size;
        struct fault fault = {0};
        struct trace *trace;
        unsigned char *bytes = full_trace(&size);
        memcpy(find_chunk(bytes, size, kinds[i % 2], 1) + offsetof(struct trace_chunk, owner),
               &owners[i / 2], sizeof(owners[0]));
        assert_int_equal(trace_from_bytes(bytes, size, &trace, &fault), 0);
        trace_close(trace);
        free(bytes);
    }
}

struct refusal {
    const char *what;
    void (*bend)(struct trace_builder *builder);
    int error;
    const char *message;
};

static void bend_magic(struct trace_builder *b) {
    b->header.magic[0] = 'V';
}
static void bend_version(struct trace_builder *b) {
    b->header.version = TRACE_VERSION + 1;
}
static void bend_order(struct trace_builder *b) {
    b->header.byte_order = __builtin_bswap32(TRACE_BYTE_ORDER);
}
static void bend_regions(struct trace_builder *b) {
    b->header.region_count = 0;
}
static void bend_region_count(struct trace_builder *b) {
    b->header.region_count = 1000000;
}
static void bend_parent(struct trace_builder *b) {
    b->nodes[1].parent = 1;
}
static void bend_depth(struct trace_builder *b) {
    b->nodes[1].depth = 7;
}
static void bend_site(struct trace_builder *b) {
    b->sites[2].node = 99;
}
static void bend_space(struct trace_builder *b) {
    b->sites[2].space = TRACE_SPACES;
}
static void bend_name(struct trace_builder *b) {
    memset(b->regions[0].name, 'x', TRACE_NAME_BYTES);
}
static void bend_region_parent(struct trace_builder *b) {
    b->regions[1].parent = 1;
}
static void bend_module(struct trace_builder *b) {
    b->modules[0].path_bytes = 5;
    b->modules[0].build_id_bytes = 21;
}
static void bend_used(struct trace_builder *b) {
    b->header.used_bytes = 4097;
}
static void bend_flags(struct trace_builder *b) {
    b->header.flags = 4;
}
static void bend_updating(struct trace_builder *b) {
    b->header.updating = 2;
}
static void bend_process_ended(struct trace_builder *b) {
    b->regions[0].open = 0;
}
static void bend_process_of_thread(struct trace_builder *b) {
    b->regions[0].flags = TRACE_REGION_THREAD;
}
static void bend_thread(struct trace_builder *b) {
    b->regions[1].flags = TRACE_REGION_THREAD;
    b->regions[1].begin_thread = 0;
}
static void bend_parent_uuid(struct trace_builder *b) {
    b->header.parent_uuid[0] = 1;
}
static void bend_parent_path(struct trace_builder *b) {
    b->parent = "/x.vtr";
}
static void bend_own_parent(struct trace_builder *b) {
    b->header.flags = TRACE_FORKED;
    memcpy(b->header.parent_uuid, b->header.uuid, TRACE_UUID_BYTES);
}

static void test_what_cannot_be_is_refused_by_name(void **state) {
    static const struct refusal refusals[] = {
        {"magic", bend_magic, -ENOMSG, "this is not a votrace trace"},
        {"version", bend_version, -ENOTSUP,
         "trace version 4 is newer than this votreport, which reads version 3: use the "
         "votreport that came with its libvotrace.so"},
        {"order", bend_order, -ENOTSUP,
         "trace of a machine with the other byte order: import it there"},
        {"no region", bend_regions, -EBADMSG,
         "trace is empty: the program ended before anything was recorded"},
        {"regions", bend_region_count, -EBADMSG,
         "trace damaged: its table of regions is not all there"},
        {"parent", bend_parent, -EBADMSG, "trace damaged: stack node 1 cannot be"},
        {"depth", bend_depth, -EBADMSG, "trace damaged: stack node 1 cannot be"},
        {"site", bend_site, -EBADMSG, "trace damaged: call site 2 cannot be"},
        {"space", bend_space, -EBADMSG, "trace damaged: call site 2 cannot be"},
        {"name", bend_name, -EBADMSG, "trace damaged: region 0 cannot be"},
        {"region", bend_region_parent, -EBADMSG, "trace damaged: region 1 cannot be"},
        {"flags", bend_flags, -EBADMSG, "trace damaged: a header that cannot be at byte 0"},
        {"updating", bend_updating, -EBADMSG,
         "trace damaged: a header that cannot be at byte 0"},
        {"process", bend_process_ended, -EBADMSG, "trace damaged: region 0 cannot be"},
        {"process", bend_process_of_thread, -EBADMSG, "trace damaged: region 0 cannot be"},
        {"thread", bend_thread, -EBADMSG, "trace damaged: region 1 cannot be"},
        {"parent uuid", bend_parent_uuid, -EBADMSG, "trace damaged: a parent that cannot be"},
        {"parent path", bend_parent_path, -EBADMSG, "trace damaged: a parent that cannot be"},
        {"own parent", bend_own_parent, -EBADMSG, "trace damaged: a parent that cannot be"},
        {"used", bend_used, -EBADMSG, "trace damaged: a size that cannot be at byte 0"},
    };
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct trace_builder b;
        struct fault fault = {0};
        struct trace *trace = NULL;
        size_t size;
        trace_builder_init(&b);
        trace_builder_node(&b, 0, 0x10);
        trace_builder_begin(&b, "parse");
        refusals[i].bend(&b);
        unsigned char *bytes = trace_builder_write(&b, &size);
        assert_int_equal(trace_from_bytes(bytes, size, &trace, &fault), refusals[i].error);
        assert_string_equal(fault.text, refusals[i].message);
        assert_null(trace);
        free(bytes);
    }
}

static void test_module_with_impossible_build_id_is_refused(void **state) {
    struct trace_builder b;
    struct fault fault = {0};
    struct trace *trace;
    size_t size;
    trace_builder_init(&b);
    trace_builder_module(&b, "/opt/victim", 0x1000, 0x2000, 0);
    bend_module(&b);
    unsigned char *bytes = trace_builder_write(&b, &size);
    assert_int_equal(trace_from_bytes(bytes, size, &trace, &fault), -EBADMSG);
    assert_non_null(strstr(fault.text, "a module that cannot be"));
    free(bytes);
}

static void test_two_sets_of_rows_for_one_site_are_refused(void **state) {
    struct trace_builder b;
    struct fault fault = {0};
    struct trace *trace;
    size_t size;
    trace_builder_init(&b);
    trace_builder_allocate(&b, 0, 1);
    trace_builder_begin(&b, "parse");
    trace_builder_allocate(&b, 0, 1);
    unsigned char *bytes = trace_builder_write(&b, &size);
    for (size_t at = TRACE_HEADER_BYTES; at < size;) {
        struct trace_chunk chunk;
        memcpy(&chunk, bytes + at, sizeof(chunk));
        size_t here = at;
        at += chunk.bytes;
        if (chunk.kind != TRACE_CHUNK_ROWS || chunk.owner != 1)
            continue;
        chunk.owner = 0;
        memcpy(bytes + here, &chunk, sizeof(chunk));
    }
    assert_int_equal(trace_from_bytes(bytes, size, &trace, &fault), -EBADMSG);
    assert_string_equal(fault.text,
                        "trace damaged: two sets of rows for the sites from 0 in region 0");
    free(bytes);
}

static void test_files_that_are_no_files_are_refused(void **state) {
    struct fault fault = {0};
    struct trace *trace;
    assert_int_equal(trace_open("/nonexistent.vtr", &trace, &fault), -ENOENT);
    assert_int_equal(trace_open("/", &trace, &fault), -ENOMSG);
    assert_string_equal(fault.text, "this is not a regular file, so not a votrace trace");
    assert_int_equal(trace_open("/dev/null", &trace, &fault), -ENOMSG);
    assert_int_equal(trace_open("/etc/passwd", &trace, &fault), -ENOMSG);
    assert_string_equal(fault.text, "this is not a votrace trace");
}

static void test_a_mapped_file_is_seen_as_being_written(void **state) {
    size_t size;
    struct fault fault;
    struct trace *trace;
    char path[] = "/tmp/test_trace_reader.XXXXXX";
    unsigned char *bytes = small_trace(&size);
    ((struct trace_header *)(void *)bytes)->pid = (uint32_t)getpid();
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(trace_open(path, &trace, &fault), 0);
    assert_false(trace_is_being_written(trace, path));
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    assert_true(trace_is_being_written(trace, path));
    munmap(map, size);
    trace_close(trace);
    close(fd);
    unlink(path);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_trace_comes_back_as_tables),
        cmocka_unit_test(test_all_kinds_of_chunks_come_back),
        cmocka_unit_test(test_flipped_bits_of_all_kinds_of_chunks_never_crash),
        cmocka_unit_test(test_lanes_timelines_and_sizes_that_cannot_be_are_refused),
        cmocka_unit_test(test_interpreted_code_that_cannot_be_is_refused),
        cmocka_unit_test(test_chunks_of_no_region_are_left_alone),
        cmocka_unit_test(test_truncation_at_every_byte_gives_true_totals_or_a_refusal),
        cmocka_unit_test(test_flipped_bits_never_crash_and_never_pass_with_broken_sums),
        cmocka_unit_test(test_what_cannot_be_is_refused_by_name),
        cmocka_unit_test(test_module_with_impossible_build_id_is_refused),
        cmocka_unit_test(test_two_sets_of_rows_for_one_site_are_refused),
        cmocka_unit_test(test_files_that_are_no_files_are_refused),
        cmocka_unit_test(test_a_mapped_file_is_seen_as_being_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
