/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger.h: the accounting. Regions, and in each of them a row of counters for every site.
 *
 * Pure bookkeeping in the trace file's memory: no locks, no stacks, no addresses. The
 * recorder's lock guards it.
 */
#pragma once

#include "stacktree.h"
#include "trace_layout.h"
#include "tracefile.h"
#include "votrace.h"

#include <stdbool.h>

#define LEDGER_OPEN_MAX 64u /* nested or overlapping regions of the process at one time */
#define LEDGER_THREAD_OPEN_MAX                                                                 \
    1024u /* open regions of single threads, of all of them together */
#define LEDGER_THREAD_LISTS      256u
#define LEDGER_DROPS_MAX         1024u
#define LEDGER_NAMES_MAX         65536u /* a test suite has one for each test */
#define LEDGER_NAMES_PER_CHUNK   256u
#define LEDGER_NAME_LISTS        4096u
#define LEDGER_REGIONS_MAX       262144u /* instances of all names */
#define LEDGER_KEPT_INSTANCES    8u      /* of each name: the worst, with their rows */
#define LEDGER_REGIONS_PER_CHUNK 16u

/* Two counters moved by one instruction, so that no kill can part them. */
typedef uint64_t ledger_pair __attribute__((vector_size(16), may_alias));

struct ledger_region {
    struct trace_region *record;
    struct trace_row **rows;   /* rows[site / TRACE_ROWS_PER_CHUNK] -> that chunk's first row */
    struct trace_sizes *sizes; /* NULL: memory was refused */
    struct trace_timeline *timeline; /* likewise */
    int64_t left_events;             /* heap events until its next point */
    uint32_t id;
    uint32_t name;  /* its index */
    uint32_t birth; /* blocks born as this or later were allocated inside the region */

    /* Of one thread's regions. */
    uint32_t thread;            /* its number; 0: the region is of the process */
    uint32_t own_birth;         /* of blocks that it allocates now; no other thread uses it */
    struct ledger_region *next; /* in its list: an older one */
};

/*
 * Open regions of single threads: in lists by the thread's number, the youngest first. Blocks
 * that such a thread allocates have births of its own, so that frees can tell whose they were.
 */
struct ledger_threads {
    struct ledger_region *regions; /* LEDGER_THREAD_OPEN_MAX; NULL until the first */
    struct ledger_region *free;    /* unused ones, linked by `next` */
    struct ledger_region *lists[LEDGER_THREAD_LISTS];
    uint32_t *birth_threads; /* by birth: whose it is; 0: everybody's */
    uint32_t open_count;
};

/* Begins beyond a limit whose ends are still to come. */
struct ledger_drop {
    uint32_t thread; /* 0: of the process */
    uint32_t name;   /* its index, LEDGER_NAMES_MAX for all beyond */
    uint32_t count;
};

struct ledger_name {
    char name[TRACE_NAME_BYTES];
    uint32_t index;
    uint32_t next; /* 1 + the index of the next in its list; 0: the last */
    uint32_t instances;
    uint32_t kept_count;
    struct trace_region *youngest;
    struct ledger_region kept[LEDGER_KEPT_INSTANCES];
};

/* Names never move: whoever has one may keep it. */
struct ledger_names {
    uint32_t count;
    uint32_t lists[LEDGER_NAME_LISTS]; /* 1 + the index of the first with that hash */
    struct ledger_name *chunks[LEDGER_NAMES_MAX / LEDGER_NAMES_PER_CHUNK];
};

