/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder.c: the one recorder of the process.
 *
 * An allocation becomes: its stack (no lock), the stack's site (no lock if it is known), then
 * under the lock the block table and the ledger. A signal handler that allocates while its own
 * thread is in there finds busy set and leaves a note in the queue, which is read before
 * anything else is booked. The unwinder and the real allocator are never called with the lock
 * held.
 *
 * The gate is closed (recording == 0) before the start, when nothing can be recorded, and in
 * forked children: its page is wiped there by the kernel, so that a child can never write to
 * its parent's trace, however it was made.
 */
#include "recorder.h"

#include "backtrace.h"
#include "config.h"
#include "ledger.h"
#include "lock.h"
#include "modules.h"
#include "pending.h"
#include "settings.h"
#include "stacktree.h"
#include "sysmem.h"
#include "tracefile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BACKTRACES 64u /* more threads than can be unwinding at one time */

enum start_state {
    START_NOT_YET,
    START_GOES_ON,
    START_DONE,
};

struct recorder {
    struct lock lock;
    _Atomic int start_state;
    _Atomic bool unwinds; /* take stacks: always, or while a marked region is open */
    struct settings settings;
    struct tracefile file;
    struct blocks blocks;
    struct mappings mappings;
    struct ledger ledger;
    struct stacktree stacks;
    struct modules modules;
    struct pending pending;
    _Atomic uint32_t threads_numbered;
    struct backtrace backtraces[BACKTRACES];
    _Atomic uint64_t loader_changes; /* loads and unloads when modules were last noted */
    uint64_t start_ns;
    uint64_t page_bytes;
    bool fork_held; /* recorder_fork_prepare() entered */
    bool fork_lock_taken;
};

static struct recorder recorder;
static struct recorder_gate closed_gate;
struct recorder_gate *recorder_gate = &closed_gate;
_Thread_local struct thread_state recorder_thread;

/* Time */

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct ledger_moment this_moment(void) {
    return (struct ledger_moment){
        .elapsed_ns = clock_ns(CLOCK_MONOTONIC) - recorder.start_ns,
        .cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
        .thread = (uint32_t)syscall(SYS_gettid),
    };
}

/* Booking, with the lock held */

static struct trace_completeness *completeness(void) {
    return &recorder.file.header->completeness;
}

static void book_freed_block(struct block block, bool temporary) {
    ledger_free(&recorder.ledger, TRACE_HEAP, block.site, 1, block.size_bytes, block.birth,
                temporary);
}

/* A block whose size is no longer known, or whose free went by unseen. */
static __attribute__((noinline, cold)) void book_lost(struct block block) {
    completeness()->events_lost++;
    book_freed_block(block, false);
}

/* Enter a block in the table. Returns false when it was not. */
static inline bool keep_block(uintptr_t address, uint64_t bytes, uint32_t site,
                              uint32_t birth) {
    struct block old;
    bool stale;
    int r = blocks_insert(&recorder.blocks, address, bytes, site, birth, &old, &stale);
    if (__builtin_expect(stale, 0))
        book_lost(old);
    if (__builtin_expect(r == 0, 1))
        return true;
    completeness()->events_lost++;
    completeness()->table_refused += r == -ENOMEM;
    return false;
}

static inline void book_allocated(uintptr_t address, uint64_t bytes, uint32_t site) {
    if (__builtin_expect(!keep_block(address, bytes, site, recorder.ledger.begun), 0))
        return;
    if (__builtin_expect(!ledger_allocate(&recorder.ledger, TRACE_HEAP, site, 1, bytes), 0)) {
        struct block unbooked;
        blocks_remove(&recorder.blocks, address, &unbooked);
    }
}

/* A block that was taken out for a realloc that failed. */
static void book_again(const struct recorder_taken *taken_out) {
    const struct block *block = &taken_out->block;
    if (!keep_block(taken_out->address, block->size_bytes, block->site, block->birth))
        book_freed_block(*block, false);
}

