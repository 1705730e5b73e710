/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * property: allocate at random with every hooked function, keep own sums, and agree with
 * votrace_region_query() to the byte.
 *
 *     property SEED THREADS STEPS [without-pvalloc]
 *
 * Some allocators have no pvalloc(): what it returns is then a block that their free() cannot
 * know.
 *
 * The model is a list of regions with plain sums; every change is added to each open one. A
 * mutex around each step makes both sides see the same order. Nothing here allocates but the
 * calls under test: threads are created before, tables are static. A difference ends the
 * program with one line and status 1.
 */
#include <votrace.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS      300
#define REGIONS     4096
#define NAMES       6
#define OPEN_MAX_   20
#define PAGE        ((size_t)4096)
#define AREA        ((void *)(uintptr_t)0x100000000000)
#define AREA_PAGES  256u
#define MAPS        16
#define THREADS_MAX 8
#define ALL_NAMES   (NAMES + 1)
#define PROCESS     NAMES

struct region {
    uint32_t name;
    bool open;
    uint32_t begun; /* regions begun before it, itself included */
    uint64_t instance;
    int64_t start, live, peak;
    int64_t owned, owned_peak;
    uint64_t allocations, frees, allocated, freed;
    int64_t anon_start, anon, anon_peak;
    int64_t combined_start, combined_peak;
};

static const char *const names[ALL_NAMES] = {"parse",  "rows", "buffer", "a name with spaces",
                                             "decode", "x",    "process"};

static struct {
    pthread_mutex_t mutex;
    pthread_barrier_t barrier;
    uint64_t random;
    uint64_t seed;
    uint64_t step;
    bool without_pvalloc;
    struct region regions[REGIONS];
    uint32_t region_count;
    uint32_t instances[ALL_NAMES];
    struct {
        unsigned char *block;
        size_t bytes;
        uint32_t birth;
    } blocks[BLOCKS];
    unsigned char *area; /* AREA_PAGES, one state each */
    enum { NONE, ANON, FILE_BACKED, RESERVED } pages[AREA_PAGES];
    struct {
        unsigned char *start;
        size_t bytes;
        bool anon;
    } maps[MAPS];
    int fd;
} test = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Random numbers */

