/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export_pprof.c: https://github.com/google/pprof/blob/main/proto/profile.proto, gzipped.
 *
 * A sample is a row, with one value for each metric. Locations are the frames of the profile,
 * functions their names and files; text goes into the table of strings, where number 0 is "".
 * Addresses are offsets in their module, which pprof shows where a name is missing. Whatever is
 * known is in the file: pprof is told not to look for symbols itself.
 */
#include "export_formats.h"
#include "protobuf.h"
#include "render.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Field numbers of profile.proto. */
enum pprof_field {
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE,
    PPROF_MAPPING,
    PPROF_LOCATION,
    PPROF_FUNCTION,
    PPROF_STRING_TABLE,
    PPROF_TIME_NANOS = 9,
    PPROF_DURATION_NANOS,
    PPROF_COMMENT = 13,
    PPROF_DEFAULT_SAMPLE_TYPE,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT };
enum sample_field { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE };
enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_FILENAME = 5,
    MAPPING_BUILD_ID,
    MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILENAMES,
    MAPPING_HAS_LINE_NUMBERS,
    MAPPING_HAS_INLINE_FRAMES,
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum line_field { LINE_FUNCTION_ID = 1, LINE_LINE };
enum function_field {
    FUNCTION_ID = 1,
    FUNCTION_NAME,
    FUNCTION_SYSTEM_NAME,
    FUNCTION_FILENAME,
};

struct writer {
    const struct run *run;
    struct protobuf file;
    struct protobuf part;  /* a message of the file */
    struct protobuf inner; /* a message or a packed field of it */
    uint64_t string_count;
    bool failed; /* no memory */
};

/* A text, as a number of the table of strings; it must be UTF-8. */
static uint64_t string_add(struct writer *w, const char *text) {
    char *clean = strdup(text);
    if (!clean) {
        w->failed = true;
        return 0;
    }
    utf8_clean(clean);
    protobuf_bytes(&w->file, PPROF_STRING_TABLE, clean, strlen(clean));
    free(clean);
    return w->string_count++;
}

static void write_types(struct writer *w) {
    for (int i = 0; i < EXPORT_METRICS; i++) {
        const struct export_metric_text *text = export_metric_text((enum export_metric)i);
        uint64_t name = string_add(w, text->name);
        protobuf_number(&w->part, VALUE_TYPE_TYPE, name);
        protobuf_number(&w->part, VALUE_TYPE_UNIT, string_add(w, text->unit));
        protobuf_message(&w->file, PPROF_SAMPLE_TYPE, &w->part);
        if (i == EXPORT_PEAK_ADDED)
            protobuf_number(&w->file, PPROF_DEFAULT_SAMPLE_TYPE, name);
    }
}

/* Module 0, the unknown one, is none. */
static void write_mappings(struct writer *w) {
    const struct profile *profile = &w->run->profile;
    for (size_t i = 1; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        protobuf_number(&w->part, MAPPING_ID, i);
        protobuf_number(&w->part, MAPPING_FILENAME, string_add(w, module->path));
        protobuf_number(&w->part, MAPPING_BUILD_ID, string_add(w, module->build_id));
        for (unsigned has = MAPPING_HAS_FUNCTIONS; has <= MAPPING_HAS_INLINE_FRAMES; has++)
            protobuf_number(&w->part, has, 1);
        protobuf_message(&w->file, PPROF_MAPPING, &w->part);
    }
}

static void write_function(struct writer *w, uint64_t id, const char *name, const char *file) {
    uint64_t words = string_add(w, name);
    protobuf_number(&w->part, FUNCTION_ID, id);
    protobuf_number(&w->part, FUNCTION_NAME, words);
    protobuf_number(&w->part, FUNCTION_SYSTEM_NAME, words);
    if (file[0] != '\0')
        protobuf_number(&w->part, FUNCTION_FILENAME, string_add(w, file));
    protobuf_message(&w->file, PPROF_FUNCTION, &w->part);
}

/* A location is its id, where it is, and the line of one function. */
static void write_location(struct writer *w, uint64_t id, const struct profile_frame *frame,
                           uint64_t function) {
    protobuf_number(&w->part, LOCATION_ID, id);
    if (frame) {
        protobuf_number(&w->part, LOCATION_MAPPING_ID, frame->module);
        protobuf_number(&w->part, LOCATION_ADDRESS, frame->offset);
    }
    if (function != 0) {
        protobuf_number(&w->inner, LINE_FUNCTION_ID, function);
        protobuf_number(&w->inner, LINE_LINE, frame ? frame->lineno : 0);
        protobuf_message(&w->part, LOCATION_LINE, &w->inner);
    }
    protobuf_message(&w->file, PPROF_LOCATION, &w->part);
}

static int compare_functions(const void *a, const void *b, void *frames) {
    const struct profile_frame *left = &((struct profile_frame *)frames)[*(const uint32_t *)a];
    const struct profile_frame *right = &((struct profile_frame *)frames)[*(const uint32_t *)b];
    int order = strcmp(left->function, right->function);
    return order != 0 ? order : strcmp(left->file, right->file);
}