static inline void book_freed(uintptr_t address, bool temporary) {
    struct block block;
    if (__builtin_expect(blocks_remove(&recorder.blocks, address, &block), 1))
        book_freed_block(block, temporary);
    else
        completeness()->unknown_frees++;
}

/* Take what is no later than @serial in [start, end) out of the mappings and the ledger. */
static void book_unmapped(uintptr_t start, uintptr_t end, uint64_t serial) {
    struct mapping part;
    int added;
    int r;
    while ((r = mappings_cut(&recorder.mappings, start, end, serial, &part, &added)) > 0) {
        if (added > 0)
            ledger_allocate(&recorder.ledger, part.space, part.site, 1, 0);
        ledger_free(&recorder.ledger, part.space, part.site, added < 0, part.end - part.start,
                    part.birth, false);
    }
    if (r < 0)
        completeness()->events_lost++;
}

static void book_mapping(struct mapping mapping) {
    if (!ledger_allocate(&recorder.ledger, mapping.space, mapping.site, 1,
                         mapping.end - mapping.start))
        return;
    if (mappings_insert(&recorder.mappings, mapping) < 0) {
        completeness()->events_lost++;
        completeness()->table_refused++;
    }
}

static void book_mapped(uintptr_t address, uint64_t bytes, enum trace_space space,
                        uint32_t site) {
    book_unmapped(address, address + bytes, UINT64_MAX);
    book_mapping((struct mapping){
        .start = address,
        .end = address + bytes,
        .site = site,
        .birth = recorder.ledger.begun,
        .space = space,
    });
}

/* The stack could only be looked up for a space, which is known only now. */
static void book_remapped_pending(const struct pending_event *event) {
    const struct mapping *found =
        mappings_find(&recorder.mappings, event->old_address,
                      event->old_address + (event->old_bytes > 0 ? event->old_bytes : 1));
    if (found == NULL)
        return;
    enum trace_space space = found->space;
    if (!event->keeps_old)
        book_unmapped(event->old_address, event->old_address + event->old_bytes, UINT64_MAX);
    __atomic_fetch_add(&completeness()->stacks_missing, 1, __ATOMIC_RELAXED);
    book_mapped(event->address, event->bytes, space, stacktree_site_no_stack(space));
}

static __attribute__((noinline, cold)) void book_pending(void) {
    struct pending_event event;
    pending_look(&recorder.pending);
    while (pending_pop(&recorder.pending, &event)) {
        switch (event.kind) {
        case PENDING_ALLOCATED:
            book_allocated(event.address, event.bytes, event.site);
            break;
        case PENDING_FREED:
            book_freed(event.address, event.temporary);
            break;
        case PENDING_MAPPED:
            book_mapped(event.address, event.bytes, event.space, event.site);
            break;
        case PENDING_UNMAPPED:
            book_unmapped(event.address, event.address + event.bytes, UINT64_MAX);
            break;
        case PENDING_REMAPPED:
            book_remapped_pending(&event);
            break;
        }
    }
}

/* Entering and leaving */

static inline bool busy(void) {
    return (recorder_thread.doing & THREAD_BUSY) != 0;
}

/* What signal handlers left comes first: it happened before what is to be booked now. */
static inline bool enter(void) {
    recorder_thread.doing |= THREAD_BUSY;
    atomic_signal_fence(memory_order_seq_cst);
    bool taken = lock_acquire(&recorder.lock);
    if (__builtin_expect(pending_any(&recorder.pending), 0))
        book_pending();
    return taken;
}

static inline void leave(bool taken) {
    lock_release(&recorder.lock, taken);
    atomic_signal_fence(memory_order_seq_cst);
    recorder_thread.doing &= ~(uint32_t)THREAD_BUSY;
}

/* The thread was interrupted inside the recorder: leave a note. */
static __attribute__((noinline, cold)) void queue(struct pending_event event) {
    if (!pending_push(&recorder.pending, event))
        __atomic_fetch_add(&completeness()->events_lost, 1, __ATOMIC_RELAXED);
}

/* Stacks */