static uint64_t next(void) {
    test.random ^= test.random >> 12;
    test.random ^= test.random << 25;
    test.random ^= test.random >> 27;
    return test.random * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static uint64_t below(uint64_t limit) {
    return next() % limit;
}

static size_t random_size(void) {
    static const size_t limits[] = {1, 16, 100, 1000, 1000, 10000, 300000};
    return below(limits[below(sizeof(limits) / sizeof(limits[0]))] + 1);
}

/* The model */

static void heap_changes(int64_t bytes, uint32_t birth, bool allocation) {
    for (uint32_t i = 0; i < test.region_count; i++) {
        struct region *region = &test.regions[i];
        if (!region->open)
            continue;
        region->live += allocation ? bytes : -bytes;
        region->allocations += allocation;
        region->frees += !allocation;
        region->allocated += allocation ? (uint64_t)bytes : 0;
        region->freed += allocation ? 0 : (uint64_t)bytes;
        if (birth >= region->begun)
            region->owned += allocation ? bytes : -bytes;
        if (region->owned > region->owned_peak)
            region->owned_peak = region->owned;
        if (region->live > region->peak)
            region->peak = region->live;
        if (region->live + region->anon > region->combined_peak)
            region->combined_peak = region->live + region->anon;
    }
}

static void anon_changes(int64_t bytes) {
    for (uint32_t i = 0; i < test.region_count; i++) {
        struct region *region = &test.regions[i];
        if (!region->open)
            continue;
        region->anon += bytes;
        if (region->anon > region->anon_peak)
            region->anon_peak = region->anon;
        if (region->live + region->anon > region->combined_peak)
            region->combined_peak = region->live + region->anon;
    }
}

static void model_begin(uint32_t name) {
    const struct region *process = &test.regions[0];
    test.regions[test.region_count] = (struct region){
        .name = name,
        .open = true,
        .begun = test.region_count,
        .instance = ++test.instances[name],
        .start = process->live,
        .live = process->live,
        .peak = process->live,
        .anon_start = process->anon,
        .anon = process->anon,
        .anon_peak = process->anon,
        .combined_start = process->live + process->anon,
        .combined_peak = process->live + process->anon,
    };
    test.region_count++;
}

/* Comparing */

_Noreturn static void differ(const char *region, const char *what, int64_t wanted,
                             int64_t got) {
    printf("seed %" PRIu64 " step %" PRIu64 ": %s of region '%s' is %" PRIi64
           ", votrace says %" PRIi64 "\n",
           test.seed, test.step, what, region, wanted, got);
    fflush(stdout);
    _exit(1);
}

static void compare_region(const struct region *region) {
    struct votrace_region_totals totals;
    const char *name = names[region->name];
    int r = votrace_region_query(name, &totals, sizeof(totals));
    if (r != 0)
        differ(name, "query", 0, r);
    const struct {
        const char *what;
        int64_t wanted;
        int64_t got;
    } values[] = {
        {"instance", (int64_t)region->instance, (int64_t)totals.instance},
        {"open", region->open, (int64_t)totals.open},
        {"live start", region->start, totals.live_start_bytes},
        {"live", region->live, totals.live_bytes},
        {"peak", region->peak, totals.live_peak_bytes},
        {"peak added", region->peak - region->start, totals.peak_added_bytes},
        {"net", region->live - region->start, totals.net_bytes},
        {"owned peak", region->owned_peak, totals.owned_peak_bytes},
        {"allocations", (int64_t)region->allocations, (int64_t)totals.allocations},
        {"frees", (int64_t)region->frees, (int64_t)totals.frees},
        {"allocated bytes", (int64_t)region->allocated, (int64_t)totals.allocated_bytes},
        {"freed bytes", (int64_t)region->freed, (int64_t)totals.freed_bytes},
        {"mappings' peak added", region->anon_peak - region->anon_start,
         totals.map_anon_peak_added_bytes},
        {"combined peak added", region->combined_peak - region->combined_start,
         totals.combined_peak_added_bytes},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (values[i].wanted != values[i].got)
            differ(name, values[i].what, values[i].wanted, values[i].got);
}

/* The youngest instance of every name. */
static void compare(void) {
    for (uint32_t name = 0; name < ALL_NAMES; name++) {
        uint32_t at = test.region_count;
        while (at-- > 0) {
            if (test.regions[at].name != name)
                continue;
            compare_region(&test.regions[at]);
            break;
        }
    }
}

/* The process region as it is when the test begins: what libc did before is not ours. */
static void adopt_process(void) {
    struct votrace_region_totals totals;
    if (votrace_region_query("process", &totals, sizeof(totals)) != 0)
        differ("process", "query", 0, -ENOSYS);
    test.regions[0] = (struct region){
        .name = PROCESS,
        .open = true,
        .instance = 1,
        .start = totals.live_start_bytes,
        .live = totals.live_bytes,
        .peak = totals.live_peak_bytes,
        .owned_peak = totals.owned_peak_bytes,
        .owned = totals.live_bytes,
        .allocations = totals.allocations,
        .frees = totals.frees,
        .allocated = totals.allocated_bytes,
        .freed = totals.freed_bytes,
        .anon_peak = totals.map_anon_peak_added_bytes,
        .combined_peak = totals.combined_peak_added_bytes,
    };
    test.region_count = 1;
}

/* Heap */

static void *allocate(size_t bytes) {
    void *block = NULL;
    size_t alignment = (size_t)16 << below(6);
    switch (below(9)) {
    case 0:
        return malloc(bytes);
    case 1:
        return calloc(1, bytes);
    case 2:
        return bytes % 4 == 0 ? calloc(4, bytes / 4) : calloc(bytes, 1);
    case 3:
        return realloc(NULL, bytes);
    case 4:
        return reallocarray(NULL, bytes, 1);
    case 5:
        return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
    case 6:
        return aligned_alloc(alignment, bytes);
    case 7:
        return memalign(alignment, bytes);
    default:
        return below(2) == 0 || test.without_pvalloc ? valloc(bytes) : pvalloc(bytes);
    }
}

static void step_allocate(unsigned slot) {
    size_t bytes = random_size();
    void *block = allocate(bytes);
    if (block == NULL)
        differ("process", "an allocation", 1, 0);
    test.blocks[slot].block = block;
    test.blocks[slot].bytes = bytes;
    test.blocks[slot].birth = test.region_count - 1;
    /* A program writes all of what it was given, not of what it asked for. */
    if (malloc_usable_size(block) < 5000)
        memset(block, 0xa5, malloc_usable_size(block));
    heap_changes((int64_t)bytes, test.blocks[slot].birth, true);
}

static void step_free(unsigned slot) {
    free(test.blocks[slot].block);
    heap_changes((int64_t)test.blocks[slot].bytes, test.blocks[slot].birth, false);
    test.blocks[slot].block = NULL;
}

static void step_reallocate(unsigned slot) {
    size_t bytes = below(8) == 0 ? 0 : random_size();
    bool array = below(2) == 0;
    void *block = array ? reallocarray(test.blocks[slot].block, bytes, 1)
                        : realloc(test.blocks[slot].block, bytes);
    heap_changes((int64_t)test.blocks[slot].bytes, test.blocks[slot].birth, false);
    test.blocks[slot].block = block;
    if (block == NULL) {
        if (bytes > 0)
            differ("process", "a realloc", 1, 0);
        return;
    }
    test.blocks[slot].bytes = bytes;
    test.blocks[slot].birth = test.region_count - 1;
    heap_changes((int64_t)bytes, test.blocks[slot].birth, true);
}

/* Calls that fail or do nothing change nothing. */
static void step_fail(unsigned slot) {
    volatile size_t huge = SIZE_MAX / 2 + 1;
    void *block = &test;
    switch (below(8)) {
    case 0:
        free(NULL);
        return;
    case 1:
        block = malloc(huge);
        break;
    case 2:
        block = calloc(huge, 3);
        break;
    case 3:
        block = realloc(test.blocks[slot].block, huge);
        break;
    case 4:
        block = reallocarray(test.blocks[slot].block, huge, 2);
        break;
    case 5:
        if (posix_memalign(&block, 3, 10) == EINVAL && block == &test)
            return;
        break;
    case 6:
        if (munmap(test.area + 1, PAGE) == -1 && munmap(test.area, huge * 2 - 1) == -1)
            return;
        break;
    default:
        if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
            mremap(test.area + 7, PAGE, PAGE, 0) == MAP_FAILED)
            return;
    }
    if (block != NULL)
        differ("process", "a call that must fail", 0, 1);
}

static void step_heap(void) {
    unsigned slot = (unsigned)below(BLOCKS);
    if (below(12) == 0)
        step_fail(slot);
    else if (test.blocks[slot].block == NULL)
        step_allocate(slot);
    else if (below(3) == 0)
        step_reallocate(slot);
    else
        step_free(slot);
}

/* Mappings: an area whose pages come and go at fixed places, and some that the kernel places.
 */

static int64_t area_take(unsigned first, unsigned end) {
    int64_t anon = 0;
    for (unsigned page = first; page < end; page++) {
        anon += test.pages[page] == ANON;
        test.pages[page] = NONE;
    }
    return anon * (int64_t)PAGE;
}

static void area_set(unsigned first, unsigned end, int state) {
    anon_changes(-area_take(first, end));
    for (unsigned page = first; page < end; page++)
        test.pages[page] = state;
    if (state == ANON)
        anon_changes((int64_t)((end - first) * PAGE));
}

/* Reserved addresses become memory; what is memory already stays what it is. */
static void area_protect(unsigned first, unsigned end) {
    unsigned reserved = 0;
    for (unsigned page = first; page < end; page++) {
        if (test.pages[page] == NONE)
            return;
        reserved += test.pages[page] == RESERVED;
    }
    if (mprotect(test.area + first * PAGE, (end - first) * PAGE, PROT_READ) != 0)
        differ("process", "mprotect", 0, errno);
    for (unsigned page = first; page < end; page++)
        if (test.pages[page] == RESERVED)
            test.pages[page] = ANON;
    if (reserved > 0)
        anon_changes((int64_t)(reserved * PAGE));
}

static void step_area(void) {
    static const int states[] = {ANON, ANON, FILE_BACKED, RESERVED};
    unsigned first = (unsigned)below(AREA_PAGES);
    unsigned end = first + 1 + (unsigned)below(20);
    int state = states[below(4)];
    end = end < AREA_PAGES ? end : AREA_PAGES;
    size_t bytes = (end - first) * PAGE - below(PAGE);
    unsigned char *at = test.area + first * PAGE;
    int protection = state == RESERVED ? PROT_NONE : PROT_READ;
    int fd = state == FILE_BACKED ? test.fd : -1;
    int flags = MAP_PRIVATE | MAP_FIXED | (state == FILE_BACKED ? 0 : MAP_ANONYMOUS);
    if (below(4) == 0) {
        area_protect(first, end);
        return;
    }
    if (below(2) == 0) {
        if (munmap(at, bytes) != 0)
            differ("process", "munmap", 0, errno);
        anon_changes(-area_take(first, end));
        return;
    }
    void *got = below(2) == 0 ? mmap(at, bytes, protection, flags, fd, 0)
                              : mmap64(at, bytes, protection, flags, fd, 0);
    if (got != at)
        differ("process", "mmap", (int64_t)(uintptr_t)at, (int64_t)(uintptr_t)got);
    area_set(first, end, state);
}

static size_t pages_up(size_t bytes) {
    return (bytes + PAGE - 1) & ~(PAGE - 1);
}

static void map_new(unsigned slot) {
    size_t bytes = 1 + below(20 * PAGE);
    bool anon = below(3) > 0;
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | (anon ? MAP_ANONYMOUS : 0), anon ? -1 : test.fd, 0);
    if (start == MAP_FAILED)
        differ("process", "mmap", 0, errno);
    test.maps[slot].start = start;
    test.maps[slot].bytes = pages_up(bytes);
    test.maps[slot].anon = anon;
    if (anon)
        anon_changes((int64_t)test.maps[slot].bytes);
}