struct ledger {
    struct tracefile *file;
    const struct stacktree *stacks; /* tells the space of a site */
    struct ledger_region
        open[LEDGER_OPEN_MAX]; /* open[0] is the process, the last the youngest */
    uint32_t open_count;
    uint32_t region_count;
    uint32_t births; /* given so far, to regions and threads */
    uint32_t begun;  /* birth of blocks allocated now by threads without regions of their own */
    bool simple;     /* only the process region is open, and usable sizes are not kept */
    bool usable;     /* they are: usable_bytes holds */
    uint64_t usable_bytes; /* what the allocator gave for the block that is booked next */
    uint32_t thread;       /* number of the thread whose events are booked; 0: has none */
    struct ledger_threads threads;
    struct ledger_names *names;
    struct ledger_drop *drops; /* NULL: none so far */
    uint32_t drop_count;
    uint64_t drops_beyond;             /* begins that found no place there */
    struct trace_region *record_chunk; /* where the next record goes */
    struct trace_row *free_rows;       /* chunks given up, linked through their first bytes */
    struct trace_row **free_directory; /* the same for directories */
    struct trace_sizes *free_sizes;
    struct trace_timeline *free_timelines;
    struct trace_row *
        *lane_rows[TRACE_LANES_MAX]; /* of the process region; [0]: open[0].rows */
    struct trace_lane *lane_records[TRACE_LANES_MAX];
    uint32_t lane_count;
};

/* Where and when a region begins or ends. */
struct ledger_moment {
    uint64_t elapsed_ns; /* since the start of the trace */
    uint64_t cpu_ns;     /* of the process */
    uint32_t thread;     /* kernel thread id */
};

/* Begins region 0, "process". Returns 0 or -ENOMEM. Nothing else is of use before. */
int ledger_init(struct ledger *ledger, struct tracefile *file, const struct stacktree *stacks,
                const struct ledger_moment *now);

/*
 * The process region of a forked child begins with @live of @space, booked on @site: what its
 * parent had. Before the first event. Returns false when memory for a row is refused.
 */
bool ledger_inherit(struct ledger *ledger, enum trace_space space, uint32_t site,
                    ledger_pair live);

/*
 * And births that come after the @births of its parent, whose blocks had @usable_bytes. The first
 * of them, @births + LEDGER_BIRTH_ADOPTED, is nobody's: it tells what is adopted from all else.
 */
#define LEDGER_BIRTH_ADOPTED 1u
void ledger_inherit_more(struct ledger *ledger, uint32_t births, int64_t usable_bytes);

/* What is live of @space in the process. With lanes: while all of them are stopped. */
ledger_pair ledger_live(const struct ledger *ledger, enum trace_space space);

/*
 * Begin an instance of @name. Returns 0; -ENOSPC, counted in regions_dropped, beyond a limit.
 */
int ledger_begin(struct ledger *ledger, const char *name, const struct ledger_moment *now);

/*
 * End the youngest open instance of @name, which may be one that was dropped. Returns 0;
 * -ENOENT, counted in unbalanced_ends.
 */
int ledger_end(struct ledger *ledger, const char *name, const struct ledger_moment *now);

/*
 * The same for a region of the current thread, ledger.thread, which must not be 0: its own
 * events only, and its own ends. A thread that ends leaves its regions open.
 */
int ledger_begin_own(struct ledger *ledger, const char *name, const struct ledger_moment *now);
int ledger_end_own(struct ledger *ledger, const char *name, const struct ledger_moment *now);

/* From now on usable_bytes is kept in the sums. No block is known yet. */
void ledger_keep_usable(struct ledger *ledger);

/* Totals of the youngest instance of @name. Returns 0 or -ENOENT. */
int ledger_query(const struct ledger *ledger, const char *name,
                 struct votrace_region_totals *ret_totals);

/*
 * Another lane: its record in the trace and an empty directory of rows, both in the arrays.
 * Returns its number; -ENOSPC when there are TRACE_LANES_MAX, -ENOMEM.
 */
int ledger_add_lane(struct ledger *ledger);

/* Make sure that @lane has a row for @site. False, nothing counted, when memory is refused. */
bool ledger_reserve_lane_row(struct ledger *ledger, uint32_t lane, uint32_t site);

/*
 * The general cases of ledger_allocate() and ledger_free() below: any number of open regions.
 */
bool ledger_allocate_nested(struct ledger *ledger, enum trace_space space, uint32_t site,
                            uint64_t blocks, uint64_t bytes);
bool ledger_free_nested(struct ledger *ledger, enum trace_space space, uint32_t site,
                        uint64_t blocks, uint64_t bytes, uint32_t birth, bool temporary);

/*
 * Heap events where the process region is booked elsewhere, in a lane: the same for the marked
 * regions alone, all of which must have a row for the site. The process region comes after.
 */
