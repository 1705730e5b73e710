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
#include "sandbox.h"

#include <errno.h>
#include <libunwind.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define RULES           8192u
#define STACK_BYTES_MAX (UINT64_C(64) << 20) /* a stack end farther away is another stack's */
/* libunwind takes 6 KiB, the loader up to 11 more when it binds one of its functions. */
#define UNWIND_STACK_BYTES ((size_t)20 << 10)
/* Reading unwind tables takes some 2 KiB. */
#define LEARN_STACK_BYTES ((size_t)4 << 10)
#define CHECK_MULTIPLIER  UINT64_C(0x9e3779b97f4a7c15)

/* What a frame does with rbp, before it is known whether the outer frames care. */
enum rbp_use {
    RBP_REPLACED,  /* the caller's is read from the stack */
    RBP_HANDED_ON, /* the caller's is the same */
    RBP_USED,      /* the frame itself is found through it */
};

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

/* The thread that loaded the library: the main thread, whose descriptor is not on its stack. */
static uintptr_t main_descriptor;

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
    if (!backtrace_has_room(__builtin_frame_address(0), LEARN_STACK_BYTES))
        return rule_pack((struct cfi_rule){.kind = CFI_UNUSUAL});
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
    /* glibc puts the descriptor of every other thread at the end of its stack. */
    uintptr_t descriptor = (uintptr_t)__builtin_thread_pointer();
    if (descriptor != main_descriptor && address < descriptor &&
        descriptor - address < STACK_BYTES_MAX)
        return descriptor;
    return 0;
}

/*
 * What libunwind reads memory with, in place of its own, which tests it through a pipe
 * (hooks_unwinder.c): above this frame a stack is there as far as its end is known; elsewhere the
 * kernel reads, and refuses where there is nothing.
 */
static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value,
                         int store, void *argument) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t end = stack_end(here);
    if (store) {
        *(unw_word_t *)address = *value;
        return 0;
    }
    if (address >= here && address < end && end - address >= sizeof(*value)) {
        *value = *(const unw_word_t *)address;
        return 0;
    }
    int saved_errno = errno;
    struct iovec to = {value, sizeof(*value)};
    struct iovec from = {(void *)address, sizeof(*value)};
    long got = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &to, 1L, &from, 1L, 0L);
    errno = saved_errno;
    return got == (long)sizeof(*value) ? 0 : -UNW_EINVAL;
}

void backtrace_init(void) {
    main_descriptor = (uintptr_t)__builtin_thread_pointer();
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
    unw_accessors_t *accessors = unw_get_accessors(unw_local_addr_space);
    if (accessors != NULL)
        accessors->access_mem = access_memory;
}

/*
 * The walk. A frame is known by its return address, the stack pointer after the return and,
 * where an outer frame is found through it, rbp. If all three are as they were in the last
 * stack, the next outer frame's return address lies in the same place as it did, and so on: it
 * is enough to look into those places whether they hold the same values. The loads do not wait
 * for each other, which is what makes this several times faster than finding each frame from
 * the last.
 */

/*
 * The frames of the last stack that are outside of frame @index and no longer what they were
 * begin, seen from there, at the frame before the one returned; 0: all of them hold.
 */
static inline uint32_t outer_frames_changed(const struct backtrace *backtrace, uint32_t index) {
    for (uint32_t i = index; i > 0; i--) {
        uint32_t at = i - 1;
        const uintptr_t *place = (const uintptr_t *)backtrace->rsps[at] - 1;
        if (*place != backtrace->addresses[at])
            return i;
        if (!backtrace->rbp_matters[at] || backtrace->rbp_places[at] == 0)
            continue;
        if (*(const uintptr_t *)backtrace->rbp_places[at] != backtrace->rbps[at])
            return i;
    }
    return 0;
}

struct walk {
    uintptr_t end; /* of the stack */
    uintptr_t address;
    uintptr_t rsp;
    uintptr_t rbp;
    uintptr_t rbp_place;
    uint32_t candidates; /* frames of the last stack that may still be met */
    uint32_t depth_new;  /* frames found, in the upper end of the arrays */
};

/* Whether the walk has come to a frame of the last stack, from where on it is as it was. */
static inline bool joins(struct walk *walk, const struct backtrace *backtrace) {
    while (walk->candidates > 0 && backtrace->rsps[walk->candidates - 1] < walk->rsp)
        walk->candidates--;
    if (walk->candidates == 0)
        return false;
    uint32_t at = walk->candidates - 1;
    if (backtrace->rsps[at] != walk->rsp || backtrace->addresses[at] != walk->address ||
        (backtrace->rbp_matters[at] && backtrace->rbps[at] != walk->rbp))
        return false;
    uint32_t changed = outer_frames_changed(backtrace, at);
    if (changed == 0)
        return true;
    /* Walk on; farther out the stack may be the last one again. */
    walk->candidates = changed - 1;
    return false;
}

static inline void note_frame(const struct walk *walk, struct backtrace *backtrace) {
    uint32_t at = 2 * BACKTRACE_DEPTH_MAX - 1 - walk->depth_new;
    backtrace->addresses[at] = walk->address;
    backtrace->rsps[at] = walk->rsp;
    backtrace->rbps[at] = walk->rbp;
    backtrace->rbp_places[at] = walk->rbp_place;
}

