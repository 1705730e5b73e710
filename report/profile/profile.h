/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.h: what one run of a program asked of the allocator, in numbers that agree.
 *
 * A profile comes from a trace or out of a store; both ways it has passed profile_check(). It
 * owns everything it points to. Words as in docs/schema.md: live is the sum of the blocks that
 * exist, peak the largest live, peak_added = peak - start, net = end - start; sizes are bytes
 * as the program requested them, times nanoseconds.
 */
#pragma once

#include "arena.h"
#include "attributes.h"
#include "fault.h"
#include "trace_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_BUILD_ID_BYTES (2 * TRACE_BUILD_ID_MAX + 1)
#define PROFILE_UUID_BYTES     (2 * TRACE_UUID_BYTES + 1)
#define PROFILE_POINTS_MAX     (TRACE_TIMELINE_POINTS + 3) /* start, peak and end are added */

/* The first fields of struct trace_completeness, in its order: what was not seen. */
enum profile_gap {
    PROFILE_EVENTS_LOST,
    PROFILE_UNKNOWN_FREES,
    PROFILE_TABLE_REFUSED,
    PROFILE_FILE_REFUSED,
    PROFILE_STACKS_MISSING,
    PROFILE_STACKS_OTHER,
    PROFILE_FORKED_CHILDREN,
    PROFILE_UNBALANCED_ENDS,
    PROFILE_REGIONS_DROPPED,
    PROFILE_SETTINGS_IGNORED,
    PROFILE_MALLOC_ELSEWHERE,
    PROFILE_GAPS,
};

struct profile_gap_text {
    const char *name;     /* the field's name */
    const char *meaning;  /* for people, after the number */
    const char *singular; /* likewise, after a 1 */
    bool spoils_the_sums; /* live and peak may be wrong, not just details */
    bool is_a_fact;       /* 1 or 0: no number stands before its meaning */
};

enum profile_end {
    PROFILE_ENDED,    /* exit() or return from main was seen */
    PROFILE_KILLED,   /* the process is gone and never said so */
    PROFILE_SNAPSHOT, /* the process was still running */
    PROFILE_EXECED,   /* replaced by another program: what it did until then is all here */
};

struct profile_pair {
    int64_t blocks;
    int64_t bytes;
};

/* The module of all interpreted code: a frame's file says more. */
#define PROFILE_CODE_PATH "[python]"

struct profile_module {
    const char *path; /* "" for addresses that belong to no file; or PROFILE_CODE_PATH */
    char build_id[PROFILE_BUILD_ID_BYTES]; /* hexadecimal; "" when it has none */
    bool is_code;                          /* its frames are interpreted code's */
    bool is_interpreter;                   /* frames of such came inside of one of its own */
};

/* A place in a module. Several frames share an offset where functions were inlined there. */
struct profile_frame {
    uint32_t module;      /* module 0 is the unknown one */
    uint32_t level;       /* 0 is the innermost inlined function */
    uint64_t offset;      /* return address - load bias: the instruction is before it; of
                             interpreted code the line */
    const char *function; /* "" when not known, likewise file */
    const char *file;
    uint32_t lineno; /* 0 when not known */
};

/* A frame below its caller. Node 0 is the root and has no frame. */
struct profile_node {
    uint32_t parent; /* smaller than the node's own number */
    uint32_t frame;
};

struct profile_site {
    uint32_t node;  /* the innermost frame: who called the allocation function */
    uint16_t space; /* enum trace_space */
    uint16_t flags; /* TRACE_SITE_* */
};

/* One site in one region instance. */
struct profile_row {
    uint32_t site;
    struct profile_pair allocated;
    struct profile_pair freed;
    struct profile_pair start;
    struct profile_pair peak; /* live at the moment of the region's peak */
    struct profile_pair end;
    int64_t temporary;
};

struct profile_totals {
    struct profile_pair start;
    struct profile_pair end;
    struct profile_pair allocated;
    struct profile_pair freed;
    int64_t peak_bytes;
    int64_t temporary;
    int64_t largest_bytes;
    int64_t failed;
    int64_t reallocations;
    int64_t owned_peak_bytes;
};

/* Live heap at one moment. */
struct profile_point {
    int64_t elapsed_ns; /* since the start of the trace */
    int64_t live_bytes;
};

/*
 * In a region of one thread `start` is 0, and what is live may be negative, in rows and totals:
 * the thread may free what others had allocated.
 */
