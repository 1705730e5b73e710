/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * churn.c: the allocator's busiest customer, for timing what a profiler adds to it.
 *
 * Every step goes down a chain of functions that are not inlined, allocates a block there and
 * frees the block that was allocated `live` steps ago. Three of the functions call on from one
 * of two places, by the step's number, so that there are eight call sites rather than one that
 * a profiler could guess. Sizes run from 16 to 143 bytes. Every thread has its own blocks; the
 * counts are the same in every run, and no block is left at the end.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES  16
#define MAX_THREADS 64

struct churn {
    void **ring;     /* the live blocks, oldest at step % live */
    uint64_t live;   /* how many there are */
    uint64_t count;  /* steps to go, all threads do as many */
    uint64_t frames; /* depth of the call chain, 1..MAX_FRAMES */
    uint64_t failed; /* allocations that were refused */
};

/*
 * The barrier keeps the compiler from turning the call into a jump, which would drop a frame.
 */
#define STAY_ON_STACK() __asm__ volatile("" ::: "memory")

__attribute__((noinline)) static void frame_1(struct churn *churn, uint64_t step) {
    void **slot = &churn->ring[step % churn->live];
    free(*slot);
    size_t size_bytes = 16 + step % 128;
    void *block = malloc(size_bytes);
    if (block)
        memset(block, 1, size_bytes); /* what a program asks for it also writes */
    else
        churn->failed++;
    *slot = block;
    STAY_ON_STACK();
}

/* A function at @depth frames above the allocation, that calls the next one from one place. */
#define FRAME(depth, below)                                                                    \
    __attribute__((noinline)) static void frame_##depth(struct churn *churn, uint64_t step) {  \
        frame_##below(churn, step);                                                            \
        STAY_ON_STACK();                                                                       \
    }

/* The same, from one of two places by a bit of the step's number. */
#define FORK(depth, below, bit)                                                                \
    __attribute__((noinline)) static void frame_##depth(struct churn *churn, uint64_t step) {  \
        if ((step >> (bit)) & 1) {                                                             \
            frame_##below(churn, step);                                                        \
            STAY_ON_STACK();                                                                   \
        } else {                                                                               \
            frame_##below(churn, step);                                                        \
            __asm__ volatile("nop" ::: "memory"); /* differs, so that the two stay apart */    \
        }                                                                                      \
    }

FORK(2, 1, 0)
FRAME(3, 2)
FORK(4, 3, 3)
FRAME(5, 4)
FORK(6, 5, 6)
FRAME(7, 6)
FRAME(8, 7)
FRAME(9, 8)
FRAME(10, 9)
FRAME(11, 10)
FRAME(12, 11)
FRAME(13, 12)
FRAME(14, 13)
FRAME(15, 14)
FRAME(16, 15)

static void (*const chain[MAX_FRAMES])(struct churn *, uint64_t) = {
    frame_1, frame_2,  frame_3,  frame_4,  frame_5,  frame_6,  frame_7,  frame_8,
    frame_9, frame_10, frame_11, frame_12, frame_13, frame_14, frame_15, frame_16,
};

static void *run(void *argument) {
    struct churn *churn = argument;
    void (*top)(struct churn *, uint64_t) = chain[churn->frames - 1];
    for (uint64_t step = 0; step < churn->count; step++)
        top(churn, step);
    for (uint64_t i = 0; i < churn->live; i++)
        free(churn->ring[i]);
    return NULL;
}

/* Run @model in the thread that main() is in: a program of one thread is a case of its own. */
static int run_here(const struct churn *model) {
    struct churn churn = *model;
    churn.ring = calloc(model->live, sizeof(*model->ring));
    if (!churn.ring)
        return -ENOMEM;
    run(&churn);
    free(churn.ring);
    return churn.failed > 0 ? -ENOMEM : 0;
}

/* Run @threads copies of @model at once; returns 0 or a negative errno. */
static int run_threads(const struct churn *model, uint64_t threads) {
    struct churn churns[MAX_THREADS];
    pthread_t handles[MAX_THREADS];
    uint64_t started = 0;
    int result = 0;

    for (; started < threads && result == 0; started++) {
        churns[started] = *model;
        churns[started].ring = calloc(model->live, sizeof(*model->ring));
        if (!churns[started].ring) {
            result = -ENOMEM;
            break;
        }
        result = -pthread_create(&handles[started], NULL, run, &churns[started]);
        if (result < 0) {
            free(churns[started].ring);
            break;
        }
    }
    for (uint64_t i = 0; i < started; i++) {
        pthread_join(handles[i], NULL);
        if (churns[i].failed > 0)
            result = -ENOMEM;
        free(churns[i].ring);
    }
    return result;
}

static int parse_number(const char *text, uint64_t largest, uint64_t *ret_number) {
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || number < 1 ||
        number > largest)
        return -EINVAL;
    *ret_number = number;
    return 0;
}

static const char usage[] =
    "Usage: churn [--count N] [--frames N] [--threads N] [--live N]\n"
    "\n"
    "Allocate and free N blocks (default 5000000) in each thread (1), at the end of a chain\n"
    "of that many function calls (10), with that many blocks live at a time (1).\n";

/* Read the options into @ret_model and @ret_threads; -EINVAL after a message. */
static int parse_options(int argc, char **argv, struct churn *ret_model,
                         uint64_t *ret_threads) {
    static const struct option options[] = {
        {"count", required_argument, NULL, 0},
        {"frames", required_argument, NULL, 1},
        {"threads", required_argument, NULL, 2},
        {"live", required_argument, NULL, 3},
        {0},
    };
    const struct {
        uint64_t largest;
        uint64_t *number;
    } numbers[] = {
        {UINT64_C(1) << 40, &ret_model->count},
        {MAX_FRAMES, &ret_model->frames},
        {MAX_THREADS, ret_threads},
        {UINT64_C(1) << 30, &ret_model->live},
    };

    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == '?')
            return -EINVAL;
        if (parse_number(optarg, numbers[option].largest, numbers[option].number) < 0) {
            fprintf(stderr, "churn: --%s takes a number from 1 to %" PRIu64 ", not '%s'\n",
                    options[option].name, numbers[option].largest, optarg);
            return -EINVAL;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "churn: unexpected argument '%s', see --help\n", argv[optind]);
        return -EINVAL;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }

    struct churn model = {.count = 5000000, .frames = 10, .live = 1};
    uint64_t threads = 1;
    if (parse_options(argc, argv, &model, &threads) < 0)
        return 2;

    int result = threads == 1 ? run_here(&model) : run_threads(&model, threads);
    if (result < 0) {
        fprintf(stderr, "churn: %s\n", strerror(-result));
        return 2;
    }
    return 0;
}
