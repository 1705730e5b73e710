/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * backtrace_unwind.c: stacks, by a walk of our own where every frame is of a usual kind, else
 * by libunwind.
 *
 * The walk keeps one rule for each return address in a table, read from the module's unwind
 * tables when it is first met (cfi.h): two additions, two loads and a comparison a frame. It
 * reads only between the hook's frame and the end of the thread's stack, and only upwards;
 * where the end is not known (hand-switched stacks, alternate signal stacks) libunwind is
 * asked, which tests memory before it reads.
 *
 * libunwind's cache policy must be NONE: with the default, libunwind 1.6.2 holds its cache's
 * lock while it asks the loader, and a thread inside dl_iterate_phdr() that allocates holds the
 * loader's and wants the cache's. No lock of ours is held here, and the walk takes none at all.
 */
#define UNW_LOCAL_ONLY
#include "backtrace.h"

#include "cfi.h"

#include <libunwind.h>
#include <stdatomic.h>

#define RULES            8192u
#define STACK_BYTES_MAX  (UINT64_C(64) << 20) /* a stack end farther away is another stack's */
#define CHECK_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/*
 * A rule packed in one word beside a check that no torn pair passes: two threads may write the
 * same place at once, and nobody waits.
 */
struct rule_place {
    _Atomic uint64_t rule;  /* kind, cfa_offset, rbp_offset; 0: empty */
    _Atomic uint64_t check; /* return address ^ rule * CHECK_MULTIPLIER */
};

static struct rule_place rules[RULES];

/* Where the main thread's stack ends; absent outside glibc. */
extern void *__libc_stack_end __attribute__((weak));

void backtrace_init(void) {
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
}

void backtrace_forget(void) {
    for (unsigned i = 0; i < RULES; i++)
        atomic_store_explicit(&rules[i].rule, 0, memory_order_relaxed);
}

static inline uint64_t rule_pack(struct cfi_rule rule) {
    return (uint64_t)(uint32_t)rule.cfa_offset | (uint64_t)(uint16_t)rule.rbp_offset << 32 |
           (uint64_t)(rule.kind + 1) << 48;
}

static inline struct cfi_rule rule_unpack(uint64_t packed) {
    return (struct cfi_rule){
        .kind = (enum cfi_kind)((packed >> 48) - 1),
        .cfa_offset = (int32_t)(uint32_t)packed,
        .rbp_offset = (int16_t)(uint16_t)(packed >> 32),
    };
}

static __attribute__((noinline, cold)) uint64_t rule_learn(struct rule_place *place,
                                                           uintptr_t return_address) {
    uint64_t rule = rule_pack(cfi_find_rule(return_address));
    atomic_store_explicit(&place->rule, rule, memory_order_relaxed);
    atomic_store_explicit(&place->check, return_address ^ rule * CHECK_MULTIPLIER,
                          memory_order_relaxed);
    return rule;
}

/* Two places are tried, so that two hot addresses need not fight for one. */
static inline struct cfi_rule rule_of(uintptr_t return_address) {
    uint64_t hash = return_address * CHECK_MULTIPLIER >> 51;
    struct rule_place *place = NULL;
    for (unsigned i = 0; i < 2; i++) {
        place = &rules[(hash ^ i) % RULES];
        uint64_t rule = atomic_load_explicit(&place->rule, memory_order_relaxed);
        if (rule == 0)
            break;
        if (atomic_load_explicit(&place->check, memory_order_relaxed) ==
            (return_address ^ rule * CHECK_MULTIPLIER))
            return rule_unpack(rule);
    }
    return rule_unpack(rule_learn(place, return_address));
}

/* The end of the stack that @address is on, beyond which nothing is read; 0: not known. */
static inline uintptr_t stack_end(uintptr_t address) {
    if (&__libc_stack_end != NULL) {
        uintptr_t end = (uintptr_t)__libc_stack_end;
        if (address < end && end - address < STACK_BYTES_MAX)
            return end;
    }
    /* glibc puts a thread's descriptor at the end of its stack. */
    uintptr_t descriptor = (uintptr_t)__builtin_thread_pointer();
    if (address < descriptor && descriptor - address < STACK_BYTES_MAX)
        return descriptor;
    return 0;
}

bool backtrace_walk(const uintptr_t *frame, uintptr_t *buffer, size_t depth_limit,
                    struct backtrace *ret) {
    uintptr_t end = stack_end((uintptr_t)frame);
    uintptr_t rbp = frame[0];
    uintptr_t address = frame[1];
    uintptr_t rsp = (uintptr_t)(frame + 2);
    size_t depth = 0;

    if (end == 0)
        return false;
    while (depth < depth_limit && address != 0) {
        buffer[depth++] = address;
        struct cfi_rule rule = rule_of(address);
        if (rule.kind == CFI_OUTERMOST) {
            address = 0;
            break;
        }
        if (rule.kind == CFI_UNUSUAL)
            return false;
        uintptr_t cfa =
            (rule.kind == CFI_FROM_RSP ? rsp : rbp) + (uintptr_t)(intptr_t)rule.cfa_offset;
        uintptr_t rbp_at = cfa + (uintptr_t)(intptr_t)rule.rbp_offset;
        /* Upwards, aligned, below the end, and the saved register inside the frame. */
        if (cfa < rsp + sizeof(uintptr_t) || cfa > end || cfa % sizeof(uintptr_t) != 0 ||
            rbp_at < rsp)
            return false;
        address = *(const uintptr_t *)(cfa - sizeof(uintptr_t));
        if (rule.rbp_offset != 0)
            rbp = *(const uintptr_t *)rbp_at;
        rsp = cfa;
    }
    *ret = (struct backtrace){
        .depth_frames = depth,
        .truncated = address != 0,
        .frames = buffer,
    };
    return true;
}

bool backtrace_unwind(const uintptr_t *frame, uintptr_t *buffer, size_t depth_limit,
                      struct backtrace *ret) {
    uintptr_t caller = frame[1];
    size_t wanted = depth_limit + BACKTRACE_OWN_FRAMES + 1;
    int got = unw_backtrace((void **)buffer, (int)wanted);
    size_t count = got > 0 ? (size_t)got : 0;

    size_t own = 0;
    while (own < count && own <= BACKTRACE_OWN_FRAMES && buffer[own] != caller)
        own++;
    if (own == count || own > BACKTRACE_OWN_FRAMES) {
        buffer[0] = caller;
        *ret = (struct backtrace){.depth_frames = 1, .frames = buffer};
        return false;
    }
    /* Some stacks end in zeros. */
    while (count > own + 1 && buffer[count - 1] == 0)
        count--;
    size_t depth = count - own;
    *ret = (struct backtrace){
        .depth_frames = depth > depth_limit ? depth_limit : depth,
        .truncated = depth > depth_limit,
        .frames = buffer + own,
    };
    return true;
}

bool backtrace_take(const uintptr_t *frame, uintptr_t *buffer, size_t depth_limit,
                    struct backtrace *ret) {
    return backtrace_walk(frame, buffer, depth_limit, ret) ||
           backtrace_unwind(frame, buffer, depth_limit, ret);
}