static void map_remap(unsigned slot) {
    size_t bytes = 1 + below(30 * PAGE);
    bool may_move = below(2) == 0;
    void *start = mremap(test.maps[slot].start, test.maps[slot].bytes, bytes,
                         may_move ? MREMAP_MAYMOVE : 0);
    if (start == MAP_FAILED) {
        if (may_move)
            differ("process", "mremap", 0, errno);
        return; /* no room to grow: nothing happened */
    }
    if (test.maps[slot].anon) {
        anon_changes(-(int64_t)test.maps[slot].bytes);
        anon_changes((int64_t)pages_up(bytes));
    }
    test.maps[slot].start = start;
    test.maps[slot].bytes = pages_up(bytes);
}

/* Move into the area, over whatever is there. */
static void map_remap_fixed(unsigned slot) {
    unsigned pages = (unsigned)(test.maps[slot].bytes / PAGE);
    unsigned first = (unsigned)below(AREA_PAGES - 40);
    unsigned char *at = test.area + first * PAGE;
    void *start = mremap(test.maps[slot].start, test.maps[slot].bytes, pages * PAGE,
                         MREMAP_MAYMOVE | MREMAP_FIXED, at);
    if (start != at)
        differ("process", "mremap", (int64_t)(uintptr_t)at, (int64_t)(uintptr_t)start);
    if (test.maps[slot].anon)
        anon_changes(-(int64_t)test.maps[slot].bytes);
    area_set(first, first + pages, test.maps[slot].anon ? ANON : FILE_BACKED);
    test.maps[slot].start = NULL;
}

