/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * damage.h: traces of real runs, damaged on purpose, and what the reader may make of them.
 *
 * The parts share one process: originals are loaded once, a way of damage changes a copy, the
 * judge has the copy read. Everything random comes from a seed and a number, so that one
 * execution can be done again alone.
 */
#pragma once

#include "trace_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAMAGE_WHY_BYTES 512

struct damage_chunk {
    uint64_t offset;
    uint64_t bytes; /* header included */
};

/* A trace as it was written, up to its used_bytes and a page of what is behind. */
struct damage_original {
    const char *path;
    uint8_t *bytes;
    size_t size;
    uint8_t *early; /* the same file half-way through the run, `size` bytes; NULL: not kept */
    uint64_t used_bytes;
    struct damage_chunk *chunks;
    size_t chunk_count;
    struct damage_truth *truth; /* what the reader says of it */
};

/*
 * Load @path, and @path.early if it is there. Returns 0; -EBADMSG when it is no whole trace;
 * another negative errno.
 */
int damage_original_load(const char *path, struct damage_original *ret_original);
void damage_original_finish(struct damage_original *original);

struct damage_random {
    uint64_t state;
};

struct damage_random damage_random_of(uint64_t seed, uint64_t number);
uint64_t damage_below(struct damage_random *random, uint64_t limit);

/* One way to damage a file. */
struct damage_way {
    const char *name;
    bool only_cuts; /* what is left of the file is as it was written */
    /*
     * Damage @bytes, a copy of the original's. May make *size smaller. @turn counts the uses of
     * this way: whoever goes through all places does so by it.
     */
    void (*damage)(const struct damage_original *original, uint64_t turn,
                   struct damage_random *random, uint8_t *bytes, size_t *size);
};

extern const struct damage_way damage_ways[];
extern const size_t damage_way_count;

enum damage_verdict {
    DAMAGE_REFUSED, /* with a reason in words */
    DAMAGE_CUT,     /* accepted and said to be cut off; its totals are what they were */
    DAMAGE_SAME,    /* accepted, and every number is what it was */
    DAMAGE_COUNTS,  /* accepted; only how much was allocated and freed again differs */
    DAMAGE_OTHER,   /* accepted, all invariants hold, and something that was live differs */
    DAMAGE_BROKEN,  /* accepted and wrong, or more memory taken than the file is worth */
    DAMAGE_VERDICTS,
};

/*
 * Have @bytes read as votreport import does before it looks for symbols, and judge the outcome.
 * @why says what is wrong when it is DAMAGE_BROKEN.
 */
enum damage_verdict damage_judge(const struct damage_original *original,
                                 const struct damage_way *way, const uint8_t *bytes,
                                 size_t size, char why[DAMAGE_WHY_BYTES]);

/* What the reader says of an undamaged file; NULL, and @why, when it says nothing. */
struct damage_truth *damage_truth_of(const uint8_t *bytes, size_t size,
                                     char why[DAMAGE_WHY_BYTES]);
void damage_truth_free(struct damage_truth *truth);

/* One region and space in the words of the witness. */
struct damage_sums {
    int64_t start_blocks, start_bytes;
    int64_t live_blocks, live_bytes;
    int64_t peak_bytes;
    int64_t allocated_blocks, allocated_bytes;
    int64_t freed_blocks, freed_bytes;
};

/*
 * Does the independent check of tests/witness find the invariants kept? Returns 0 and the sums
 * over its sites of each region and space, [region * TRACE_SPACES + space], to be freed; -1 and
 * @why. *ret_in_event: how many were inside an event, where sums may be behind.
 */
int damage_witness(const uint8_t *bytes, size_t size, struct damage_sums **ret_sums,
                   unsigned *ret_in_event, char why[DAMAGE_WHY_BYTES]);

/* Memory asked for through the wrapped functions since damage_memory_begin(). */
void damage_memory_begin(void);
uint64_t damage_memory_requested(void);
int64_t damage_memory_blocks(void); /* not given back */
