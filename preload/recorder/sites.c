/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites.c: take the stack, look its site up, add it if it is new.
 *
 * No lock is held while unwinding or asking the loader. Nothing is allocated: a thread borrows
 * one of the recorder's backtraces, its own unless that is in use.
 */
#include "sites.h"

#include "booking.h"
#include "python.h"

#include <errno.h>
#include <link.h>
#include <sys/single_threaded.h>

#define ADD_STACK_BYTES ((size_t)4 << 10)

struct noting {
    uint64_t known; /* loader_changes before */
    uint32_t round; /* modules.round while it is the latest; 0: nothing has changed */
};

static int note_module(struct dl_phdr_info *info, size_t bytes, void *data) {
    struct noting *noting = data;
    uint64_t changes = info->dlpi_adds + info->dlpi_subs;
    if (changes == noting->known)
        return 1;
    bool taken = booking_enter_beside();
    if (noting->round == 0)
        noting->round = modules_begin_round(&recorder.modules);
    modules_note(&recorder.modules, info);
    recorder.stacks.generation = (uint16_t)recorder.modules.generation;
    booking_leave_beside(taken);
    atomic_store_explicit(&recorder.loader_changes, changes, memory_order_relaxed);
    return 0;
}

/* Stacks through code that went must not be those through what is loaded there later. */
static void follow_changes(uint32_t round) {
    struct module_seen changed;
    bool taken = booking_enter_beside();
    /* If another thread is at it by now, the list is not whole. It will come here, too. */
    while (recorder.modules.round == round &&
           modules_next_change(&recorder.modules, &changed)) {
        if (changed.loaded)
            stacktree_show(&recorder.stacks, changed.start, changed.end, changed.generation);
        else
            stacktree_hide(&recorder.stacks, changed.start, changed.end);
    }
    booking_leave_beside(taken);
}

/* The loader's lock is taken, ours only inside it. */
void sites_note_modules(void) {
    struct noting noting = {
        .known = atomic_load_explicit(&recorder.loader_changes, memory_order_relaxed)};
    atomic_store_explicit(&recorder.module_unloaded, false, memory_order_relaxed);
    dl_iterate_phdr(note_module, &noting);
    if (noting.round != 0)
        follow_changes(noting.round);
}

/* dlclose() had the loader's lock itself: to wait for it once more is no new risk. */
void recorder_module_unloaded(void) {
    backtrace_forget();
    atomic_store_explicit(&recorder.module_unloaded, true, memory_order_relaxed);
    if (!recorder_active() || recorder_busy())
        return;
    int saved_errno = errno;
    sites_note_modules();
    errno = saved_errno;
}

/*
 * Ask the loader only about code that is not known: a thread inside of dl_iterate_phdr() holds
 * its lock, and may be waiting for this one. The outer frames that have nodes were known
 * before.
 */
static void note_modules_of(const struct backtrace *backtrace) {
    bool known = !atomic_load_explicit(&recorder.module_unloaded, memory_order_relaxed);
    bool taken;
    if (known && booking_try_beside(&taken)) {
        known = modules_know(&recorder.modules, backtrace->addresses + backtrace->known_nodes,
                             backtrace->depth_frames - backtrace->known_nodes);
        booking_leave_beside(taken);
    }
    if (!known)
        sites_note_modules();
}

static uint32_t no_stack(enum trace_space space, bool missing) {
    if (missing)
        __atomic_fetch_add(&recorder_completeness()->stacks_missing, 1, __ATOMIC_RELAXED);
    return stacktree_site_no_stack(space);
}

static __attribute__((noinline, cold)) uint32_t
add_with_room(const struct backtrace *backtrace, enum trace_space space, bool counted) {
    note_modules_of(backtrace);
    bool other;
    bool taken;
    if (!booking_try_beside(&taken))
        return no_stack(space, !counted);
    uint32_t site = stacktree_add(&recorder.stacks, backtrace, space, &other);
    if (other)
        recorder_completeness()->stacks_other++;
    booking_leave_beside(taken);
    return site;
}

/* @counted: the stack is already among those that are missing. */
static __attribute__((noinline, cold)) uint32_t add_site(const struct backtrace *backtrace,
                                                         enum trace_space space, bool counted) {
    if (recorder_busy() || !backtrace_has_room(__builtin_frame_address(0), ADD_STACK_BYTES))
        return no_stack(space, !counted);
    return add_with_room(backtrace, space, counted);
}

static inline bool backtrace_borrow(struct backtrace *backtrace) {
    if (!__libc_single_threaded)
        return !atomic_exchange_explicit(&backtrace->taken, true, memory_order_acquire);
    if (atomic_load_explicit(&backtrace->taken, memory_order_relaxed))
        return false;
    atomic_store_explicit(&backtrace->taken, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

/* This thread's backtrace, or a free one: a signal handler or another thread may hold it. */
static inline struct backtrace *find_backtrace(void) {
    if (__builtin_expect(recorder_thread.number == 0, 0))
        recorder_thread.number = 1 + atomic_fetch_add(&recorder.threads_numbered, 1);
    for (uint32_t i = 0; i < RECORDER_BACKTRACES; i++) {
        struct backtrace *backtrace =
            &recorder.backtraces[(recorder_thread.number + i) % RECORDER_BACKTRACES];
        if (__builtin_expect(backtrace_borrow(backtrace), 1))
            return backtrace;
    }
    return NULL;
}

/* @backtrace, or one beside it that has this thread's Python frames as well. */
static inline struct backtrace *with_python(struct backtrace *backtrace) {
    if (__builtin_expect(!python_is_here, 1))
        return backtrace;
    struct backtrace *mixed = &recorder.mixed[backtrace - recorder.backtraces];
    return python_mix(backtrace, mixed, recorder.settings.depth_frames) ? mixed : backtrace;
}

__attribute__((noinline)) uint32_t sites_by_stack(enum trace_space space,
                                                  const uintptr_t *frame) {
    if (recorder_thread.doing & THREAD_UNWINDING)
        return no_stack(space, true);
    struct backtrace *backtrace = find_backtrace();
    if (backtrace == NULL)
        return no_stack(space, true);

    int saved_errno = errno;
    recorder_thread.doing |= THREAD_UNWINDING;
    bool whole = backtrace_take(backtrace, frame, recorder.settings.depth_frames);
    if (__builtin_expect(!whole, 0))
        no_stack(space, true);
    recorder_thread.doing &= ~(uint32_t)THREAD_UNWINDING;
    struct backtrace *stack = with_python(backtrace);
    uint32_t site = stacktree_find(&recorder.stacks, stack, space);
    if (__builtin_expect(site == STACKTREE_NO_SITE, 0))
        site = add_site(stack, space, !whole);
    atomic_store_explicit(&backtrace->taken, false, memory_order_release);
    errno = saved_errno;
    return site;
}
