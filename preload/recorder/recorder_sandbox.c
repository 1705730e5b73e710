/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder_sandbox.c: the process installs a seccomp filter, after which a system call of ours
 * may be its end.
 *
 * Before it does: lanes are closed for good, whose closing takes membarrier(); the trace file
 * grows ahead, as it can grow in memory only from then on; what this thread is called and where
 * its alternate stack is gets noted; and threads that are unwinding, which libunwind does with
 * system calls, are waited for. All is taken back if the filter is refused.
 *
 * Where only reading, writing and exiting is allowed, recording ends: there is no memory to be
 * had for what is new.
 */
#include "booking.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROOM_BYTES    (UINT64_C(16) << 20) /* of the trace, for what is new in the sandbox */
#define WAIT_ROUNDS   100                  /* of a millisecond, for those who unwind */
#define CLOCKS_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static bool lanes_were_allowed;
static bool recording_ended;

/* By others than these the kernel is asked for the time, each time. */
static bool clock_is_no_call(const char *source) {
    static const char *const mapped[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
                                         "arch_sys_counter"};
    for (size_t i = 0; i < sizeof(mapped) / sizeof(mapped[0]); i++)
        if (strcmp(source, mapped[i]) == 0)
            return true;
    return false;
}

/* Where it cannot be read nothing is known against the clock. */
static bool clock_works_inside(void) {
    char source[64];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, CLOCKS_SOURCE, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    long got = syscall(SYS_read, fd, source, sizeof(source) - 1);
    syscall(SYS_close, fd);
    if (got <= 0)
        return true;
    source[got] = '\0';
    source[strcspn(source, "\n")] = '\0';
    return clock_is_no_call(source);
}

static void stop_clock(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    sandbox.stopped_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* With the lock held, and the lanes closed. */
static void note_beforehand(void) {
    lanes_were_allowed = recorder.lanes_allowed;
    tracefile_make_room(&recorder.file, ROOM_BYTES);
    if (!clock_works_inside())
        stop_clock();
}

/*
 * Who begins to unwind now knows of the sandbox; who does so already holds a backtrace. Not for
 * ever: one may be waiting for the loader, whose lock this thread holds.
 */
static void wait_for_unwinders(void) {
    if (__libc_single_threaded || (recorder_thread.doing & THREAD_UNWINDING) != 0)
        return;
    unsigned rounds = 0;
    for (unsigned i = 0; i < RECORDER_BACKTRACES; i++)
        while (atomic_load(&recorder.backtraces[i].taken) && rounds++ < WAIT_ROUNDS) {
            struct timespec pause = {.tv_nsec = 1000000};
            syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
        }
}

static void enter_sandbox(void) {
    lanes_forbid();
    tracefile_seal(&recorder.file, true);
    sandbox_enter();
}

void recorder_sandbox_entering(bool strict) {
    int saved_errno = errno;
    if (!recorder_awake()) {
        sandbox_enter();
    } else if (recorder_busy()) {
        enter_sandbox(); /* a signal handler that has interrupted the recorder */
    } else {
        sandbox_ask_alternate();
        recorder_thread.kernel_id = (uint32_t)syscall(SYS_gettid);
        bool taken = booking_enter();
        if (!sandbox_inside())
            note_beforehand();
        enter_sandbox();
        if (strict) {
            recorder_completeness()->events_lost++;
            recording_ended = true;
            __atomic_store_n(&recorder.gate->recording, 0, __ATOMIC_RELAXED);
        }
        booking_leave(taken);
        wait_for_unwinders();
    }
    errno = saved_errno;
}

void recorder_sandbox_refused(bool strict) {
    int saved_errno = errno;
    sandbox_leave();
    if (strict && recording_ended) {
        recording_ended = false;
        recorder_completeness()->events_lost--;
        __atomic_store_n(&recorder.gate->recording, 1, __ATOMIC_RELAXED);
    }
    if (recorder_active() && !recorder_busy()) {
        bool taken = booking_enter_beside();
        if (!sandbox_inside()) {
            sandbox.stopped_ns = 0;
            tracefile_seal(&recorder.file, false);
            recorder.lanes_allowed = lanes_were_allowed;
        }
        booking_leave_beside(taken);
    }
    errno = saved_errno;
}
