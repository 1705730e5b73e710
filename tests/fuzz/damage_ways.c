/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * damage_ways.c: what a power cut, a bad disk or a stranger can do to a file.
 *
 * A file system that lost power may have written some pages and not others: those are zeros, or
 * what they were before. A disk loses sectors of 512 bytes. Bits flip anywhere; most of a trace
 * is zeros that nobody reads, so some of them are aimed.
 */
#include "damage.h"

#include <string.h>

#define PAGE   4096u
#define SECTOR 512u

/* splitmix64: any state is a good one. */
static uint64_t next(struct damage_random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct damage_random damage_random_of(uint64_t seed, uint64_t number) {
    struct damage_random random = {seed};
    random.state = next(&random) + number;
    random.state = next(&random);
    return random;
}

uint64_t damage_below(struct damage_random *random, uint64_t limit) {
    return next(random) % limit;
}

static void flip(uint8_t *byte, struct damage_random *random) {
    *byte ^= (uint8_t)(1u << damage_below(random, 8));
}

/* The payload of some chunk; NULL for one without. */
static uint8_t *some_payload(const struct damage_original *original,
                             struct damage_random *random, uint8_t *bytes, uint64_t *ret_size) {
    const struct damage_chunk *chunk =
        &original->chunks[damage_below(random, original->chunk_count)];
    *ret_size = chunk->bytes - sizeof(struct trace_chunk);
    return *ret_size > 0 ? bytes + chunk->offset + sizeof(struct trace_chunk) : NULL;
}

/* Every length once in size + 1 turns, spread evenly in fewer: steps of the golden ratio. */
static void cut_anywhere(const struct damage_original *original, uint64_t turn,
                         struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)random;
    (void)bytes;
    uint64_t places = original->size + 1;
    uint64_t step = places * 40503 / 65536 | 1;
    for (uint64_t a = places, b = step; b != 1;) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
        if (b == 0) { /* a divisor in common: try the next odd one */
            step += 2;
            a = places;
            b = step;
        }
    }
    *size = turn % places * step % places;
}

static void cut_at_chunk(const struct damage_original *original, uint64_t turn,
                         struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)bytes;
    const struct damage_chunk *chunk = &original->chunks[turn % original->chunk_count];
    *size = chunk->offset + damage_below(random, 2 * sizeof(struct trace_chunk)) -
            sizeof(struct trace_chunk) / 2;
}

static void flip_anywhere(const struct damage_original *original, uint64_t turn,
                          struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)turn;
    (void)size;
    for (uint64_t left = 1 + damage_below(random, 8); left > 0; left--)
        flip(&bytes[damage_below(random, original->used_bytes)], random);
}

static void flip_in_header(const struct damage_original *original, uint64_t turn,
                           struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)original;
    (void)turn;
    (void)size;
    for (uint64_t left = 1 + damage_below(random, 4); left > 0; left--)
        flip(&bytes[damage_below(random, sizeof(struct trace_header))], random);
}

static void flip_in_chunk_header(const struct damage_original *original, uint64_t turn,
                                 struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)turn;
    (void)size;
    for (uint64_t left = 1 + damage_below(random, 4); left > 0; left--) {
        const struct damage_chunk *chunk =
            &original->chunks[damage_below(random, original->chunk_count)];
        flip(&bytes[chunk->offset + damage_below(random, sizeof(struct trace_chunk))], random);
    }
}

/* In a byte that is not zero: entries in use, and among them what was counted. */
static void flip_in_entries(const struct damage_original *original, uint64_t turn,
                            struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)turn;
    (void)size;
    for (uint64_t left = 1 + damage_below(random, 3); left > 0;) {
        uint64_t payload_bytes;
        uint8_t *payload = some_payload(original, random, bytes, &payload_bytes);
        for (unsigned tries = 0; payload != NULL && tries < 16; tries++) {
            uint8_t *byte = &payload[damage_below(random, payload_bytes)];
            if (*byte == 0 && tries < 15)
                continue;
            flip(byte, random);
            break;
        }
        left--;
    }
}