bool ledger_inner_ready(const struct ledger *ledger, uint32_t site);
bool ledger_reserve_inner(struct ledger *ledger, uint32_t site);
void ledger_allocate_inner(struct ledger *ledger, uint32_t site, uint64_t bytes);
void ledger_free_inner(struct ledger *ledger, uint32_t site, uint64_t bytes, uint32_t birth,
                       bool temporary);
void ledger_count_inner_reallocation(struct ledger *ledger);
bool ledger_count_inner_event(struct ledger *ledger);
void ledger_add_inner_points(struct ledger *ledger, uint64_t elapsed_ns);

/* What ledger_count_event() and ledger_birth() do where a marked region is open. */
bool ledger_count_event_nested(struct ledger *ledger);
uint32_t ledger_birth_own(struct ledger *ledger);

/*
 * Add the points that are due, with what is live now. @elapsed_ns: since the start of the
 * trace. The second is for the process region alone, with what lanes have live; it returns the
 * events until its next point.
 */
void ledger_add_points(struct ledger *ledger, uint64_t elapsed_ns);
int64_t ledger_add_process_point(struct ledger *ledger, int64_t live_bytes,
                                 uint64_t elapsed_ns);

/* It is the end: peaks of the process region that no point has dated were before now. */
void ledger_date_peaks(const struct ledger *ledger, uint64_t elapsed_ns);

/* Count a call that returned NULL or MAP_FAILED; or a reallocation, beside its two bookings. */
void ledger_count_failed(struct ledger *ledger, enum trace_space space);
void ledger_count_reallocation(struct ledger *ledger, enum trace_space space);

/* One booking. The order of the stores is part of the trace format: see ledger.c. */

#define ledger_store_order() __asm__ volatile("" ::: "memory")

static inline ledger_pair ledger_pair_get(const struct trace_pair *from) {
    return *(const ledger_pair *)(const void *)from;
}

static inline void ledger_pair_set(struct trace_pair *to, ledger_pair value) {
    *(ledger_pair *)(void *)to = value;
}

static inline void ledger_event_begin(const struct ledger *ledger) {
    ledger->file->header->updating = 1;
    ledger_store_order();
}

static inline void ledger_event_end(const struct ledger *ledger) {
    ledger_store_order();
    ledger->file->header->updating = 0;
}

/* The chunk that the row is in must be there. */
static inline struct trace_row *ledger_row(const struct ledger_region *region, uint32_t site) {
    return &region->rows[site / TRACE_ROWS_PER_CHUNK][site % TRACE_ROWS_PER_CHUNK];
}

static inline ledger_pair ledger_row_live(const struct trace_row *row) {
    return ledger_pair_get(&row->start) + ledger_pair_get(&row->allocated) -
           ledger_pair_get(&row->freed);
}

/* Keep what the row was at the region's peak number @epoch, if it still is what it was then. */
static inline void ledger_row_before_change(struct trace_row *row, uint64_t epoch) {
    if (row->epoch == epoch)
        return;
    ledger_pair_set(&row->peak, ledger_row_live(row));
    ledger_store_order();
    row->epoch = epoch;
    ledger_store_order();
}

static inline int64_t ledger_combined_live(const struct trace_region *record) {
    return (int64_t)(record->space[TRACE_HEAP].live.bytes +
                     record->space[TRACE_MAP_ANON].live.bytes);
}

/* The time of the peak before is not this one's: until there is a point, it is not known. */
static inline void ledger_new_peak(struct trace_totals *totals, uint64_t bytes,
                                   uint64_t epoch) {
    totals->peak_elapsed_ns = 0;
    ledger_store_order();
    *(ledger_pair *)(void *)&totals->peak = (ledger_pair){bytes, epoch};
}

