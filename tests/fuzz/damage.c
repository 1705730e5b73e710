/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * damage.c: damage traces of real runs, one way after the other, and have each read.
 *
 *     damage [--executions N] [--first N] [--seed N] [--tell N] [--keep FOLDER] TRACE...
 *
 * A worker process does it, and notes in shared memory where it is: a crash, or a loop that the
 * alarm ends, is then known by its number, and the next worker goes on behind it. Prints TAP,
 * one test a way of damage, with what became of its files.
 */
#include "damage.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAYS_MAX           16
#define SECONDS_FOR_A_FILE 30

struct counts {
    uint64_t verdicts[DAMAGE_VERDICTS];
    uint64_t crashes;
};

/* Seen by the worker and by who waits for it. */
struct progress {
    uint64_t execution; /* in work, or the next one */
    uint64_t told;
    uint64_t slowest_ns;
    uint64_t slowest_execution;
    struct counts ways[WAYS_MAX];
};

struct damage {
    struct damage_original *originals;
    size_t original_count;
    uint64_t first;
    uint64_t executions;
    uint64_t seed;
    uint64_t tell;    /* so many failures, and no more */
    const char *keep; /* folder for what was accepted and is wrong; NULL: none */
    struct progress *progress;
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const struct damage_original *original_of(const struct damage *damage,
                                                 uint64_t execution) {
    return &damage->originals[execution / damage_way_count % damage->original_count];
}

/* The file of this execution, in a block of exactly its size, for sanitizers to see its end. */
static uint8_t *damaged_bytes(const struct damage *damage, uint64_t execution,
                              size_t *ret_size) {
    const struct damage_original *original = original_of(damage, execution);
    const struct damage_way *way = &damage_ways[execution % damage_way_count];
    struct damage_random random = damage_random_of(damage->seed, execution);
    size_t size = original->size;
    uint8_t *bytes = malloc(size);
    if (bytes == NULL)
        abort();
    memcpy(bytes, original->bytes, size);
    way->damage(original, execution / (damage_way_count * damage->original_count), &random,
                bytes, &size);
    uint8_t *exact = realloc(bytes, size > 0 ? size : 1);
    if (exact == NULL)
        abort();
    *ret_size = size;
    return exact;
}

static void keep_bytes(const struct damage *damage, uint64_t execution, const uint8_t *bytes,
                       size_t size) {
    char path[4096];
    if (damage->keep == NULL)
        return;
    snprintf(path, sizeof(path), "%s/damage-%" PRIu64 "-%" PRIu64 ".vtr", damage->keep,
             damage->seed, execution);
    FILE *file = fopen(path, "wbe");
    if (file == NULL || fwrite(bytes, 1, size, file) != size)
        printf("# %s cannot be written\n", path);
    if (file != NULL)
        fclose(file);
}

static void tell(const struct damage *damage, uint64_t execution, const char *what) {
    if (damage->progress->told++ >= damage->tell)
        return;
    printf("# %s, %s: %s\n#   again: --seed %" PRIu64 " --first %" PRIu64 " --executions 1\n",
           damage_ways[execution % damage_way_count].name, original_of(damage, execution)->path,
           what, damage->seed, execution);
    fflush(stdout);
}

static void execute(const struct damage *damage, uint64_t execution) {
    struct progress *progress = damage->progress;
    char why[DAMAGE_WHY_BYTES];
    size_t size;
    uint8_t *bytes = damaged_bytes(damage, execution, &size);
    const struct damage_way *way = &damage_ways[execution % damage_way_count];

    alarm(SECONDS_FOR_A_FILE);
    uint64_t began_ns = now_ns();
    enum damage_verdict verdict =
        damage_judge(original_of(damage, execution), way, bytes, size, why);
    uint64_t took_ns = now_ns() - began_ns;
    alarm(0);

    if (took_ns > progress->slowest_ns) {
        progress->slowest_ns = took_ns;
        progress->slowest_execution = execution;
    }
    progress->ways[execution % damage_way_count].verdicts[verdict]++;
    if (verdict == DAMAGE_BROKEN) {
        if (progress->told < damage->tell)
            keep_bytes(damage, execution, bytes, size);
        tell(damage, execution, why);
    }
    free(bytes);
}

/* Until all is done or the worker dies: returns how it ended, as waitpid() says it. */
static int run_worker(const struct damage *damage) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        perror("damage: fork");
        exit(2);
    }
    if (pid == 0) {
        struct progress *progress = damage->progress;
        for (; progress->execution < damage->first + damage->executions; progress->execution++)
            execute(damage, progress->execution);
        for (size_t i = 0; i < damage->original_count; i++)
            damage_original_finish(&damage->originals[i]);
        free(damage->originals);
        exit(0);
    }
    int status;
    if (waitpid(pid, &status, 0) != pid)
        exit(2);
    return status;
}

