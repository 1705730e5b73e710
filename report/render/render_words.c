/* SPDX-License-Identifier: BSD-3-Clause */
/* render_words.c: names of benchmarks, frames and chains of callers, as one piece of text. */
#include "render.h"

#include "textstream.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLERS_MAX 12

/* What was written, as valid UTF-8; NULL without memory. free() it. */
static char *text_take(struct textstream *text) {
    char *said = textstream_take(text);
    if (said)
        utf8_clean(said);
    return said;
}

static char *benchmark_text(const struct run *run, const char *region) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    fprintf(stream, "%s%s%s", run->benchmark, region ? ":" : "", region ? region : "");
    run_params_write(stream, run->params, run->param_count);
    return text_take(&text);
}

const char *render_outcome(const struct run *run, char *ret_text, size_t room) {
    static const char *const ends[] = {
        [PROFILE_ENDED] = "exited",
        [PROFILE_KILLED] = "killed",
        [PROFILE_SNAPSHOT] = "still running",
        [PROFILE_EXECED] = "replaced by another program (exec)",
    };
    /* Then the status is the other program's. */
    const char *execed = run->profile.end == PROFILE_EXECED ? ", after an exec" : "";
    if (run->outcome == RUN_SIGNALED)
        snprintf(ret_text, room, "signal %d%s", run->status, execed);
    else if (run->outcome == RUN_EXITED)
        snprintf(ret_text, room, "exit status %d%s", run->status, execed);
    else
        snprintf(ret_text, room, "%s", ends[run->profile.end]);
    return ret_text;
}

const char *render_parent(const struct run *run, char *ret_text, size_t room) {
    const struct profile *profile = &run->profile;
    char number[32] = "";
    ret_text[0] = '\0';
    if (run->parent_id != 0)
        snprintf(number, sizeof(number), " (run %" PRId64 ")", run->parent_id);
    if (profile->forked)
        snprintf(ret_text, room, "forked child of pid %" PRIu32 "%s", profile->parent_pid,
                 number);
    else if (run->parent_id != 0)
        snprintf(ret_text, room, "child of pid %" PRIu32 "%s", profile->parent_pid, number);
    return ret_text;
}

char *render_command(const struct profile *profile) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    for (size_t i = 0; i < profile->argument_count; i++)
        fprintf(stream, "%s%s", i > 0 ? " " : "", profile->arguments[i]);
    if (profile->argument_count == 0)
        fputs(profile->program, stream);
    return text_take(&text);
}

const char *render_time(char ret_text[RENDER_TIME_BYTES], int64_t realtime_ns) {
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) ||
        strftime(ret_text, RENDER_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        strcpy(ret_text, "?");
    return ret_text;
}

char *render_benchmark(const struct run *run) {
    return benchmark_text(run, NULL);
}

char *render_row_name(const struct diff_row *row) {
    const char *dot = strrchr(row->benchmark->benchmark, '.');
    const char *last_word = dot ? dot + 1 : row->benchmark->benchmark;
    bool implied = row->only_region &&
                   (strcmp(row->region, "process") == 0 || strcmp(row->region, last_word) == 0);
    return benchmark_text(row->benchmark, implied ? NULL : row->region);
}

/* What can make a sum wrong, @lead in front of the first. */
static void write_gaps(FILE *stream, const struct profile *profile, const char *lead) {
    for (enum profile_gap gap = 0; gap < PROFILE_GAPS; gap++) {
        int64_t count = profile->gaps[gap];
        if (count == 0 || !profile_gap_text(gap)->spoils_the_sums)
            continue;
        fputs(lead, stream);
        render_gap(stream, gap, count);
        lead = ", ";
    }
    if (profile->cut)
        fprintf(stream, "%sdied inside one event, which was completed", lead);
}

void render_gap(FILE *stream, enum profile_gap gap, int64_t count) {
    if (!profile_gap_text(gap)->is_a_fact)
        fprintf(stream, "%" PRId64 " ", count);
    fputs(profile_gap_meaning(gap, count), stream);
}

char *render_gaps(const struct profile *profile) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    write_gaps(stream, profile, "");
    return text_take(&text);
}

char *render_unfit(const struct run *run) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    fputs(run_is_unfit(run), stream);
    write_gaps(stream, &run->profile, ": ");
    return text_take(&text);
}

const char *render_path_tail(const char *path) {
    const char *tail = path + strlen(path);
    for (int slashes = 0; tail > path; tail--)
        if (tail[-1] == '/' && ++slashes == 2)
            break;
    return tail;
}