/*
 * A location for each frame, its index + 1; a function for each name in one file. Behind the
 * frames follow two for sites without a stack.
 */
static int write_locations(struct writer *w) {
    const struct profile *profile = &w->run->profile;
    uint32_t *order = calloc(profile->frame_count + 1, sizeof(*order));
    uint64_t functions = 0;
    if (!order)
        return -ENOMEM;
    for (uint32_t i = 0; i < profile->frame_count; i++)
        order[i] = i;
    qsort_r(order, profile->frame_count, sizeof(*order), compare_functions,
            (void *)profile->frames);
    for (size_t i = 0; i < profile->frame_count; i++) {
        const struct profile_frame *frame = &profile->frames[order[i]];
        bool is_named = frame->function[0] != '\0';
        if (is_named && (i == 0 || compare_functions(&order[i - 1], &order[i],
                                                     (void *)profile->frames) != 0))
            write_function(w, ++functions, frame->function, frame->file);
        write_location(w, order[i] + 1, frame, is_named ? functions : 0);
    }
    free(order);
    static const uint16_t reasons[] = {TRACE_SITE_NO_STACK, TRACE_SITE_OTHER};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        write_function(w, ++functions, export_no_stack(w->run, reasons[i]), "");
        write_location(w, profile->frame_count + 1 + i, NULL, functions);
    }
    return 0;
}

/* Locations innermost first, then the values. */
static void write_sample(struct writer *w, const struct profile_row *row) {
    const struct profile *profile = &w->run->profile;
    const struct profile_site *site = &profile->sites[row->site];
    for (uint32_t node = site->node; node != 0; node = profile->nodes[node].parent)
        protobuf_varint(&w->inner, (uint64_t)profile->nodes[node].frame + 1);
    if (site->node == 0)
        protobuf_varint(&w->inner, profile->frame_count + 1 +
                                       ((site->flags & TRACE_SITE_OTHER) != 0 ? 1 : 0));
    protobuf_message(&w->part, SAMPLE_LOCATION_ID, &w->inner);
    for (int i = 0; i < EXPORT_METRICS; i++)
        protobuf_varint(&w->inner, (uint64_t)export_row_value(row, (enum export_metric)i));
    protobuf_message(&w->part, SAMPLE_VALUE, &w->inner);
    protobuf_message(&w->file, PPROF_SAMPLE, &w->part);
}

static int write_times(struct writer *w, const struct profile_region *region) {
    char *benchmark = render_benchmark(w->run);
    char *comment = NULL;
    if (!benchmark)
        return -ENOMEM;
    int r = asprintf(&comment, "votrace: region %s of %s", region->name, benchmark);
    free(benchmark);
    if (r < 0)
        return -ENOMEM;
    protobuf_number(&w->file, PPROF_COMMENT, string_add(w, comment));
    free(comment);
    protobuf_number(&w->file, PPROF_TIME_NANOS,
                    (uint64_t)w->run->profile.start_realtime_ns +
                        (uint64_t)region->begin_elapsed_ns);
    if (!region->open)
        protobuf_number(
            &w->file, PPROF_DURATION_NANOS,
            (uint64_t)export_less(region->end_elapsed_ns, region->begin_elapsed_ns));
    return 0;
}

static int build(struct writer *w, const struct export_request *request) {
    const struct profile_region *region = request->after.region;
    string_add(w, "");
    write_types(w);
    for (size_t i = 0; i < region->rows_count; i++)
        if (w->run->profile.sites[region->rows[i].site].space == request->space)
            write_sample(w, &region->rows[i]);
    write_mappings(w);
    int r = write_locations(w);
    if (r == 0)
        r = write_times(w, region);
    return r < 0 || w->failed || w->file.failed ? -ENOMEM : 0;
}

/* As one member without a name and a time, so that the same numbers are the same bytes. */
static int write_gzip(FILE *stream, struct protobuf *file) {
    unsigned char packed[16384];
    z_stream z = {.next_in = file->bytes};
    size_t left = file->count;
    int state = Z_OK;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return -ENOMEM;
    while (state != Z_STREAM_END) {
        if (z.avail_in == 0) {
            z.avail_in = left < (1u << 30) ? (unsigned)left : 1u << 30;
            left -= z.avail_in;
        }
        z.next_out = packed;
        z.avail_out = sizeof(packed);
        state = deflate(&z, left == 0 ? Z_FINISH : Z_NO_FLUSH);
        fwrite(packed, 1, sizeof(packed) - z.avail_out, stream);
    }
    deflateEnd(&z);
    return 0;
}

int export_pprof(FILE *stream, const struct export_request *request, struct fault *fault) {
    struct writer w = {.run = request->after.run};
    int r = build(&w, request);
    if (r == 0)
        r = write_gzip(stream, &w.file);
    protobuf_finish(&w.file);
    protobuf_finish(&w.part);
    protobuf_finish(&w.inner);
    return r < 0 ? export_no_memory(fault) : 0;
}