static void step_map(void) {
    unsigned slot = (unsigned)below(MAPS);
    if (test.maps[slot].start == NULL) {
        map_new(slot);
        return;
    }
    switch (below(4)) {
    case 0:
        map_remap(slot);
        return;
    case 1:
        if (test.maps[slot].bytes <= 30 * PAGE) {
            map_remap_fixed(slot);
            return;
        }
        __attribute__((fallthrough));
    default:
        munmap(test.maps[slot].start, test.maps[slot].bytes);
        if (test.maps[slot].anon)
            anon_changes(-(int64_t)test.maps[slot].bytes);
        test.maps[slot].start = NULL;
    }
}

/* Regions */

static unsigned open_regions(void) {
    unsigned count = 0;
    for (uint32_t i = 1; i < test.region_count; i++)
        count += test.regions[i].open;
    return count;
}

static void step_region(void) {
    uint32_t name = (uint32_t)below(NAMES);
    if (below(2) == 0 && open_regions() < OPEN_MAX_ && test.region_count < REGIONS) {
        votrace_region_begin(names[name]);
        model_begin(name);
        return;
    }
    uint32_t at = test.region_count;
    while (at-- > 1)
        if (test.regions[at].open && test.regions[at].name == name)
            break;
    votrace_region_end(names[name]);
    if (at > 0)
        test.regions[at].open = false;
}