/* Leave the frame by @rule. Returns false if where that leads is not plausible. */
static inline bool leave_frame(struct walk *walk, struct cfi_rule rule) {
    uintptr_t base = rule.kind == CFI_FROM_RSP ? walk->rsp : walk->rbp;
    uintptr_t cfa = base + (uintptr_t)(intptr_t)rule.cfa_offset;
    uintptr_t rbp_place = cfa + (uintptr_t)(intptr_t)rule.rbp_offset;
    /* Upwards, aligned, below the end, and the saved register inside the frame. */
    if (cfa < walk->rsp + sizeof(uintptr_t) || cfa > walk->end ||
        cfa % sizeof(uintptr_t) != 0 || rbp_place < walk->rsp)
        return false;
    walk->address = *(const uintptr_t *)(cfa - sizeof(uintptr_t));
    walk->rbp_place = 0;
    if (rule.rbp_offset != 0) {
        walk->rbp = *(const uintptr_t *)rbp_place;
        walk->rbp_place = rbp_place;
    }
    walk->rsp = cfa;
    return true;
}

/* Put the new frames inside of the @kept outermost ones of the last stack. */
static void join_frames(struct backtrace *backtrace, uint32_t kept, uint32_t depth_new) {
    uint32_t from = 2 * BACKTRACE_DEPTH_MAX - depth_new;
    for (uint32_t i = 0; i < depth_new; i++) {
        uint32_t at = kept + i;
        /* The frame's own rule said whether it uses rbp, or hands it on as it is. */
        uint8_t use = backtrace->rbp_matters[from + i];
        bool outer = at > 0 && backtrace->rbp_matters[at - 1];
        backtrace->addresses[at] = backtrace->addresses[from + i];
        backtrace->rsps[at] = backtrace->rsps[from + i];
        backtrace->rbps[at] = backtrace->rbps[from + i];
        backtrace->rbp_places[at] = backtrace->rbp_places[from + i];
        backtrace->rbp_matters[at] = use == RBP_USED || (use == RBP_HANDED_ON && outer);
    }
    if (backtrace->known_nodes > kept)
        backtrace->known_nodes = kept;
    backtrace->depth_frames = kept + depth_new;
}

bool backtrace_walk(struct backtrace *backtrace, const uintptr_t *frame, size_t depth_limit) {
    struct walk walk = {
        .end = stack_end((uintptr_t)frame),
        .address = frame[1],
        .rsp = (uintptr_t)(frame + 2),
        .rbp = frame[0],
    };
    if (walk.end == 0)
        return false;
    if (backtrace->walked && !backtrace->truncated && backtrace->rsps[0] <= walk.end)
        walk.candidates = backtrace->depth_frames;

    while (!joins(&walk, backtrace)) {
        struct cfi_rule rule = rule_of(walk.address);
        if (rule.kind == CFI_UNUSUAL)
            return false;
        note_frame(&walk, backtrace);
        backtrace->rbp_matters[2 * BACKTRACE_DEPTH_MAX - 1 - walk.depth_new] =
            rule.kind == CFI_FROM_RBP ? RBP_USED
            : rule.rbp_offset == 0    ? RBP_HANDED_ON
                                      : RBP_REPLACED;
        walk.depth_new++;
        if (rule.kind == CFI_OUTERMOST) {
            walk.address = 0;
            break;
        }
        if (!leave_frame(&walk, rule))
            return false;
        if (walk.address == 0 || walk.depth_new == depth_limit)
            break;
    }
    bool joined = walk.candidates > 0 && walk.address != 0 && walk.depth_new < depth_limit;
    uint32_t kept = joined ? walk.candidates : 0;
    if (kept + walk.depth_new > depth_limit) {
        /* Too deep with the frames of the last stack: its outermost must go. Begin anew. */
        backtrace->walked = false;
        return backtrace_walk(backtrace, frame, depth_limit);
    }
    join_frames(backtrace, kept, walk.depth_new);
    backtrace->truncated = !joined && walk.address != 0;
    backtrace->walked = true;
    return true;
}

bool backtrace_unwind(struct backtrace *backtrace, const uintptr_t *frame, size_t depth_limit) {
    uintptr_t caller = frame[1];
    /* libunwind masks signals while it asks the loader: a system call, twice. */
    if (sandbox_inside() || !backtrace_has_room(frame, UNWIND_STACK_BYTES)) {
        backtrace_set(backtrace, &caller, 1, false);
        return false;
    }
    /* Not on the stack, which may be a signal handler's. */
    uintptr_t *buffer = backtrace->addresses + BACKTRACE_DEPTH_MAX;
    int got = unw_backtrace((void **)buffer, (int)(depth_limit + BACKTRACE_OWN_MAX + 1));
    size_t count = got > 0 ? (size_t)got : 0;

    size_t own = 0;
    while (own < count && own <= BACKTRACE_OWN_MAX && buffer[own] != caller)
        own++;
    if (own == count || own > BACKTRACE_OWN_MAX) {
        backtrace_set(backtrace, &caller, 1, false);
        return false;
    }
    /* Some stacks end in zeros. */
    while (count > own + 1 && buffer[count - 1] == 0)
        count--;
    size_t depth = count - own;
    bool truncated = depth > depth_limit;
    backtrace_set(backtrace, buffer + own, truncated ? depth_limit : depth, truncated);
    return true;
}

bool backtrace_take(struct backtrace *backtrace, const uintptr_t *frame, size_t depth_limit) {
    return backtrace_walk(backtrace, frame, depth_limit) ||
           backtrace_unwind(backtrace, frame, depth_limit);
}