static inline void ledger_region_allocate(struct trace_region *record, struct trace_row *row,
                                          enum trace_space space, ledger_pair delta) {
    struct trace_totals *totals = &record->space[space];
    ledger_row_before_change(row, totals->peak.epoch);
    ledger_pair_set(&row->allocated, ledger_pair_get(&row->allocated) + delta);
    ledger_store_order();
    ledger_pair live = ledger_pair_get(&totals->live) + delta;
    ledger_pair_set(&totals->live, live);
    if ((int64_t)live[1] > (int64_t)totals->peak.bytes)
        ledger_new_peak(totals, live[1], totals->peak.epoch + 1);
    if (delta[1] > totals->largest_bytes)
        totals->largest_bytes = delta[1];
    int64_t combined = ledger_combined_live(record);
    if (combined > record->combined_peak_bytes)
        record->combined_peak_bytes = combined;
}

static inline void ledger_region_free(struct trace_region *record, struct trace_row *row,
                                      enum trace_space space, ledger_pair delta,
                                      bool temporary) {
    struct trace_totals *totals = &record->space[space];
    ledger_row_before_change(row, totals->peak.epoch);
    ledger_pair_set(&row->freed, ledger_pair_get(&row->freed) + delta);
    row->temporary += temporary;
    ledger_store_order();
    ledger_pair_set(&totals->live, ledger_pair_get(&totals->live) - delta);
}

/* The bucket of trace_lane.size_counts; @bytes is far from overflow. */
static inline unsigned ledger_size_bucket(uint64_t bytes) {
    return 63 ^ (unsigned)__builtin_clzll(2 * bytes + 1);
}

/* A heap allocation, by the lane that books it; inside of the event. */
static inline void ledger_count_size(struct trace_lane *record, uint64_t bytes) {
    record->size_counts[ledger_size_bucket(bytes)]++;
    if (__builtin_expect(bytes > record->largest_bytes, 0))
        record->largest_bytes = bytes;
}

/* Nothing to be done but in the process region, which has a row for @site: the usual case. */
static inline bool ledger_is_simple(const struct ledger *ledger, uint32_t site) {
    return __builtin_expect(ledger->simple, 1) &&
           __builtin_expect(ledger->open[0].rows[site / TRACE_ROWS_PER_CHUNK] != NULL, 1);
}

/*
 * Book @blocks blocks of together @bytes bytes as allocated by @site. Returns false, with
 * nothing booked and the event counted as lost, when memory for a row is refused.
 */
static inline bool ledger_allocate(struct ledger *ledger, enum trace_space space, uint32_t site,
                                   uint64_t blocks, uint64_t bytes) {
    if (!ledger_is_simple(ledger, site))
        return ledger_allocate_nested(ledger, space, site, blocks, bytes);
    ledger_event_begin(ledger);
    ledger_region_allocate(ledger->open[0].record, ledger_row(&ledger->open[0], site), space,
                           (ledger_pair){blocks, bytes});
    if (space == TRACE_HEAP)
        ledger_count_size(ledger->lane_records[0], bytes);
    ledger_event_end(ledger);
    return true;
}

/*
 * Book them as freed. @birth: ledger_birth() when they were allocated. @temporary: the free was
 * the very next event of the allocating thread. Returns as above.
 */
static inline bool ledger_free(struct ledger *ledger, enum trace_space space, uint32_t site,
                               uint64_t blocks, uint64_t bytes, uint32_t birth,
                               bool temporary) {
    if (!ledger_is_simple(ledger, site))
        return ledger_free_nested(ledger, space, site, blocks, bytes, birth, temporary);
    ledger_event_begin(ledger);
    ledger_region_free(ledger->open[0].record, ledger_row(&ledger->open[0], site), space,
                       (ledger_pair){blocks, bytes}, temporary);
    ledger_event_end(ledger);
    return true;
}

/* Whether a region is open that the program marked. */
static inline bool ledger_is_marked(const struct ledger *ledger) {
    return ledger->open_count > 1 || ledger->threads.open_count > 0;
}

/* The birth of a block that the current thread allocates now. */
static inline uint32_t ledger_birth(struct ledger *ledger) {
    return __builtin_expect(ledger->threads.open_count == 0, 1) ? ledger->begun
                                                                : ledger_birth_own(ledger);
}

/* A heap event was booked. Returns whether points are due. */
static inline bool ledger_count_event(struct ledger *ledger) {
    if (__builtin_expect(ledger->simple, 1))
        return __builtin_expect(--ledger->open[0].left_events <= 0, 0);
    return ledger_count_event_nested(ledger);
}