struct profile_region {
    const char *name;
    uint32_t instance; /* from 1 */
    uint32_t thread;   /* kernel thread id of a region of one thread; 0: of the process */
    uint32_t parent;   /* index of the region it began in; 0 for region 0 */
    bool open;         /* never ended; always so for region 0, "process" */
    bool has_rows;     /* false: only the totals are known */
    bool pruned; /* the store had its rows and has dropped them: the totals are all there */
    int64_t begin_elapsed_ns;
    int64_t end_elapsed_ns;
    int64_t cpu_ns;
    int64_t combined_start_bytes; /* heap and anonymous mappings together */
    int64_t combined_peak_bytes;
    int64_t combined_end_bytes;
    int64_t peak_elapsed_ns; /* the heap's peak is no later than this */
    bool usable_is_known;    /* what the allocator gave for what was requested of the heap */
    int64_t usable_start_bytes;
    int64_t usable_peak_bytes; /* at the heap's peak */
    int64_t usable_end_bytes;
    const int64_t *sizes; /* heap allocations by size, TRACE_SIZE_BUCKETS of them, or NULL */
    const struct profile_point *points; /* points_count, by time, with start, peak and end */
    size_t points_count;                /* 0: no timeline was kept */
    struct profile_totals totals[TRACE_SPACES];
    const struct profile_row *rows; /* rows_count, by site */
    size_t rows_count;
};

struct profile {
    struct arena arena;

    const char *program;
    const char *exe; /* "" when not known, likewise cwd */
    const char *cwd;
    const char *const *arguments; /* argument_count */
    size_t argument_count;
    const char *votrace_version;
    uint32_t pid;
    uint32_t parent_pid;
    char uuid[PROFILE_UUID_BYTES];        /* of the trace, hexadecimal; "" when it has none */
    char parent_uuid[PROFILE_UUID_BYTES]; /* of a forked child: its parent's trace; else "" */
    bool forked;                          /* began by fork(), with what its parent had */
    int64_t inherited_freed;              /* frees of blocks that its parent had allocated */
    int64_t start_realtime_ns;
    int64_t elapsed_ns; /* until the end; until the last thing known when that was not seen */
    enum profile_end end;
    enum trace_stacks stacks;
    uint32_t depth_limit;
    int64_t stacks_truncated;
    bool cut;       /* died inside one event: totals were completed from the rows */
    bool truncated; /* the trace was cut off: no rows */
    int64_t gaps[PROFILE_GAPS];

    struct profile_module *modules;
    size_t module_count;
    const struct profile_frame *frames;
    size_t frame_count;
    const struct profile_node *nodes;
    const struct profile_node *native_nodes; /* before folding interpreters; NULL: as nodes */
    size_t node_count;
    const struct profile_site *sites;
    size_t site_count;
    const struct profile_region *regions;
    size_t region_count;
};

/*
 * Derive @ret_profile from @trace by the rules of trace_layout.h. Frames have no names yet, see
 * symbols.h.
 *
 * Returns 0; -EBADMSG when the numbers contradict each other, -ENOMEM. On failure @fault says
 * it in words and @ret_profile is empty. End with profile_finish().
 */
int profile_from_trace(const struct trace *trace, struct profile *ret_profile,
                       struct fault *fault) _must_check_ _nonnull_;

/*
 * Do ids stay inside their tables, and do the rows of every region add up to its totals?
 * 0, or -EBADMSG and @fault.
 */
int profile_check(const struct profile *profile, struct fault *fault) _must_check_ _nonnull_;

/* peak - start and end - start of one space. */
int64_t profile_peak_added(const struct profile_totals *totals) _nonnull_;
int64_t profile_net(const struct profile_totals *totals) _nonnull_;

/*
 * Are allocated, freed and temporary of its totals known? Not for a region that never ended in
 * a trace that was cut off: its rows had them.
 */
bool profile_counts_are_known(const struct profile_region *region) _nonnull_;

/* A kind of memory for people: "heap", "anonymous mappings" ... */
const char *profile_space_words(enum trace_space space);

/* usable - requested at the heap's peak, where usable_is_known. */
int64_t profile_slack(const struct profile_region *region) _nonnull_;

/* Name, meaning and weight of one kind of gap. */
const struct profile_gap_text *profile_gap_text(enum profile_gap gap);

/* What @count of @gap is in words, without the number. */
const char *profile_gap_meaning(enum profile_gap gap, int64_t count);

/* Did the recorder miss something that can make live or a peak wrong? */
bool profile_is_incomplete(const struct profile *profile) _nonnull_;

/* Find out is_code and is_interpreter, when all modules, frames and nodes are there. */
void profile_note_interpreters(struct profile *profile) _nonnull_;

/*
 * Let a function of interpreted code hang below the one that called it, without the frames of the
 * interpreter between the two: they are the same for any call. Those of anything else between them
 * stay, with all that is outside of the first. 0 or -ENOMEM.
 */
int profile_fold_interpreters(struct profile *profile) _must_check_ _nonnull_;

/* Have those frames back. */
void profile_unfold_interpreters(struct profile *profile) _nonnull_;

void profile_finish(struct profile *profile) _nonnull_;