void render_file_line(FILE *stream, const struct profile_frame *frame) {
    fputs(render_path_tail(frame->file), stream);
    if (frame->lineno != 0)
        fprintf(stream, ":%" PRIu32, frame->lineno);
}

static void write_function(FILE *stream, const struct callsite *site, uint32_t node) {
    const struct profile_frame *frame = callsite_frame(site->profile, node);
    const char *path = site->profile->modules[frame->module].path;
    const char *module = path[0] != '\0' ? callsite_basename(path) : "(no file)";
    if (frame->function[0] != '\0')
        fputs(frame->function, stream);
    else if (callsite_is_vague(site, node))
        fputs(module, stream);
    else
        fprintf(stream, "%s+0x%" PRIx64, module, frame->offset);
}

char *render_frame(const struct profile *profile, uint32_t node) {
    return render_telling(&(struct callsite){.profile = profile, .node = node});
}

/* "driver/reader.c:20", else the module; nothing where neither says more than the name. */
static bool write_place(FILE *stream, const struct callsite *site, const char *lead) {
    const struct profile_frame *frame = callsite_frame(site->profile, site->node);
    const char *module = callsite_basename(site->profile->modules[frame->module].path);
    if (frame->file[0] == '\0' && (frame->function[0] == '\0' || module[0] == '\0'))
        return false;
    fputs(lead, stream);
    if (frame->file[0] != '\0')
        render_file_line(stream, frame);
    else
        fputs(module, stream);
    return true;
}

char *render_function(const struct callsite *site) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    write_function(stream, site, site->node);
    return text_take(&text);
}

char *render_place(const struct callsite *site) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    write_place(stream, site, "");
    return text_take(&text);
}

char *render_telling(const struct callsite *site) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    write_function(stream, site, site->node);
    if (write_place(stream, site, " ("))
        fputc(')', stream);
    return text_take(&text);
}

const char *render_no_stack(const struct callsite *site) {
    if (site->flags & TRACE_SITE_OTHER)
        return "(other: the table of stacks was full)";
    if (site->profile->stacks == TRACE_STACKS_REGION)
        return "(allocated outside marked regions: no call stack)";
    return "(no call stack taken)";
}

/*
 * A library of the system goes by its name: "libxml2.so.2", or "xmlBufResize (libxml2.so.2)".
 */
static void write_system_frame(FILE *stream, const struct profile *profile, uint32_t node,
                               bool with_function) {
    const struct profile_frame *frame = callsite_frame(profile, node);
    const char *module = callsite_basename(profile->modules[frame->module].path);
    if (with_function && frame->function[0] != '\0')
        fprintf(stream, "%s (%s)", frame->function, module);
    else
        fputs(module, stream);
}

static void write_via(FILE *stream, const struct callsite *site) {
    fputs("via ", stream);
    if (callsite_is_in_system(site->profile, site->innermost))
        write_system_frame(stream, site->profile, site->innermost, true);
    else
        write_function(stream, site, site->innermost);
}

/* The next caller outwards that is worth a word: a run of frames in one library is one. 0:
 * none.
 */
static uint32_t next_caller(const struct callsite *site, uint32_t node) {
    const struct profile *profile = site->profile;
    if (callsite_is_outermost(profile, node))
        return 0;
    uint32_t caller = callsite_caller(site, node);
    uint32_t module = callsite_frame(profile, node)->module;
    if (!callsite_is_in_system(profile, node))
        return caller;
    while (caller != 0 && callsite_frame(profile, caller)->module == module)
        caller = profile->nodes[caller].parent;
    return caller;
}

static char *caller_name(const struct callsite *site, uint32_t node) {
    const struct profile *profile = site->profile;
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    if (callsite_is_in_system(profile, node))
        write_system_frame(stream, profile, node, false);
    else
        write_function(stream, site, node);
    return text_take(&text);
}

char *render_callers(const struct callsite *site, size_t width) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    const char *lead = "";
    if (site->node != 0 && site->innermost != site->node) {
        write_via(stream, site);
        lead = " ";
    }
    fflush(stream);
    size_t used = utf8_width(text.bytes);
    uint32_t node = site->node != 0 ? next_caller(site, site->node) : 0;
    for (size_t i = 0; node != 0; i++) {
        uint32_t next = next_caller(site, node);
        char *name = caller_name(site, node);
        size_t columns = name ? utf8_width(name) + 3 : 0;
        bool fits = i < CALLERS_MAX && used + columns + (next != 0 ? 6 : 0) <= width;
        fprintf(stream, "%s< %s", lead, fits && name ? name : "...");
        free(name);
        if (!fits)
            break;
        lead = " ";
        used += columns;
        node = next;
    }
    return text_take(&text);
}
