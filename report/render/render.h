/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * render.h: what the commands print, for people (render_*.c) and for scripts (render_json.c).
 *
 * Functions return 0 or -ENOMEM. Keys in JSON are the words of docs/schema.md; numbers there
 * are exact. Names from files are made fit for where they go.
 */
#pragma once

#include "attributes.h"
#include "diff.h"
#include "run.h"
#include "store.h"
#include "term.h"
#include "trace_reader.h"

/* "votable.parse(format=binary)"; NULL when there is no memory, else free() it. */
char *render_benchmark(const struct run *run) _must_check_ _nonnull_;

/*
 * The same for one region of it: "votable.parse:read(format=binary)". The region is left out
 * when it is the benchmark's only one and "process", or the last word of the benchmark's name.
 */
char *render_row_name(const struct diff_row *row) _must_check_ _nonnull_;

/*
 * Why @run, which is unfit (run_is_unfit()), is it, with what the recorder missed: "the recorder
 * missed something: 1 forked child not measured". NULL when there is no memory, else free() it.
 */
char *render_unfit(const struct run *run) _must_check_ _nonnull_;

/*
 * What the recorder of @profile missed that can make a sum wrong: "1 forked child not measured".
 * "" when it missed nothing of the kind, NULL when there is no memory; else free() it.
 */
char *render_gaps(const struct profile *profile) _must_check_ _nonnull_;

/* The command line of @profile, words with blanks between; NULL when there is no memory. */
char *render_command(const struct profile *profile) _must_check_ _nonnull_;

#define RENDER_TIME_BYTES 32

/* "2026-11-30 16:20:00", UTC. Returns @ret_text. */
const char *render_time(char ret_text[RENDER_TIME_BYTES], int64_t realtime_ns) _nonnull_;

/* "1 forked child not measured": @count of @gap. */
void render_gap(FILE *stream, enum profile_gap gap, int64_t count) _nonnull_;

/* "driver/reader.c" of "/home/me/src/driver/reader.c": enough to know it by. */
const char *render_path_tail(const char *path) _nonnull_;

/* "driver/reader.c:20", or the file alone where the line is not known. @frame has a file. */
void render_file_line(FILE *stream, const struct profile_frame *frame) _nonnull_;

/* "main (driver/main.c:20)", a frame in words; the caller frees it. */
char *render_frame(const struct profile *profile, uint32_t node) _must_check_ _nonnull_;

/*
 * The telling frame of @site, which has one. Where an offset means nothing there is none; that
 * is all in which it differs from render_frame().
 */
char *render_telling(const struct callsite *site) _must_check_ _nonnull_;

/* The two parts of it: "main", and "driver/main.c:20", "" where nothing is known. free() them. */
char *render_function(const struct callsite *site) _must_check_ _nonnull_;
char *render_place(const struct callsite *site) _must_check_ _nonnull_;

/* Why @site, whose node is 0, has no call stack. Constant text. */
const char *render_no_stack(const struct callsite *site) _nonnull_;

/* The callers of @site on one line that is no wider than @width, "" when there are none. */
char *render_callers(const struct callsite *site, size_t width) _must_check_ _nonnull_;

int render_list_text(const struct term *term, const struct store_entry *entries,
                     size_t count) _must_check_;
int render_list_json(FILE *stream, const struct store_entry *entries,
                     size_t count) _must_check_;

struct render_show {
    const char *region; /* only this one; NULL: all */
    size_t sites_max;   /* call sites listed for a region; 0: those that matter */
    bool tree;          /* a tree of calls of sites_max lines instead of call sites */
    bool sizes;         /* a histogram of the sizes of its allocations */
    bool timeline;      /* the points of its timeline as a table */
};

/* What stands under a region's headline: slack, and a sparkline, where they are known. */
void render_extras(const struct term *term, const struct profile_region *region) _nonnull_;

/* One line where Python's arenas hide what was allocated, else nothing. */
void render_advice(const struct term *term, const struct run *run) _nonnull_;

/* Its timeline and its sizes, where @options asks for them. */
int render_series(const struct term *term, const struct profile_region *region,
                  const struct render_show *options) _must_check_ _nonnull_;

/* How the process of @run ended, in at most @room bytes: "exit status 0", "killed" ... */
const char *render_outcome(const struct run *run, char *ret_text, size_t room) _nonnull_;

/* "forked child of pid 12 (run 3)", "child of pid 12 (run 3)"; "" when nothing is known. */
const char *render_parent(const struct run *run, char *ret_text, size_t room) _nonnull_;

int render_show_text(const struct term *term, const struct run *run,
                     const struct render_show *options) _must_check_ _nonnull_;
int render_show_json(FILE *stream, const struct run *run,
                     const struct render_show *options) _must_check_ _nonnull_;

struct render_diff {
    enum calltree_by by;
    size_t frames_max; /* lines of frames in the tree of a benchmark */
    size_t sites_max;  /* call sites listed instead of the tree; 0: the tree */
};

int render_diff_text(const struct term *term, const struct diff *diff,
                     const struct render_diff *options) _must_check_ _nonnull_;

/* What made the difference of one row of @diff; nothing where there is none. */
int render_diff_row(const struct term *term, const struct diff *diff,
                    const struct diff_row *row,
                    const struct render_diff *options) _must_check_ _nonnull_;
int render_diff_json(FILE *stream, const struct diff *diff,
                     const struct render_diff *options) _must_check_ _nonnull_;

/* As a comment on a pull request. */
int render_diff_markdown(FILE *stream, const struct diff *diff,
                         const struct render_diff *options) _must_check_ _nonnull_;

/* A row for each benchmark. */
int render_diff_csv(FILE *stream, const struct diff *diff) _must_check_ _nonnull_;

/* Every table of a trace, as it is in the file. */
void render_dump(const struct term *term, const struct trace *trace) _nonnull_;
