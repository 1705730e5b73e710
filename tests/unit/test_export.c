/* SPDX-License-Identifier: BSD-3-Clause */
/* What other programs are given, read back by their own rules: every sum is the region's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export.h"
#include "protobuf.h"
#include "run_builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BUILD(run, format, region, ...)                                                        \
    run_build(run, "votable.parse", format, (const struct run_work[]){__VA_ARGS__},            \
              sizeof((const struct run_work[]){__VA_ARGS__}) / sizeof(struct run_work),        \
              region)

static const struct run_work usual[] = {
    {"main/parse/buffer", 1000}, {"main/parse/buffer", 24}, {"main/parse/row", 300},
    {"main/parse/row/grow", 7},  {"main/lib:/lib:", 60},    {"-", 11},
};

static void build_usual(struct run *run) {
    run_build(run, "votable.parse", "binary", usual, sizeof(usual) / sizeof(usual[0]), "parse");
}

static struct export_request request_of(const struct run *run) {
    return (struct export_request){.after = {run, export_region_pick(run, NULL)}};
}

/* What @format makes of @request; free() it. */
static char *exported_bytes(const char *format, const struct export_request *request,
                            size_t *ret_size) {
    char *text = NULL;
    size_t skipped;
    struct fault fault = {0};
    FILE *stream = open_memstream(&text, ret_size);
    assert_non_null(stream);
    int r = export_write(export_format_find(format), request, stream, &skipped, &fault);
    assert_string_equal(fault.text, "");
    assert_int_equal(r, 0);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static char *exported(const char *format, const struct export_request *request) {
    size_t size;
    return exported_bytes(format, request, &size);
}

static int refused(const char *format, const struct export_request *request,
                   struct fault *fault) {
    char *text = NULL;
    size_t size;
    size_t skipped;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    int r = export_write(export_format_find(format), request, stream, &skipped, fault);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(size, 0);
    free(text);
    return r;
}

/* Change what a built run holds: rows of region 1 are its sites in order. */
static struct profile_row *row_of(struct run *run, size_t region, size_t row) {
    return &((struct profile_row *)run->profile.regions[region].rows)[row];
}

/* Sum of the last words of all lines; *ret_before of the words before them. */
static int64_t folded_sum(char *text, int64_t *ret_before) {
    int64_t sum = 0;
    int64_t before = 0;
    char *saved;
    for (char *line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
        char *last = strrchr(line, ' ');
        assert_non_null(last);
        sum += strtoll(last, NULL, 10);
        *last = '\0';
        char *other = strrchr(line, ' ');
        before += other ? strtoll(other, NULL, 10) : 0;
    }
    if (ret_before)
        *ret_before = before;
    return sum;
}

static void test_folded_stacks_add_up_to_every_metric(void **state) {
    struct run run;
    (void)state;
    build_usual(&run);
    for (int i = 0; i < EXPORT_METRICS; i++) {
        struct export_request request = request_of(&run);
        request.metric = (enum export_metric)i;
        char *text = exported("folded", &request);
        assert_int_equal(folded_sum(text, NULL),
                         export_region_value(request.after.region, TRACE_HEAP, i));
        free(text);
    }
    assert_int_equal(export_region_value(&run.profile.regions[1], 0, EXPORT_PEAK_ADDED), 1402);
    assert_int_equal(export_region_value(&run.profile.regions[1], 0, EXPORT_LIVE_PEAK), 1902);
    run_finish(&run);
}

static void test_folded_line_is_outermost_first_and_has_stacks_merged(void **state) {
    struct run run;
    (void)state;
    build_usual(&run);
    struct export_request request = request_of(&run);
    char *text = exported("folded", &request);
    assert_non_null(strstr(text, "main;parse;buffer 1024\n"));
    assert_non_null(strstr(text, "main;parse;row 300\n"));
    assert_non_null(strstr(text, "main;parse;row;grow 7\n"));
    assert_non_null(strstr(text, "main;libxml2.so.2+0x900"));
    assert_non_null(strstr(text, "(no call stack taken) 11\n"));
    free(text);
    request.by = CALLTREE_BY_MODULE;
    text = exported("folded", &request);
    assert_non_null(strstr(text, "victim 1331\n"));
    free(text);
    run_finish(&run);
}

/* flamegraph.pl would take "grow 12" for the stack "grow" with two numbers. */
static void test_folded_name_cannot_be_taken_for_numbers_or_frames(void **state) {
    struct run run;
    (void)state;
    BUILD(&run, "binary", "parse", {"main/[u8; 4]::grow 12", 5}, {"a;b/x 1.5", 6}, {"e 1e", 7},
          {"\xff\n\t", 8});
    struct export_request request = request_of(&run);
    char *text = exported("folded", &request);
    assert_non_null(strstr(text, "main;[u8: 4]::grow_12 5\n"));
    assert_non_null(strstr(text, "a:b;x_1.5 6\n"));
    assert_non_null(strstr(text, "e 1e 7\n"));
    assert_non_null(strstr(text, "\n\?\?\? 8\n"));
    free(text);
    run_finish(&run);
}

static void test_difference_has_both_sides_of_every_stack(void **state) {
    struct run before, after;
    int64_t sum_before;
    (void)state;
    BUILD(&before, "binary", "parse", {"main/gone", 100}, {"main/kept", 5});
    BUILD(&after, "binary", "parse", {"main/kept", 7}, {"main/new", 40});
    struct export_request request = request_of(&after);
    request.before = (struct export_source){&before, export_region_pick(&before, NULL)};
    char *text = exported("difffolded", &request);
    assert_non_null(strstr(text, "main;gone 100 0\n"));
    assert_non_null(strstr(text, "main;kept 5 7\n"));
    assert_non_null(strstr(text, "main;new 0 40\n"));
    assert_int_equal(folded_sum(text, &sum_before), 47);
    assert_int_equal(sum_before, 105);
    free(text);
    run_finish(&before);
    run_finish(&after);
}

/* Take @bytes of the region's first row from its start to its peak: it shrinks. */
static void shrink(struct run *run, int64_t bytes) {
    struct profile_region *regions = (struct profile_region *)run->profile.regions;
    row_of(run, 1, 0)->start.bytes += bytes;
    row_of(run, 1, 0)->end.bytes += bytes;
    row_of(run, 1, 0)->freed.bytes += bytes;
    regions[1].totals[TRACE_HEAP].start.bytes += bytes;
    regions[1].totals[TRACE_HEAP].end.bytes += bytes;
}

static void test_stack_below_zero_is_written_or_refused_but_never_dropped(void **state) {
    struct run run;
    struct fault fault = {0};
    size_t size;
    size_t skipped = 0;
    char *text = NULL;
    (void)state;
    build_usual(&run);
    shrink(&run, 2000);
    struct export_request request = request_of(&run);
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(
        export_write(export_format_find("folded"), &request, stream, &skipped, &fault), 0);
    fclose(stream);
    assert_int_equal(skipped, 1);
    assert_int_equal(folded_sum(text, NULL), 1402 - 2000);
    free(text);

    assert_int_equal(refused("speedscope", &request, &fault), -ERANGE);
    assert_string_equal(
        fault.text, "--format speedscope has no room for the 1 call stacks whose peak_added "
                    "is below zero: use --metric live_peak, or --format pprof");
    request.metric = EXPORT_LIVE_PEAK;
    text = exported("speedscope", &request);
    assert_non_null(strstr(text, "\"name\": \"live_peak\""));
    assert_null(strstr(text, "\"name\": \"peak_added\""));
    assert_non_null(strstr(text, "\"activeProfileIndex\": 0"));
    free(text);
    run_finish(&run);
}

/* The sums of "weights" of each profile are its endValue. */
static void test_speedscope_weights_add_up(void **state) {
    struct run run;
    (void)state;
    build_usual(&run);
    struct export_request request = request_of(&run);
    char *text = exported("speedscope", &request);
    const char *at = text;
    for (int i = 0; i < EXPORT_METRICS; i++) {
        at = strstr(at, "\"endValue\": ");
        assert_non_null(at);
        int64_t wanted = strtoll(at + strlen("\"endValue\": "), NULL, 10);
        int64_t sum = 0;
        at = strstr(at, "\"weights\":[");
        assert_non_null(at);
        for (at = strchr(at, '['); *at != ']';)
            sum += strtoll(at + 1, (char **)&at, 10);
        assert_int_equal(sum, wanted);
        assert_int_equal(wanted, export_region_value(request.after.region, TRACE_HEAP, i));
    }
    free(text);
    run_finish(&run);
}

static void test_speedscope_frame_stands_once(void **state) {
    struct run run;
    (void)state;
    BUILD(&run, "binary", "parse", {"main/a/grow", 1}, {"main/b/grow", 2},
          {"main/a/b/grow", 3});
    struct export_request request = request_of(&run);
    char *text = exported("speedscope", &request);
    const char *first = strstr(text, "\"name\": \"grow\"");
    assert_non_null(first);
    assert_null(strstr(first + 1, "\"name\": \"grow\""));
    free(text);
    run_finish(&run);
}

/* A line of the tree of massif: children, bytes; -1 when it is none. */
static int massif_node(const char *line, size_t *ret_children, int64_t *ret_bytes) {
    int used = 0;
    line += strspn(line, " ");
    return sscanf(line, "n%zu: %" SCNd64 " %n", ret_children, ret_bytes, &used) == 2 && used > 0
               ? 0
               : -1;
}

/* Read one node and all below it; its children add up to it. Returns its bytes. */
static int64_t massif_read(char **line, char **saved) {
    size_t children;
    int64_t bytes;
    int64_t sum = 0;
    assert_non_null(*line);
    assert_int_equal(massif_node(*line, &children, &bytes), 0);
    *line = strtok_r(NULL, "\n", saved);
    for (size_t i = 0; i < children; i++)
        sum += massif_read(line, saved);
    if (children > 0)
        assert_int_equal(sum, bytes);
    return bytes;
}

static void test_massif_tree_adds_up_to_its_snapshot(void **state) {
    struct run run;
    char *saved;
    (void)state;
    build_usual(&run);
    struct export_request request = request_of(&run);
    char *text = exported("massif", &request);
    char *tree = strstr(text, "mem_heap_B=1902\nmem_heap_extra_B=0\nmem_stacks_B=0\n"
                              "heap_tree=peak\n");
    assert_non_null(tree);
    char *line = strtok_r(strstr(tree, "\nn") + 1, "\n", &saved);
    assert_int_equal(massif_read(&line, &saved), 1902);
    free(text);
    run_finish(&run);
}

/* grow() as the caller of malloc, from two callers, and once from nobody that is known. */
static void test_massif_tree_is_from_the_inside_and_has_a_stack_that_ends_early(void **state) {
    struct run run;
    (void)state;
    BUILD(&run, "binary", "parse", {"main/grow@t.c:3", 4}, {"other", 1});
    /* The same frame below another caller, and below none. */
    struct profile_node *nodes = (struct profile_node *)run.profile.nodes;
    nodes[3].frame = nodes[2].frame;
    struct export_request request = request_of(&run);
    char *text = exported("massif", &request);
    assert_non_null(strstr(text, "n2: 505 (heap allocation functions) malloc/new/new[], "
                                 "--alloc-fns, etc.\n"));
    assert_non_null(
        strstr(text, ": grow (t.c:3)\n  n0: 1 0x0: (its outermost frame)\n  n0: 4 "));
    free(text);
    run_finish(&run);
}

/* The least of a reader of protocol buffers. */
struct reader {
    const unsigned char *at;
    const unsigned char *end;
};

static uint64_t varint_read(struct reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(reader->at < reader->end && shift < 64);
        unsigned char byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* The next field; of a length-delimited one its bytes, else its number. */
static bool field_read(struct reader *reader, unsigned *ret_field, uint64_t *ret_number,
                       struct reader *ret_bytes) {
    if (reader->at == reader->end)
        return false;
    uint64_t tag = varint_read(reader);
    *ret_field = (unsigned)(tag >> 3);
    *ret_number = varint_read(reader);
    assert_true((tag & 7) == 0 || (tag & 7) == 2);
    if ((tag & 7) == 0)
        return true;
    assert_true(*ret_number <= (uint64_t)(reader->end - reader->at));
    *ret_bytes = (struct reader){reader->at, reader->at + *ret_number};
    reader->at += *ret_number;
    return true;
}

static void test_protobuf_numbers_come_back(void **state) {
    static const uint64_t numbers[] = {1, 127, 128, 16384, INT64_MAX, UINT64_MAX};
    struct protobuf message = {0};
    struct protobuf inner = {0};
    unsigned field;
    uint64_t number;
    struct reader bytes;
    (void)state;
    for (size_t i = 0; i < 6; i++)
        protobuf_number(&message, 3, numbers[i]);
    protobuf_number(&message, 3, 0);
    protobuf_number(&inner, 2000, 5);
    protobuf_message(&message, 4, &inner);
    struct reader reader = {message.bytes, message.bytes + message.count};
    for (size_t i = 0; i < 6; i++) {
        assert_true(field_read(&reader, &field, &number, &bytes));
        assert_int_equal(field, 3);
        assert_true(number == numbers[i]);
    }
    assert_true(field_read(&reader, &field, &number, &bytes));
    assert_int_equal(field, 4);
    assert_false(field_read(&reader, &field, &number, &reader));
    assert_true(field_read(&bytes, &field, &number, &reader));
    assert_int_equal(field, 2000);
    assert_int_equal(number, 5);
    protobuf_finish(&message);
    protobuf_finish(&inner);
}

static unsigned char *unzipped(const char *bytes, size_t size, size_t *ret_size) {
    static unsigned char out[1 << 20];
    z_stream z = {.next_in = (unsigned char *)bytes, .avail_in = (unsigned)size};
    z.next_out = out;
    z.avail_out = sizeof(out);
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    *ret_size = z.total_out;
    inflateEnd(&z);
    return out;
}

static void sample_add(struct reader sample, int64_t sums[EXPORT_METRICS]) {
    unsigned field;
    uint64_t number;
    struct reader values;
    bool has_stack = false;
    while (field_read(&sample, &field, &number, &values)) {
        has_stack |= field == 1 && values.at < values.end;
        for (int i = 0; field == 2 && i < EXPORT_METRICS; i++)
            sums[i] += (int64_t)varint_read(&values);
        assert_true(field != 2 || values.at == values.end);
    }
    assert_true(has_stack);
}

static void test_pprof_samples_add_up_negative_ones_too(void **state) {
    struct run run;
    size_t size;
    unsigned field;
    uint64_t number;
    struct reader part;
    int64_t sums[EXPORT_METRICS] = {0};
    (void)state;
    build_usual(&run);
    shrink(&run, 2000);
    struct export_request request = request_of(&run);
    char *packed = exported_bytes("pprof", &request, &size);
    unsigned char *bytes = unzipped(packed, size, &size);
    free(packed);
    struct reader reader = {bytes, bytes + size};
    size_t strings = 0;
    while (field_read(&reader, &field, &number, &part)) {
        if (field == 2)
            sample_add(part, sums);
        /* The first string is the empty one. */
        if (field == 6)
            assert_true(strings++ > 0 || part.at == part.end);
    }
    for (int i = 0; i < EXPORT_METRICS; i++)
        assert_int_equal(sums[i], export_region_value(request.after.region, TRACE_HEAP, i));
    assert_int_equal(sums[EXPORT_PEAK_ADDED], 1402 - 2000);
    run_finish(&run);
}

/* Sum of column @wanted of a table whose cells before it have no comma. */
static int64_t csv_sum(char *text, const char *wanted) {
    int64_t sum = 0;
    size_t column = 0;
    char *saved;
    char *line = strtok_r(text, "\r\n", &saved);
    char *found = strstr(line, wanted);
    assert_non_null(found);
    for (char *at = line; at < found; at++)
        column += *at == ',';
    while ((line = strtok_r(NULL, "\r\n", &saved))) {
        for (size_t i = 0; i < column; i++)
            line = strchr(line, ',') + 1;
        sum += strtoll(line, NULL, 10);
    }
    return sum;
}

static void test_csv_of_sites_adds_up(void **state) {
    static const char *const columns[] = {"peak_added", "live_peak", "live_end",
                                          "net",        "total",     "count"};
    struct run run;
    (void)state;
    build_usual(&run);
    struct export_request request = request_of(&run);
    for (int i = 0; i < EXPORT_METRICS; i++) {
        char *text = exported("csv-sites", &request);
        assert_int_equal(csv_sum(text, columns[i]),
                         export_region_value(request.after.region, TRACE_HEAP, i));
        free(text);
    }
    run_finish(&run);
}

static void test_region_without_rows_has_no_stacks_to_export(void **state) {
    struct run run;
    struct fault fault = {0};
    (void)state;
    build_usual(&run);
    ((struct profile_region *)run.profile.regions)[1].has_rows = false;
    struct export_request request = request_of(&run);
    for (const struct export_format *format = export_formats; format->name; format++) {
        if (format->shape != EXPORT_STACKS)
            continue;
        assert_int_equal(refused(format->name, &request, &fault), -ENODATA);
        assert_non_null(strstr(fault.text, "region 'parse' of run 0 has no call sites"));
    }
    run_finish(&run);
}

/* Two benchmarks, one with two repeats; all in one table. */
static void build_table(struct run runs[3], struct diff *ret_diff) {
    BUILD(&runs[0], "binary", "parse", {"main/a", 10});
    BUILD(&runs[1], "binary", "parse", {"main/a", 14});
    BUILD(&runs[2], "it's", "parse", {"main/a", 300});
    for (int i = 0; i < 3; i++) {
        runs[i].id = i + 1;
        runs[i].origin = origin_unknown;
        runs[i].origin.commit = "0123456789abcdef";
    }
    assert_int_equal(diff_compare(runs, 3, NULL, 0, false, ret_diff), 0);
}

static void assert_says(const char *text, const char *words) {
    if (!text || !strstr(text, words))
        fail_msg("it does not say \"%s\":\n%.2000s", words, text ? text : "");
}

static void test_tables_have_the_median_and_how_far_repeats_differ(void **state) {
    struct run runs[3];
    struct diff diff;
    (void)state;
    build_table(runs, &diff);
    struct export_request request = {.diff = &diff, .runs = runs, .run_count = 3};
    char *text = exported("bencher", &request);
    assert_says(text, "\"votable.parse(format=binary)\": {\n    \"peak-added\": {\n"
                      "      \"value\": 10,\n      \"lower_value\": 10,\n"
                      "      \"upper_value\": 14\n    }");
    assert_says(text, "\"votable.parse(format=it's)\": {\n    \"peak-added\": {\n"
                      "      \"value\": 300\n    }");
    free(text);
    text = exported("github", &request);
    assert_says(text, "\"name\": \"votable.parse(format=binary) peak_added\",\n"
                      "    \"unit\": \"bytes\",\n    \"value\": 10,\n"
                      "    \"range\": \"10 - 14\"");
    free(text);
    text = exported("csv", &request);
    assert_says(text,
                ",votable.parse,format=binary,0123456789abcdef,,0,yes,parse,1,heap,14,514,"
                "514,14,14,1,");
    free(text);
    diff_finish(&diff);
    for (int i = 0; i < 3; i++)
        run_finish(&runs[i]);
}

static void test_asv_has_a_result_for_each_combination(void **state) {
    struct run runs[3];
    struct diff diff;
    (void)state;
    build_table(runs, &diff);
    struct run_param params[] = {{"format", "it's"}, {"rows", "20"}};
    runs[2].params = params;
    runs[2].param_count = 2;
    struct export_request request = {.diff = &diff, .runs = runs, .run_count = 3};
    char *text = exported("asv", &request);
    assert_says(text, "\"commit_hash\": \"0123456789abcdef\"");
    /* (binary, ""), (binary, 20), (it's, ""), (it's, 20) */
    assert_says(text, "\"votable.parse\": [\n      [\n        10,\n        null,\n"
                      "        null,\n        300\n      ],");
    assert_says(text, "\"'binary'\",\n          \"\\\"it's\\\"\"\n        ],\n        [\n"
                      "          \"''\",\n          \"20\"");
    free(text);
    text = exported("asv-benchmarks", &request);
    assert_says(text, "\"param_names\": [\n      \"format\",\n      \"rows\"\n    ]");
    free(text);
    runs[2].origin.commit = "fedcba";
    struct fault fault = {0};
    assert_int_equal(export_format_find("asv")->write(NULL, &request, &fault), -EINVAL);
    assert_says(fault.text, "its runs are of several commits ('0123456789ab', 'fedcba')");
    diff_finish(&diff);
    for (int i = 0; i < 3; i++)
        run_finish(&runs[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folded_stacks_add_up_to_every_metric),
        cmocka_unit_test(test_folded_line_is_outermost_first_and_has_stacks_merged),
        cmocka_unit_test(test_folded_name_cannot_be_taken_for_numbers_or_frames),
        cmocka_unit_test(test_difference_has_both_sides_of_every_stack),
        cmocka_unit_test(test_stack_below_zero_is_written_or_refused_but_never_dropped),
        cmocka_unit_test(test_speedscope_weights_add_up),
        cmocka_unit_test(test_speedscope_frame_stands_once),
        cmocka_unit_test(test_massif_tree_adds_up_to_its_snapshot),
        cmocka_unit_test(test_massif_tree_is_from_the_inside_and_has_a_stack_that_ends_early),
        cmocka_unit_test(test_protobuf_numbers_come_back),
        cmocka_unit_test(test_pprof_samples_add_up_negative_ones_too),
        cmocka_unit_test(test_csv_of_sites_adds_up),
        cmocka_unit_test(test_region_without_rows_has_no_stacks_to_export),
        cmocka_unit_test(test_tables_have_the_median_and_how_far_repeats_differ),
        cmocka_unit_test(test_asv_has_a_result_for_each_combination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
