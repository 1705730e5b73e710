/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * churn.c: the allocator's busiest customer, for timing what a profiler adds to it.
 *
 * Every step goes down a chain of functions that are not inlined, allocates a block there and
 * frees the block that was allocated `live` steps ago. Three of the functions call on from one
 * of two places, by the step's number, so that there are eight call sites rather than one that
 * a profiler could guess. Sizes run from 16 to 143 bytes. Every thread has its own blocks, or
 * half of the threads allocate what the others free; the counts are the same in every run that
 * is not ended by the clock, and no block is left at the end.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_FRAMES        16
#define MAX_THREADS       64
#define STEPS_BY_THE_TIME 4096 /* between two looks at the clock */

/* How far the thread that allocates and the one that frees have come, in steps. */
struct belt {
    _Alignas(64) _Atomic uint64_t given;
    _Alignas(64) _Atomic uint64_t taken;
};

struct churn {
    void **ring;       /* the live blocks, oldest at step % live */
    struct belt *belt; /* NULL: each thread frees its own blocks */
    uint64_t live;     /* places in the ring */
    uint64_t count;    /* steps to go, all threads do as many */
    uint64_t seconds;  /* 0, or go on for so long instead */
    uint64_t frames;   /* depth of the call chain, 1..MAX_FRAMES */
    uint64_t failed;   /* allocations that were refused */
};

/*
 * The barrier keeps the compiler from turning the call into a jump, which would drop a frame.
 */
#define STAY_ON_STACK() __asm__ volatile("" ::: "memory")

/* The place of this step is empty when what was put there `live` steps ago has been taken. */
static void wait_for_place(const struct churn *churn, uint64_t step) {
    while (step - atomic_load_explicit(&churn->belt->taken, memory_order_acquire) >=
           churn->live)
        sched_yield();
}