static int note_module(struct dl_phdr_info *info, size_t bytes, void *data) {
    uint64_t changes = info->dlpi_adds + info->dlpi_subs;
    uint64_t *known = data;
    if (changes == *known)
        return 1;
    bool taken = enter();
    modules_note(&recorder.modules, info);
    leave(taken);
    atomic_store_explicit(&recorder.loader_changes, changes, memory_order_relaxed);
    return 0;
}

/* Note what was loaded since the last look. The loader's lock is taken, ours only inside it. */
static void note_modules(void) {
    uint64_t known = atomic_load_explicit(&recorder.loader_changes, memory_order_relaxed);
    dl_iterate_phdr(note_module, &known);
}

static uint32_t no_stack(enum trace_space space, bool missing) {
    if (missing)
        __atomic_fetch_add(&completeness()->stacks_missing, 1, __ATOMIC_RELAXED);
    return stacktree_site_no_stack(space);
}

static __attribute__((noinline, cold)) uint32_t add_site(const struct backtrace *backtrace,
                                                         enum trace_space space) {
    if (busy())
        return no_stack(space, true);
    note_modules();
    bool other;
    bool taken = enter();
    uint32_t site = stacktree_add(&recorder.stacks, backtrace, space, &other);
    if (other)
        completeness()->stacks_other++;
    leave(taken);
    return site;
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
    for (uint32_t i = 0; i < BACKTRACES; i++) {
        struct backtrace *backtrace =
            &recorder.backtraces[(recorder_thread.number + i) % BACKTRACES];
        if (__builtin_expect(backtrace_borrow(backtrace), 1))
            return backtrace;
    }
    return NULL;
}

static __attribute__((noinline)) uint32_t site_by_stack(enum trace_space space,
                                                        const uintptr_t *frame) {
    if (recorder_thread.doing & THREAD_UNWINDING)
        return no_stack(space, true);
    struct backtrace *backtrace = find_backtrace();
    if (backtrace == NULL)
        return no_stack(space, true);

    int saved_errno = errno;
    recorder_thread.doing |= THREAD_UNWINDING;
    if (!backtrace_take(backtrace, frame, recorder.settings.depth_frames))
        no_stack(space, true);
    recorder_thread.doing &= ~(uint32_t)THREAD_UNWINDING;
    uint32_t site = stacktree_find(&recorder.stacks, backtrace, space);
    if (__builtin_expect(site == STACKTREE_NO_SITE, 0))
        site = add_site(backtrace, space);
    atomic_store_explicit(&backtrace->taken, false, memory_order_release);
    errno = saved_errno;
    return site;
}

static inline uint32_t site_of(enum trace_space space, const uintptr_t *frame) {
    if (atomic_load_explicit(&recorder.unwinds, memory_order_relaxed))
        return site_by_stack(space, frame);
    return stacktree_site_no_stack(space);
}

/* Heap events */

void recorder_allocated(uintptr_t address, uint64_t bytes, const uintptr_t *frame) {
    uint32_t site = site_of(TRACE_HEAP, frame);
    recorder_thread.last_allocated = address;
    if (__builtin_expect(busy(), 0)) {
        queue((struct pending_event){
            .kind = PENDING_ALLOCATED, .address = address, .bytes = bytes, .site = site});
        return;
    }
    bool taken = enter();
    book_allocated(address, bytes, site);
    leave(taken);
}

void recorder_freed(uintptr_t address) {
    bool temporary = recorder_thread.last_allocated == address;
    recorder_thread.last_allocated = 0;
    if (__builtin_expect(busy(), 0)) {
        queue((struct pending_event){
            .kind = PENDING_FREED, .address = address, .temporary = temporary});
        return;
    }
    bool taken = enter();
    book_freed(address, temporary);
    leave(taken);
}

__attribute__((noinline)) void recorder_failed(enum trace_space space) {
    if (!recorder_active() || busy())
        return;
    bool taken = enter();
    ledger_count_failed(&recorder.ledger, space);
    leave(taken);
}

