/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * children.c: what becomes of a process that fork() makes.
 *
 * It has all of the recorder's memory, as it was at the fork, but the trace file's, which it
 * shares with its parent and must never write. Muted, it keeps the gate closed, which the
 * kernel has wiped. Followed (VOTRACE_CHILDREN=follow), it sleeps until its first event, and
 * then begins a trace of its own: header, modules, stacks and ledger anew; the tables of blocks
 * and mappings stay. What was live in the parent, noted before the fork while the lock was held
 * (the parent goes on changing the file right after), is the start of its process region, at
 * the sites "stack not taken", and so are the frees of it: the parent's sites are in the
 * parent's trace.
 *
 * Children that fork() does not make (vfork, clone, _Fork) stay muted: nobody held the lock.
 */
#include "children.h"

#include "booking.h"
#include "recorder_state.h"
#include "sandbox.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAKE_STACK_BYTES ((size_t)12 << 10)

bool recorder_asleep;

/* What the parent was at the fork. */
static struct {
    bool noted;
    ledger_pair live[TRACE_SPACES];
    uint32_t birth;
    int64_t usable_bytes;
    uint8_t uuid[TRACE_UUID_BYTES];
    char path[PATH_MAX];
} at_fork;

/*
 * Births must not run out: those of a child go on where its parent's ended. In a sandbox, which
 * a child inherits, no trace can be begun.
 */
static bool may_follow(void) {
    return recorder.settings.children == CHILDREN_FOLLOW && !sandbox_inside() &&
           recorder.ledger.births < BLOCKS_BIRTH_MAX - LEDGER_REGIONS_MAX;
}

static void note_parent(void) {
    at_fork.noted = may_follow();
    if (!at_fork.noted)
        return;
    for (int space = 0; space < TRACE_SPACES; space++)
        at_fork.live[space] = ledger_live(&recorder.ledger, (enum trace_space)space);
    at_fork.birth = recorder.ledger.births;
    at_fork.usable_bytes = recorder.ledger.open[0].record->usable_live_bytes;
}

/*
 * Which of the forks that a thread is in holds the lock is the thread's to know: another may fork
 * at the same time, and so may a signal handler in the middle of a fork.
 */
static bool fork_ends(void) {
    bool held = (recorder_thread.forks & 1) != 0;
    recorder_thread.forks >>= 1;
    return held;
}

void recorder_fork_prepare(void) {
    bool taken;
    recorder_thread.forks <<= 1;
    /*
     * Without the lock the child is muted: when a signal handler forks inside the recorder, and
     * when another thread stands in there and does not go on.
     */
    if (!recorder_active() || !booking_try(&taken))
        return;
    recorder.fork_lock_taken = taken;
    recorder_thread.forks |= 1;
    note_parent();
}

void recorder_fork_parent(void) {
    bool held = fork_ends();
    if (!recorder_active())
        return;
    if (!held) {
        __atomic_fetch_add(&recorder_completeness()->forked_children, 1, __ATOMIC_RELAXED);
        return;
    }
    if (!at_fork.noted)
        __atomic_fetch_add(&recorder_completeness()->forked_children, 1, __ATOMIC_RELAXED);
    booking_leave(recorder.fork_lock_taken);
}

void recorder_fork_failed(void) {
    if (recorder_active() && !may_follow())
        __atomic_fetch_sub(&recorder_completeness()->forked_children, 1, __ATOMIC_RELAXED);
}

void recorder_fork_child(void) {
    /* A child that sleeps and forks has had no event: its child is as it is. */
    bool follow = fork_ends() ? at_fork.noted : recorder_asleep;
    recorder_gate = &recorder_closed_gate;
    recorder_thread = (struct thread_state){0};
    recorder.lock = (struct lock){0};
    recorder_asleep = follow;
}

/* What belonged to threads that are not in this process. */
static void forget_threads(void) {
    recorder.pending = (struct pending){0};
    recorder.execs = 0;
    for (unsigned i = 0; i < RECORDER_BACKTRACES; i++)
        if (recorder.backtraces[i].taken)
            recorder.backtraces[i].taken = false;
}

/* The parent's trace is known by what its header said, which is only read. */
static void note_parents_trace(void) {
    memcpy(at_fork.uuid, recorder.file.header->uuid, sizeof(at_fork.uuid));
    memcpy(at_fork.path, recorder.file.path, sizeof(at_fork.path));
}

static bool inherit(void) {
    for (int space = 0; space < TRACE_SPACES; space++) {
        uint32_t site = stacktree_site_no_stack((enum trace_space)space);
        if ((at_fork.live[space][0] | at_fork.live[space][1]) != 0 &&
            !ledger_inherit(&recorder.ledger, (enum trace_space)space, site,
                            at_fork.live[space]))
            return false;
    }
    for (size_t i = 0; i < recorder.mappings.count; i++) {
        struct mapping *mapping = &recorder.mappings.entries[i];
        mapping->site = stacktree_site_no_stack((enum trace_space)mapping->space);
    }
    recorder.inherited_birth = at_fork.birth;
    ledger_inherit_more(&recorder.ledger, at_fork.birth, at_fork.usable_bytes);
    return true;
}

void children_adopt(struct block *block) {
    __atomic_fetch_add(&recorder_completeness()->inherited_freed, 1, __ATOMIC_RELAXED);
    block->site = stacktree_site_no_stack(TRACE_HEAP);
    block->birth = recorder.inherited_birth + LEDGER_BIRTH_ADOPTED;
}

void children_give_back(struct block *block) {
    if (recorder.inherited_birth == 0 ||
        block->birth != recorder.inherited_birth + LEDGER_BIRTH_ADOPTED)
        return;
    __atomic_fetch_sub(&recorder_completeness()->inherited_freed, 1, __ATOMIC_RELAXED);
    block->birth = recorder.inherited_birth;
}

static bool begin_own_trace(void) {
    static char path[PATH_MAX];
    const char *slash = strrchr(recorder.modules.exe, '/');
    const char *program = slash != NULL ? slash + 1 : recorder.modules.exe;
    note_parents_trace();
    forget_threads();
    bool named = tracefile_expand(recorder.settings.output, program,
                                  (unsigned)syscall(SYS_getpid), path) == 0;
    if (!recorder_begin_trace(named ? path : NULL, true))
        return false;
    struct trace_header *header = recorder.file.header;
    memcpy(header->parent_uuid, at_fork.uuid, sizeof(at_fork.uuid));
    header->flags |= TRACE_FORKED;
    tracefile_text(&recorder.file, TRACE_TEXT_PARENT, at_fork.path, strlen(at_fork.path));
    if (!inherit())
        return false;
    recorder.signal_region_open = false;
    recorder.signalled = (struct ledger_moment){0};
    lanes_restart();
    recorder_open_gate();
    return true;
}

bool recorder_wake(void) {
    uint64_t all = UINT64_MAX, before;
    if (recorder_busy() || !backtrace_has_room(__builtin_frame_address(0), WAKE_STACK_BYTES))
        return false;
    int saved_errno = errno;
    /* A handler that allocates meanwhile would be told that nothing is recorded. */
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
    recorder_thread.doing |= THREAD_BUSY;
    bool taken = lock_acquire(&recorder.lock);
    if (recorder_asleep) {
        recorder_asleep = false;
        begin_own_trace();
    }
    lock_release(&recorder.lock, taken);
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
    errno = saved_errno;
    return recorder_active();
}