__attribute__((noinline)) static void frame_1(struct churn *churn, uint64_t step) {
    void **slot = &churn->ring[step % churn->live];
    if (churn->belt == NULL)
        free(*slot);
    else
        wait_for_place(churn, step);
    size_t size_bytes = 16 + step % 128;
    void *block = malloc(size_bytes);
    if (block)
        memset(block, 1, size_bytes); /* what a program asks for it also writes */
    else
        churn->failed++;
    *slot = block;
    if (churn->belt != NULL)
        atomic_store_explicit(&churn->belt->given, step + 1, memory_order_release);
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

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *run(void *argument) {
    struct churn *churn = argument;
    void (*top)(struct churn *, uint64_t) = chain[churn->frames - 1];
    uint64_t end_ns = churn->seconds > 0 ? now_ns() + churn->seconds * 1000000000 : 0;
    for (uint64_t step = 0; step < churn->count; step++) {
        top(churn, step);
        if (end_ns > 0 && step % STEPS_BY_THE_TIME == 0 && now_ns() >= end_ns)
            break;
    }
    if (churn->belt != NULL)
        return NULL;
    for (uint64_t i = 0; i < churn->live; i++)
        free(churn->ring[i]);
    return NULL;
}

/* The other end of a belt: free what run() allocates in another thread. */
static void *run_taker(void *argument) {
    const struct churn *churn = argument;
    for (uint64_t step = 0; step < churn->count; step++) {
        while (atomic_load_explicit(&churn->belt->given, memory_order_acquire) <= step)
            sched_yield();
        free(churn->ring[step % churn->live]);
        atomic_store_explicit(&churn->belt->taken, step + 1, memory_order_release);
    }
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

/* One end of a belt would wait for the other for ever: without all threads there is no run. */
static void start(pthread_t *ret_handle, void *(*work)(void *), struct churn *churn) {
    int error = pthread_create(ret_handle, NULL, work, churn);
    if (error == 0)
        return;
    fprintf(stderr, "churn: no thread: %s\n", strerror(error));
    exit(2);
}

/*
 * Run @threads copies of @model at once, or half as many with two threads each when @hand_over
 * is set. Returns 0 or a negative errno.
 */
static int run_threads(const struct churn *model, uint64_t threads, bool hand_over) {
    static struct belt belts[MAX_THREADS];
    struct churn churns[MAX_THREADS];
    pthread_t handles[MAX_THREADS];
    uint64_t count = hand_over ? threads / 2 : threads;
    uint64_t failed = 0;
    void **rings = calloc(count * model->live, sizeof(*rings));
    if (!rings)
        return -ENOMEM;

    for (uint64_t i = 0; i < count; i++) {
        churns[i] = *model;
        churns[i].belt = hand_over ? &belts[i] : NULL;
        churns[i].ring = rings + i * model->live;
    }
    for (uint64_t i = 0; i < threads; i++)
        start(&handles[i], i < count ? run : run_taker, &churns[i % count]);
    for (uint64_t i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    for (uint64_t i = 0; i < count; i++)
        failed += churns[i].failed;
    free(rings);
    return failed > 0 ? -ENOMEM : 0;
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
    "Usage: churn [--count N] [--frames N] [--threads N] [--live N] [--seconds N]\n"
    "             [--hand-over]\n"
    "\n"
    "Allocate and free N blocks (default 5000000) in each thread (1), at the end of a chain\n"
    "of that many function calls (10), with that many blocks live at a time (1).\n"
    "\n"
    "  --seconds N   go on for N seconds, however many blocks that are\n"
    "  --hand-over   half of the threads allocate, each of the others frees what one of them\n"
    "                allocated; up to --live blocks are between the two\n";

struct options {
    struct churn model;
    uint64_t threads;
    bool hand_over;
};

static int refuse(const char *message) {
    fprintf(stderr, "churn: %s, see --help\n", message);
    return -EINVAL;
}

/* Read the options into @ret_options, which has the defaults; -EINVAL after a message. */
static int parse_options(int argc, char **argv, struct options *ret_options) {
    static const struct option names[] = {
        {"count", required_argument, NULL, 0},
        {"frames", required_argument, NULL, 1},
        {"threads", required_argument, NULL, 2},
        {"live", required_argument, NULL, 3},
        {"seconds", required_argument, NULL, 4},
        {"hand-over", no_argument, NULL, 'h'},
        {0},
    };
    struct churn *model = &ret_options->model;
    const struct {
        uint64_t largest;
        uint64_t *number;
    } numbers[] = {
        {UINT64_C(1) << 40, &model->count},
        {MAX_FRAMES, &model->frames},
        {MAX_THREADS, &ret_options->threads},
        {UINT64_C(1) << 30, &model->live},
        {86400, &model->seconds},
    };

    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (option == '?')
            return -EINVAL;
        if (option == 'h') {
            ret_options->hand_over = true;
        } else if (parse_number(optarg, numbers[option].largest, numbers[option].number) < 0) {
            fprintf(stderr, "churn: --%s takes a number from 1 to %" PRIu64 ", not '%s'\n",
                    names[option].name, numbers[option].largest, optarg);
            return -EINVAL;
        }
    }
    if (optind < argc)
        return refuse("there are no arguments but options");
    if (ret_options->hand_over && ret_options->threads % 2 != 0)
        return refuse("--hand-over needs an even number of --threads");
    if (ret_options->hand_over && model->seconds > 0)
        return refuse("--hand-over goes by --count, not by --seconds");
    if (model->seconds > 0)
        model->count = UINT64_MAX;
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }

    struct options options = {
        .model = {.count = 5000000, .frames = 10, .live = 1},
        .threads = 1,
    };
    if (parse_options(argc, argv, &options) < 0)
        return 2;

    int result = options.threads == 1
                     ? run_here(&options.model)
                     : run_threads(&options.model, options.threads, options.hand_over);
    if (result < 0) {
        fprintf(stderr, "churn: %s\n", strerror(-result));
        return 2;
    }
    return 0;
}