void recorder_reallocating(uintptr_t address, struct recorder_taken *ret_taken) {
    *ret_taken = (struct recorder_taken){.address = address};
    if (!recorder_active())
        return;
    recorder_thread.last_allocated = 0;
    if (busy()) {
        ret_taken->queued = true;
        queue((struct pending_event){.kind = PENDING_FREED, .address = address});
        return;
    }
    bool taken = enter();
    ret_taken->known = blocks_remove(&recorder.blocks, address, &ret_taken->block);
    leave(taken);
}

void recorder_realloc_failed(const struct recorder_taken *taken_out) {
    if (!recorder_active())
        return;
    if (taken_out->queued) {
        __atomic_fetch_add(&completeness()->events_lost, 1, __ATOMIC_RELAXED);
        return;
    }
    bool taken = enter();
    if (taken_out->known)
        book_again(taken_out);
    ledger_count_failed(&recorder.ledger, TRACE_HEAP);
    leave(taken);
}

void recorder_reallocated(const struct recorder_taken *taken_out, uintptr_t address,
                          uint64_t bytes, const uintptr_t *frame) {
    if (!recorder_active())
        return;
    if (taken_out->queued) {
        if (address != 0)
            recorder_allocated(address, bytes, frame);
        return;
    }
    uint32_t site = address != 0 ? site_of(TRACE_HEAP, frame) : 0;
    bool taken = enter();
    if (taken_out->known)
        book_freed_block(taken_out->block, false);
    else
        completeness()->unknown_frees++;
    if (address != 0) {
        book_allocated(address, bytes, site);
        ledger_count_reallocation(&recorder.ledger, TRACE_HEAP);
    }
    leave(taken);
    recorder_thread.last_allocated = address;
}

/* Mapping events */

static uint64_t round_to_pages(uint64_t bytes) {
    return (bytes + recorder.page_bytes - 1) & ~(recorder.page_bytes - 1);
}

void recorder_mapped(uintptr_t address, uint64_t bytes, enum trace_space space,
                     const uintptr_t *frame) {
    if (!recorder_active())
        return;
    uint32_t site = site_of(space, frame);
    bytes = round_to_pages(bytes);
    if (busy()) {
        queue((struct pending_event){.kind = PENDING_MAPPED,
                                     .space = space,
                                     .address = address,
                                     .bytes = bytes,
                                     .site = site});
        return;
    }
    bool taken = enter();
    book_mapped(address, bytes, space, site);
    leave(taken);
}

void recorder_unmapping(uintptr_t address, uint64_t bytes, struct recorder_unmapping *ret) {
    *ret = (struct recorder_unmapping){.queued = busy()};
    if (!recorder_active() || ret->queued)
        return;
    bool taken = enter();
    const struct mapping *found =
        mappings_find(&recorder.mappings, address, address + (bytes > 0 ? bytes : 1));
    ret->serial = recorder.mappings.serial;
    ret->known = found != NULL;
    if (found != NULL)
        ret->space = found->space;
    leave(taken);
}

void recorder_unmapped(uintptr_t address, uint64_t bytes,
                       const struct recorder_unmapping *unmapping) {
    if (!recorder_active())
        return;
    bytes = round_to_pages(bytes);
    if (unmapping->queued) {
        queue((struct pending_event){
            .kind = PENDING_UNMAPPED, .address = address, .bytes = bytes});
        return;
    }
    bool taken = enter();
    book_unmapped(address, address + bytes, unmapping->serial);
    leave(taken);
}

void recorder_remapped(struct recorder_range old, struct recorder_range new, bool keeps_old,
                       const struct recorder_unmapping *unmapping, const uintptr_t *frame) {
    if (!recorder_active())
        return;
    old.bytes = round_to_pages(old.bytes);
    new.bytes = round_to_pages(new.bytes);
    if (unmapping->queued) {
        queue((struct pending_event){.kind = PENDING_REMAPPED,
                                     .address = new.address,
                                     .bytes = new.bytes,
                                     .old_address = old.address,
                                     .old_bytes = old.bytes,
                                     .keeps_old = keeps_old});
        return;
    }
    if (!unmapping->known)
        return;
    uint32_t site = site_of(unmapping->space, frame);
    bool taken = enter();
    if (!keeps_old)
        book_unmapped(old.address, old.address + old.bytes, unmapping->serial);
    book_mapped(new.address, new.bytes, unmapping->space, site);
    ledger_count_reallocation(&recorder.ledger, unmapping->space);
    leave(taken);
}

