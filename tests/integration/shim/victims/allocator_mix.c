/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 20,000 steps of every call that allocates, with sizes up to 3 MB, in main and in 3 threads
 * which have their turns one after the other, so that whatever serves them is asked for the
 * same; the last one only frees. In the end nothing is left.
 */
#include "crew.h"

#define SLOTS 400
#define STEPS 5000

static void *slots[SLOTS];

static size_t pick_size(uint32_t *random) {
    uint32_t choice = crew_random(random);
    if (choice % 500 == 0)
        return choice % 3000000;
    return choice % 20 == 0 ? choice % 40000 : choice % 700;
}

static void *allocate(uint32_t *random) {
    size_t size = pick_size(random);
    void *block = NULL;
    switch (crew_random(random) % 8) {
    case 0:
        return calloc(1, size);
    case 1:
        return realloc(NULL, size);
    case 2:
        return reallocarray(NULL, size, 1);
    case 3:
        return posix_memalign(&block, 64, size) == 0 ? block : NULL;
    case 4:
        return aligned_alloc(32, size);
    case 5:
        return memalign(256, size);
    case 6:
        return strndup("some text that is copied", size % 24);
    default:
        return malloc(size);
    }
}

static void *run(void *data) {
    uint32_t random = (uint32_t)(uintptr_t)data * 2654435761U + 1;
    for (int i = 0; i < STEPS; i++) {
        void **slot = &slots[crew_random(&random) % SLOTS];
        uint32_t choice = crew_random(&random) % 4;
        if (*slot == NULL) {
            *slot = opaque(allocate(&random));
        } else if (choice == 0) {
            *slot = opaque(realloc(*slot, pick_size(&random) + 1));
        } else {
            free(*slot);
            *slot = NULL;
        }
    }
    return NULL;
}

/* The crew's threads have their turns by their numbers; main is number 0. */
static void *work(void *data) {
    uintptr_t thread = (uintptr_t)data + 1;
    for (uintptr_t turn = 0; turn < 5; turn++) {
        crew_meet();
        if (turn == thread && turn < 4)
            run(data);
        for (int i = 0; turn == thread && turn == 4 && i < SLOTS; i++)
            free(slots[i]);
    }
    crew_meet();
    return NULL;
}

int main(void) {
    crew_start(4, work);
    votrace_region_begin("v");
    crew_meet();
    run((void *)(uintptr_t)99);
    for (int turn = 0; turn < 5; turn++)
        crew_meet();
    votrace_region_end("v");
    crew_join();
    puts("done");
    return 0;
}