static void run(const struct damage *damage) {
    struct progress *progress = damage->progress;
    for (;;) {
        int status = run_worker(damage);
        uint64_t execution = progress->execution;
        if (status == 0)
            return;
        if (execution >= damage->first + damage->executions) { /* all read, then a leak */
            progress->ways[0].crashes++;
            return;
        }
        progress->ways[execution % damage_way_count].crashes++;
        tell(damage, execution,
             WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "no end" : "a crash");
        progress->execution++;
    }
}

static void print_counts(const struct counts *counts) {
    static const char *const words[DAMAGE_VERDICTS] = {
        [DAMAGE_REFUSED] = "refused",
        [DAMAGE_CUT] = "called cut off",
        [DAMAGE_SAME] = "with all numbers",
        [DAMAGE_COUNTS] = "with other counts",
        [DAMAGE_OTHER] = "with other sizes that add up",
        [DAMAGE_BROKEN] = "wrong",
    };
    for (size_t i = 0; i < DAMAGE_VERDICTS; i++)
        printf("%" PRIu64 " %s, ", counts->verdicts[i], words[i]);
    printf("%" PRIu64 " crashes\n", counts->crashes);
}

static bool report(const struct damage *damage) {
    const struct progress *progress = damage->progress;
    struct counts all = {0};
    for (size_t i = 0; i < damage_way_count; i++) {
        const struct counts *counts = &progress->ways[i];
        bool failed = counts->verdicts[DAMAGE_BROKEN] > 0 || counts->crashes > 0;
        printf("%s %zu - %s: ", failed ? "not ok" : "ok", i + 1, damage_ways[i].name);
        print_counts(counts);
        for (size_t verdict = 0; verdict < DAMAGE_VERDICTS; verdict++)
            all.verdicts[verdict] += counts->verdicts[verdict];
        all.crashes += counts->crashes;
    }
    printf("# all %" PRIu64 ": ", damage->executions);
    print_counts(&all);
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("# the slowest (%" PRIu64 ") took %.1f ms; %ld MiB resident at most\n",
           progress->slowest_execution, (double)progress->slowest_ns / 1e6,
           usage.ru_maxrss / 1024);
    printf("1..%zu\n", damage_way_count);
    return all.verdicts[DAMAGE_BROKEN] == 0 && all.crashes == 0;
}

static bool load_originals(struct damage *damage, char **paths) {
    damage->originals = calloc(damage->original_count, sizeof(*damage->originals));
    if (damage->originals == NULL)
        abort();
    for (size_t i = 0; i < damage->original_count; i++) {
        struct damage_original *original = &damage->originals[i];
        char why[DAMAGE_WHY_BYTES];
        int r = damage_original_load(paths[i], original);
        if (r < 0) {
            fprintf(stderr, "damage: %s: %s\n", paths[i], strerror(-r));
            return false;
        }
        original->truth = damage_truth_of(original->bytes, original->size, why);
        if (original->truth == NULL) {
            fprintf(stderr, "damage: %s: refused as it is: %s\n", paths[i], why);
            return false;
        }
    }
    return true;
}

static const char usage[] =
    "Usage: damage [--executions N] [--first N] [--seed N] [--tell N] [--keep FOLDER]\n"
    "              TRACE...\n"
    "\n"
    "Damage the traces N times (default 20000) and read what is left. --first begins with\n"
    "another execution than 0. --keep writes there what was accepted and should not have "
    "been.\n"
    "TRACE.early, if there is one, is the same file at an earlier time.\n";

static bool parse_options(int argc, char **argv, struct damage *damage) {
    static const struct option options[] = {
        {"executions", required_argument, NULL, 0}, {"first", required_argument, NULL, 1},
        {"seed", required_argument, NULL, 2},       {"tell", required_argument, NULL, 3},
        {"keep", required_argument, NULL, 4},       {0},
    };
    uint64_t *numbers[] = {&damage->executions, &damage->first, &damage->seed, &damage->tell};
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 4) {
            damage->keep = optarg;
            continue;
        }
        char *end = NULL;
        if (option != '?')
            *numbers[option] = strtoull(optarg, &end, 10);
        if (option == '?' || *optarg < '0' || *optarg > '9' || *end != '\0')
            return false;
    }
    damage->original_count = (size_t)(argc - optind);
    return damage->original_count > 0;
}

int main(int argc, char **argv) {
    struct damage damage = {.executions = 20000, .seed = 1, .tell = 10};
    if (!parse_options(argc, argv, &damage) || damage_way_count > WAYS_MAX) {
        fputs(usage, stderr);
        return 2;
    }
    damage.progress = mmap(NULL, sizeof(*damage.progress), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (damage.progress == MAP_FAILED || !load_originals(&damage, argv + optind))
        return 2;
    damage.progress->execution = damage.first;
    run(&damage);
    bool passed = report(&damage);
    for (size_t i = 0; i < damage.original_count; i++)
        damage_original_finish(&damage.originals[i]);
    free(damage.originals);
    return passed ? 0 : 1;
}