/* Regions */

static void update_unwinds(void) {
    enum trace_stacks stacks = recorder.settings.stacks;
    bool marked = recorder.ledger.open_count > 1;
    atomic_store_explicit(&recorder.unwinds,
                          stacks == TRACE_STACKS_ALL ||
                              (stacks == TRACE_STACKS_REGION && marked),
                          memory_order_relaxed);
}

void recorder_region_begin(const char *name) {
    if (!recorder_active() || busy() || name == NULL)
        return;
    struct ledger_moment now = this_moment();
    bool taken = enter();
    ledger_begin(&recorder.ledger, name, &now);
    update_unwinds();
    leave(taken);
}

void recorder_region_end(const char *name) {
    if (!recorder_active() || busy() || name == NULL)
        return;
    struct ledger_moment now = this_moment();
    bool taken = enter();
    ledger_end(&recorder.ledger, name, &now);
    update_unwinds();
    leave(taken);
}

int recorder_region_query(const char *name, struct votrace_region_totals *ret_totals) {
    if (!recorder_active() || busy() || name == NULL)
        return -ENOSYS;
    bool taken = enter();
    int r = ledger_query(&recorder.ledger, name, ret_totals);
    leave(taken);
    return r;
}

/* Start */

static const char *last_component(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Read a /proc file whole, up to @size bytes. Returns the bytes read. */
static size_t read_proc(const char *path, char *buffer, size_t size) {
    size_t length = 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    long got;
    while (length < size && (got = syscall(SYS_read, fd, buffer + length, size - length)) > 0)
        length += (size_t)got;
    syscall(SYS_close, fd);
    return length;
}

static void write_facts(struct tracefile *file, const char *exe) {
    char text[PATH_MAX];
    struct trace_header *header = file->header;

    header->pid = (uint32_t)syscall(SYS_getpid);
    header->parent_pid = (uint32_t)syscall(SYS_getppid);
    header->start_realtime_ns = clock_ns(CLOCK_REALTIME);
    header->stacks = recorder.settings.stacks;
    header->depth_limit = recorder.settings.depth_frames;
    header->completeness.settings_ignored = recorder.settings.ignored;
    memcpy(header->program, last_component(exe),
           strnlen(last_component(exe), TRACE_NAME_BYTES - 1));
    memcpy(header->votrace_version, VOTRACE_VERSION, sizeof(VOTRACE_VERSION));

    tracefile_text(file, TRACE_TEXT_EXE, exe, strlen(exe));
    tracefile_text(file, TRACE_TEXT_COMMAND, text,
                   read_proc("/proc/self/cmdline", text, sizeof(text)));
    long got = syscall(SYS_getcwd, text, sizeof(text));
    if (got > 0)
        tracefile_text(file, TRACE_TEXT_CWD, text, (size_t)got - 1);
}

static struct recorder_gate *gate_new(void) {
    struct recorder_gate *gate = sysmem_map(recorder.page_bytes);
    /* Kernels before 4.14 refuse; pthread_atfork() then covers fork(), but not raw clones. */
    if (gate != NULL)
        syscall(SYS_madvise, gate, recorder.page_bytes, MADV_WIPEONFORK);
    return gate;
}

static bool start(void) {
    char exe[PATH_MAX];
    char path[PATH_MAX];

    recorder.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    recorder.start_ns = clock_ns(CLOCK_MONOTONIC);
    settings_read(&recorder.settings);
    long got = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe, sizeof(exe) - 1);
    exe[got > 0 ? got : 0] = '\0';

    bool named = tracefile_expand(recorder.settings.output, last_component(exe),
                                  (unsigned)syscall(SYS_getpid), path) == 0;
    struct recorder_gate *gate = gate_new();
    if (gate == NULL || tracefile_open(&recorder.file, named ? path : NULL) < 0)
        return false;
    write_facts(&recorder.file, exe);

    struct ledger_moment now = this_moment();
    if (blocks_init(&recorder.blocks) < 0 ||
        modules_init(&recorder.modules, &recorder.file, exe) < 0 ||
        stacktree_init(&recorder.stacks, &recorder.file) < 0 ||
        ledger_init(&recorder.ledger, &recorder.file, &recorder.stacks, &now) < 0)
        return false;
    backtrace_init();
    update_unwinds();
    recorder.file.header->state = TRACE_RUNNING;
    __atomic_store_n(&recorder_gate, gate, __ATOMIC_RELEASE);
    __atomic_store_n(&gate->recording, 1, __ATOMIC_RELEASE);
    return true;
}

