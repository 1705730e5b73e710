/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder.c: the one recorder of the process: start and regions.
 *
 * The gate is closed (recording == 0) before the start, when nothing can be recorded, and in
 * forked children: its page is wiped there by the kernel, so that a child can never write to
 * its parent's trace, however it was made.
 */
#include "booking.h"
#include "config.h"
#include "program.h"
#include "python.h"
#include "recorder_state.h"
#include "sandbox.h"
#include "sites.h"
#include "sysmem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum start_state {
    START_NOT_YET,
    START_GOES_ON,
    START_DONE,
};

struct recorder recorder;
struct recorder_gate recorder_closed_gate;
struct recorder_gate *recorder_gate = &recorder_closed_gate;
_Thread_local struct thread_state recorder_thread;

/* Time */

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t recorder_elapsed_ns(void) {
    uint64_t now_ns = sandbox_inside() ? sandbox.stopped_ns : 0;
    return (now_ns != 0 ? now_ns : clock_ns(CLOCK_MONOTONIC)) - recorder.start_ns;
}

/* The kernel's number of this thread; inside a sandbox 0 where it has not been asked before. */
static uint32_t thread_id(void) {
    if (!sandbox_inside())
        recorder_thread.kernel_id = (uint32_t)syscall(SYS_gettid);
    return recorder_thread.kernel_id;
}

bool recorder_is_own_process(void) {
    return sandbox_inside() || recorder.file.header->pid == (uint32_t)syscall(SYS_getpid);
}

static struct ledger_moment this_moment(void) {
    return (struct ledger_moment){
        .elapsed_ns = recorder_elapsed_ns(),
        .cpu_ns = sandbox_inside() ? 0 : clock_ns(CLOCK_PROCESS_CPUTIME_ID),
        .thread = thread_id(),
    };
}

/* Regions */

static void update_unwinds(void) {
    enum trace_stacks stacks = recorder.settings.stacks;
    bool marked = ledger_is_marked(&recorder.ledger);
    atomic_store_explicit(&recorder.unwinds,
                          stacks == TRACE_STACKS_ALL ||
                              (stacks == TRACE_STACKS_REGION && marked),
                          memory_order_relaxed);
}

/* A marker in a signal handler that interrupted the recorder has no way in. */
static bool markers_work(const char *name) {
    if (name == NULL || !recorder_awake())
        return false;
    if (!recorder_busy())
        return true;
    __atomic_fetch_add(&recorder_completeness()->events_lost, 1, __ATOMIC_RELAXED);
    return false;
}

void recorder_region_begin(const char *name) {
    if (!markers_work(name))
        return;
    struct ledger_moment now = this_moment();
    bool taken = booking_enter();
    ledger_begin(&recorder.ledger, name, &now);
    update_unwinds();
    booking_leave(taken);
}

void recorder_region_end(const char *name) {
    if (!markers_work(name))
        return;
    struct ledger_moment now = this_moment();
    bool taken = booking_enter();
    ledger_end(&recorder.ledger, name, &now);
    update_unwinds();
    booking_leave(taken);
}

void recorder_thread_region_begin(const char *name) {
    if (!markers_work(name))
        return;
    if (recorder_thread.number == 0)
        recorder_thread.number = 1 + atomic_fetch_add(&recorder.threads_numbered, 1);
    struct ledger_moment now = this_moment();
    bool taken = booking_enter();
    ledger_begin_own(&recorder.ledger, name, &now);
    update_unwinds();
    booking_leave(taken);
}

void recorder_thread_region_end(const char *name) {
    if (!markers_work(name))
        return;
    struct ledger_moment now = this_moment();
    bool taken = booking_enter();
    ledger_end_own(&recorder.ledger, name, &now);
    update_unwinds();
    booking_leave(taken);
}

int recorder_region_query(const char *name, struct votrace_region_totals *ret_totals) {
    if (name == NULL || recorder_busy() || !recorder_awake())
        return -ENOSYS;
    bool taken = booking_enter();
    int r = ledger_query(&recorder.ledger, name, ret_totals);
    booking_leave(taken);
    return r;
}

/* Signals of several threads need not be booked in the order in which they looked at the clock. */
static struct ledger_moment no_earlier(const struct ledger_moment *now) {
    struct ledger_moment *latest = &recorder.signalled;
    latest->thread = now->thread;
    if (now->elapsed_ns > latest->elapsed_ns)
        latest->elapsed_ns = now->elapsed_ns;
    if (now->cpu_ns > latest->cpu_ns)
        latest->cpu_ns = now->cpu_ns;
    return *latest;
}

void book_signalled(const struct ledger_moment *now) {
    const char *name = recorder.settings.region;
    struct ledger_moment moment = no_earlier(now);
    recorder.signal_region_open = !recorder.signal_region_open;
    if (recorder.signal_region_open)
        ledger_begin(&recorder.ledger, name, &moment);
    else
        ledger_end(&recorder.ledger, name, &moment);
    update_unwinds();
}