/* Whole fields that say something extreme, or almost the right thing. */
static void odd_numbers(const struct damage_original *original, uint64_t turn,
                        struct damage_random *random, uint8_t *bytes, size_t *size) {
    static const uint64_t numbers[] = {
        0,          1, 2, 0xff, 0xffff, INT32_MAX, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MIN,
        UINT64_MAX,
    };
    size_t count = sizeof(numbers) / sizeof(numbers[0]);
    (void)turn;
    (void)size;
    for (uint64_t left = 1 + damage_below(random, 3); left > 0; left--) {
        uint64_t room = sizeof(struct trace_header);
        uint8_t *at = bytes;
        if (damage_below(random, 2) == 0)
            at = some_payload(original, random, bytes, &room);
        if (at == NULL)
            continue;
        at += damage_below(random, room / 4) * 4;
        size_t field_bytes = (at - bytes) % 8 == 0 && damage_below(random, 2) == 0 ? 8 : 4;
        uint64_t number = 0;
        memcpy(&number, at, field_bytes);
        uint64_t choice = damage_below(random, count + 2);
        number = choice < count ? numbers[choice] : choice == count ? number + 1 : number - 1;
        memcpy(at, &number, field_bytes);
    }
}

static void lose_blocks(const struct damage_original *original, struct damage_random *random,
                        uint8_t *bytes, size_t block_bytes, const uint8_t *instead) {
    for (uint64_t left = 1 + damage_below(random, 3); left > 0; left--) {
        size_t at = damage_below(random, original->size / block_bytes) * block_bytes;
        if (instead != NULL)
            memcpy(bytes + at, instead + at, block_bytes);
        else
            memset(bytes + at, 0, block_bytes);
    }
}

static void lose_pages(const struct damage_original *original, uint64_t turn,
                       struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)turn;
    (void)size;
    lose_blocks(original, random, bytes, PAGE, NULL);
}

static void lose_sectors(const struct damage_original *original, uint64_t turn,
                         struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)turn;
    (void)size;
    lose_blocks(original, random, bytes, SECTOR, NULL);
}

/* Pages of half-way through the run among those of its end; without such, pages of zeros. */
static void stale_pages(const struct damage_original *original, uint64_t turn,
                        struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)turn;
    (void)size;
    lose_blocks(original, random, bytes, PAGE, original->early);
}

/* The other way round: of the second half of the run only some pages were written. */
static void few_pages_written(const struct damage_original *original, uint64_t turn,
                              struct damage_random *random, uint8_t *bytes, size_t *size) {
    if (original->early == NULL) {
        lose_pages(original, turn, random, bytes, size);
        return;
    }
    memcpy(bytes, original->early, original->size);
    lose_blocks(original, random, bytes, PAGE, original->bytes);
}

/* Bytes of one place in another: a chunk that is there twice, rows of another region. */
static void misplace(const struct damage_original *original, uint64_t turn,
                     struct damage_random *random, uint8_t *bytes, size_t *size) {
    (void)turn;
    (void)size;
    const struct damage_chunk *from =
        &original->chunks[damage_below(random, original->chunk_count)];
    const struct damage_chunk *to =
        &original->chunks[damage_below(random, original->chunk_count)];
    uint64_t count = from->bytes < to->bytes ? from->bytes : to->bytes;
    uint64_t skip = damage_below(random, 2) == 0 ? 0 : sizeof(struct trace_chunk);
    memmove(bytes + to->offset + skip, original->bytes + from->offset + skip, count - skip);
}

const struct damage_way damage_ways[] = {
    {"cut at any byte", true, cut_anywhere},
    {"cut near the head of a chunk", true, cut_at_chunk},
    {"1 to 8 bits flipped anywhere", false, flip_anywhere},
    {"bits flipped in the header", false, flip_in_header},
    {"bits flipped in heads of chunks", false, flip_in_chunk_header},
    {"bits flipped in entries", false, flip_in_entries},
    {"odd numbers in fields", false, odd_numbers},
    {"pages of 4096 zeros", false, lose_pages},
    {"sectors of 512 zeros", false, lose_sectors},
    {"pages from half-way through the run", false, stale_pages},
    {"only some pages of the second half", false, few_pages_written},
    {"a chunk over another", false, misplace},
};

const size_t damage_way_count = sizeof(damage_ways) / sizeof(damage_ways[0]);