void recorder_start(void) {
    int not_yet = START_NOT_YET;
    if (!atomic_compare_exchange_strong(&recorder.start_state, &not_yet, START_GOES_ON))
        return;
    int saved_errno = errno;
    start();
    errno = saved_errno;
    atomic_store(&recorder.start_state, START_DONE);
}

/* Fork */

void recorder_fork_prepare(void) {
    /* Not when a signal handler forks inside the recorder: the child is muted anyhow. */
    if (!recorder_active() || busy())
        return;
    recorder.fork_lock_taken = enter();
    recorder.fork_held = true;
}

void recorder_fork_parent(void) {
    if (!recorder_active())
        return;
    if (!recorder.fork_held) {
        __atomic_fetch_add(&completeness()->forked_children, 1, __ATOMIC_RELAXED);
        return;
    }
    recorder.fork_held = false;
    completeness()->forked_children++;
    leave(recorder.fork_lock_taken);
}

void recorder_fork_child(void) {
    recorder_gate = &closed_gate;
    recorder_thread = (struct thread_state){0};
}

/* Exit */

/* Once, and perhaps on the small stack of a signal handler. */
static void print_summary(const struct votrace_region_totals *totals) {
    static char line[PATH_MAX + 256];
    int length =
        snprintf(line, sizeof(line),
                 "votrace: heap peak %" PRIi64 " bytes, %" PRIu64 " allocations, %" PRIi64
                 " bytes not freed; %s%s\n",
                 totals->live_peak_bytes, totals->allocations, totals->live_bytes,
                 recorder.file.spilling ? "could not write all of " : "", recorder.file.path);
    if (length > 0 && (size_t)length < sizeof(line))
        syscall(SYS_write, STDERR_FILENO, line, length);
}

void recorder_exiting(void) {
    if (!recorder_active() || busy() ||
        recorder.file.header->pid != (uint32_t)syscall(SYS_getpid))
        return;
    int saved_errno = errno;
    struct votrace_region_totals totals = {0};
    note_modules();
    bool taken = enter();
    bool first = recorder.file.header->state != TRACE_EXITED;
    recorder.file.header->end_elapsed_ns = clock_ns(CLOCK_MONOTONIC) - recorder.start_ns;
    recorder.file.header->state = TRACE_EXITED;
    ledger_query(&recorder.ledger, "process", &totals);
    if (first && recorder.file.spilling) {
        tracefile_finish(&recorder.file);
        /* What was copied to the file does not follow later events: there may be none. */
        __atomic_store_n(&recorder_gate->recording, 0, __ATOMIC_RELAXED);
    }
    leave(taken);
    if (first && isatty(STDERR_FILENO))
        print_summary(&totals);
    errno = saved_errno;
}

/* Tests */

void recorder_reset_for_tests(void) {
    memset(&recorder, 0, sizeof(recorder));
    recorder_gate = &closed_gate;
    recorder_thread = (struct thread_state){0};
}

const struct trace_header *recorder_header_for_tests(void) {
    return recorder.file.header;
}