/* In a signal handler, which may have interrupted anything: also the recorder itself. */
void recorder_signalled(void) {
    if (!recorder_awake())
        return;
    int saved_errno = errno;
    struct ledger_moment now = this_moment();
    if (recorder_busy()) {
        book_later((struct pending_event){.kind = PENDING_SIGNALLED,
                                          .elapsed_ns = now.elapsed_ns,
                                          .cpu_ns = now.cpu_ns,
                                          .thread = now.thread});
    } else {
        bool taken = booking_enter();
        book_signalled(&now);
        booking_leave(taken);
    }
    errno = saved_errno;
}

/*
 * Without SA_RESTART calls would fail that never do; on the alternate stack where the thread
 * has one, because its own may be small.
 */
static void signal_handler(int number) {
    recorder_signalled();
}

static void catch_signal(int number) {
    struct sigaction action = {.sa_handler = signal_handler,
                               .sa_flags = SA_RESTART | SA_ONSTACK};
    if (number != 0)
        sigaction(number, &action, NULL);
}

/* Start */

static const char *last_component(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

size_t recorder_read_proc(const char *path, char *buffer, size_t size) {
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

/* Kernels before 3.17, and some sandboxes, give no random bytes: what differs must do. */
static void make_uuid(uint8_t ret[TRACE_UUID_BYTES]) {
    if (syscall(SYS_getrandom, ret, TRACE_UUID_BYTES, GRND_NONBLOCK) == TRACE_UUID_BYTES)
        return;
    uint64_t parts[2] = {clock_ns(CLOCK_REALTIME),
                         (uint64_t)syscall(SYS_getpid) << 32 ^ (uintptr_t)&parts};
    memcpy(ret, parts, TRACE_UUID_BYTES);
}

static void write_facts(struct tracefile *file) {
    static char text[PATH_MAX]; /* a forked child's stack may be small */
    struct trace_header *header = file->header;
    const char *exe = recorder.modules.exe;

    make_uuid(header->uuid);
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
                   recorder_read_proc("/proc/self/cmdline", text, sizeof(text)));
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

bool recorder_begin_trace(const char *path, bool restart) {
    recorder.start_ns = clock_ns(CLOCK_MONOTONIC);
    struct ledger_moment now = this_moment();
    if (tracefile_open(&recorder.file, path) < 0)
        return false;
    write_facts(&recorder.file);
    if (restart) {
        modules_restart(&recorder.modules, &recorder.file);
        python_restart();
    }
    if ((restart ? stacktree_restart(&recorder.stacks, &recorder.file)
                 : stacktree_init(&recorder.stacks, &recorder.file)) < 0)
        return false;
    if (ledger_init(&recorder.ledger, &recorder.file, &recorder.stacks, &now) < 0)
        return false;
    if (recorder.usable_size != NULL) {
        recorder.file.header->flags |= TRACE_USABLE;
        ledger_keep_usable(&recorder.ledger);
    }
    return true;
}

void recorder_open_gate(void) {
    update_unwinds();
    recorder.file.header->state = TRACE_RUNNING;
    __atomic_store_n(&recorder_gate, recorder.gate, __ATOMIC_RELEASE);
    __atomic_store_n(&recorder.gate->recording, 1, __ATOMIC_RELEASE);
}

void recorder_offer_usable_size(size_t (*usable_size)(void *block)) {
    if (atomic_load(&recorder.start_state) == START_NOT_YET)
        recorder.usable_size = usable_size;
}

static void decide_on_usable(void) {
    if (!recorder.settings.usable)
        recorder.usable_size = NULL;
    else if (recorder.usable_size == NULL)
        recorder.settings.ignored++;
}

static bool start(void) {
    char exe[PATH_MAX];
    char path[PATH_MAX];

    recorder.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    settings_read(&recorder.settings);
    decide_on_usable();
    program_path(exe);
    recorder.gate = gate_new();
    if (recorder.gate == NULL || blocks_init(&recorder.blocks) < 0 ||
        modules_init(&recorder.modules, &recorder.file, exe) < 0)
        return false;
    bool named = tracefile_expand(recorder.settings.output, last_component(exe),
                                  (unsigned)syscall(SYS_getpid), path) == 0;
    if (!recorder_begin_trace(named ? path : NULL, false) || lanes_init() < 0)
        return false;
    if (recorder.usable_size != NULL)
        lanes_forbid(); /* they do not know of usable sizes: all goes under the lock */
    if (recorder.settings.children == CHILDREN_FOLLOW)
        settings_keep_folder(&recorder.settings);
    backtrace_init();
    if (recorder.settings.python)
        python_find();
    sites_note_modules(); /* now, while nobody can hold the loader's lock */
    recorder_open_gate();
    catch_signal(recorder.settings.signal);
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

void recorder_malloc_elsewhere(void) {
    if (recorder_active())
        recorder_completeness()->malloc_elsewhere = 1;
}

bool recorder_hides_from_children(void) {
    return recorder.settings.children == CHILDREN_NONE;
}

/* Tests */

void recorder_reset_for_tests(void) {
    memset(&recorder, 0, sizeof(recorder));
    memset(&sandbox, 0, sizeof(sandbox));
    recorder_gate = &recorder_closed_gate;
    recorder_asleep = false;
    recorder_thread = (struct thread_state){0};
}

const struct trace_header *recorder_header_for_tests(void) {
    if (recorder_active())
        booking_leave_beside(booking_enter());
    return recorder.file.header;
}
