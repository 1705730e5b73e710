/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h: xorshift64*, so that a seed gives the same test on every machine. */
#pragma once

#include <stdint.h>

struct random {
    uint64_t state; /* not 0 */
};

static inline uint64_t random_next(struct random *random) {
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(0x2545f4914f6cdd1d);
}

/* 0 .. limit-1 */
static inline uint64_t random_below(struct random *random, uint64_t limit) {
    return (random_next(random) >> 16) % limit;
}