static void step(void) {
    uint64_t what = below(100);
    test.step++;
    if (what < 75)
        step_heap();
    else if (what < 82)
        step_area();
    else if (what < 90)
        step_map();
    else
        step_region();
    if (below(10) == 0)
        compare();
}

static void *work(void *data) {
    uint64_t steps = *(const uint64_t *)data;
    pthread_barrier_wait(&test.barrier);
    for (uint64_t i = 0; i < steps; i++) {
        pthread_mutex_lock(&test.mutex);
        step();
        pthread_mutex_unlock(&test.mutex);
    }
    pthread_barrier_wait(&test.barrier);
    pthread_barrier_wait(&test.barrier); /* what the end of a thread frees comes later */
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS_MAX];
    if (argc < 4)
        return 2;
    test.seed = strtoull(argv[1], NULL, 10);
    test.random = test.seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    test.without_pvalloc = argc > 4;
    unsigned count = (unsigned)strtoul(argv[2], NULL, 10);
    uint64_t steps = strtoull(argv[3], NULL, 10);
    bool alone = count <= 1; /* then not even a second thread exists */
    test.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    /* Far below where the kernel looks for room first, so that the holes stay holes. */
    test.area = mmap(AREA, AREA_PAGES * PAGE, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (test.area != AREA)
        differ("process", "the area's mapping", 1, errno);
    for (unsigned page = 0; page < AREA_PAGES; page++)
        test.pages[page] = RESERVED;
    pthread_barrier_init(&test.barrier, NULL, alone ? 1 : count + 1);
    for (unsigned i = 0; i < count && !alone; i++)
        pthread_create(&threads[i], NULL, work, &steps);

    adopt_process();
    compare();
    if (alone) {
        for (uint64_t i = 0; i < steps; i++)
            step();
    } else {
        pthread_barrier_wait(&test.barrier);
        pthread_barrier_wait(&test.barrier);
    }
    compare();
    while (open_regions() > 0)
        step_region();
    compare();
    if (!alone)
        pthread_barrier_wait(&test.barrier);
    for (unsigned i = 0; i < count && !alone; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
