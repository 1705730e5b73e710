/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger.h: the accounting. Regions, and in each of them a row of counters for every site.
 *
 * Pure bookkeeping in the trace file's memory: no locks, no stacks, no addresses. The
 * recorder's lock guards it.
 */
#pragma once

#include "trace_layout.h"
#include "tracefile.h"
#include "votrace.h"

#include <stdbool.h>

#define LEDGER_OPEN_MAX          64u /* nested or overlapping regions at one time */
#define LEDGER_NAMES_MAX         256u
#define LEDGER_REGIONS_MAX       262144u /* instances of all names */
#define LEDGER_KEPT_INSTANCES    8u      /* of each name: the worst, with their rows */
#define LEDGER_REGIONS_PER_CHUNK 16u

/* Two counters moved by one instruction, so that no kill can part them. */
typedef uint64_t ledger_pair __attribute__((vector_size(16), may_alias));

struct ledger_region {
    struct trace_region *record;
    struct trace_row **rows; /* rows[site / TRACE_ROWS_PER_CHUNK] -> that chunk's first row */
    uint32_t id;
    uint32_t name;  /* index in ledger.names */
    uint32_t birth; /* blocks born as this or later were allocated inside the region */
};

struct ledger_name {
    char name[TRACE_NAME_BYTES];
    uint32_t instances;
    uint32_t kept_count;
    struct trace_region *youngest;
    struct ledger_region kept[LEDGER_KEPT_INSTANCES];
};

struct ledger {
    struct tracefile *file;
    struct ledger_region
        open[LEDGER_OPEN_MAX]; /* open[0] is the process, the last the youngest */
    uint32_t open_count;
    uint32_t region_count;
    uint32_t begun; /* regions begun so far: the birth of a block allocated now */
    uint32_t name_count;
    struct ledger_name *names;
    struct trace_region *record_chunk; /* where the next record goes */
    struct trace_row *free_rows;       /* chunks given up, linked through their first bytes */
    struct trace_row **free_directory; /* the same for directories */
};

/* Where and when a region begins or ends. */
struct ledger_moment {
    uint64_t elapsed_ns; /* since the start of the trace */
    uint64_t cpu_ns;     /* of the process */
    uint32_t thread;     /* kernel thread id */
};

/* Begins region 0, "process". Returns 0 or -ENOMEM. */
int ledger_init(struct ledger *ledger, struct tracefile *file, const struct ledger_moment *now);

/* Begin an instance of @name. Returns 0; -ENOSPC, counted in regions_dropped, beyond a limit.
 */
int ledger_begin(struct ledger *ledger, const char *name, const struct ledger_moment *now);

/* End the youngest open instance of @name. Returns 0; -ENOENT, counted in unbalanced_ends. */
int ledger_end(struct ledger *ledger, const char *name, const struct ledger_moment *now);

/* Totals of the youngest instance of @name. Returns 0 or -ENOENT. */
int ledger_query(const struct ledger *ledger, const char *name,
                 struct votrace_region_totals *ret_totals);

/*
 * Book @blocks blocks of together @bytes bytes as allocated by @site. Returns false, with
 * nothing booked and the event counted as lost, when memory for a row is refused.
 */
bool ledger_allocate(struct ledger *ledger, enum trace_space space, uint32_t site,
                     uint64_t blocks, uint64_t bytes);

/*
 * Book them as freed. @birth: ledger.begun when they were allocated. @temporary: the free was
 * the very next event of the allocating thread. Returns as above.
 */
bool ledger_free(struct ledger *ledger, enum trace_space space, uint32_t site, uint64_t blocks,
                 uint64_t bytes, uint32_t birth, bool temporary);

/* Count a call that returned NULL or MAP_FAILED; or a reallocation, beside its two bookings. */
void ledger_count_failed(struct ledger *ledger, enum trace_space space);
void ledger_count_reallocation(struct ledger *ledger, enum trace_space space);
