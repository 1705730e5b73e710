/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder_ends.c: the process becomes another program, or ends.
 *
 * Whatever comes after it may find nobody to write more: the record says what is live, lanes stay
 * closed, and what is in memory only goes to the file. When exec comes back all that is undone. The
 * end must come: nobody is waited for without bound here.
 */
#include "booking.h"
#include "sandbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is said in /proc/self/status, in KiB; 0 where it is not to be had. */
static uint64_t peak_resident_bytes(void) {
    static char text[4096]; /* under the lock, and perhaps on a small stack */
    static const char name[] = "\nVmHWM:";
    if (sandbox_inside())
        return 0;
    text[recorder_read_proc("/proc/self/status", text, sizeof(text) - 1)] = '\0';
    const char *found = strstr(text, name);
    return found != NULL ? (uint64_t)strtoul(found + sizeof(name) - 1, NULL, 10) << 10 : 0;
}

/*
 * The lock, for the end of the process: that must come even if a thread was stopped inside the
 * recorder for good. False: the trace is left as a process that is killed leaves it.
 */
#define END_TRIES 4

static bool enter_for_the_end(bool *ret_taken) {
    for (int i = 0; i < END_TRIES; i++) {
        atomic_store_explicit(&recorder.stalls, 0, memory_order_relaxed); /* all patience */
        if (booking_try(ret_taken))
            return true;
    }
    return false;
}

/* Exec */

/* What to put back when exec comes back: in several threads at once, when the last does. */
static struct {
    uint32_t state;
    uint64_t end_elapsed_ns;
    bool lanes_allowed;
    bool wrote; /* what was in memory only is in the file */
} before_exec;

static void note_exec(struct trace_header *header) {
    before_exec.state = header->state;
    before_exec.end_elapsed_ns = header->end_elapsed_ns;
    before_exec.lanes_allowed = recorder.lanes_allowed;
    lanes_forbid(); /* the record says for good what is live */
    header->peak_resident_bytes = peak_resident_bytes();
    before_exec.wrote = recorder.file.spilling && tracefile_finish(&recorder.file);
    header->end_elapsed_ns = recorder_elapsed_ns();
    __atomic_store_n(&header->state, TRACE_EXECED, __ATOMIC_RELEASE);
}

/* Unless another thread has called exit() meanwhile: what that wrote stands. */
static void take_exec_back(struct trace_header *header) {
    if (header->state != TRACE_EXECED)
        return;
    __atomic_store_n(&header->state, before_exec.state, __ATOMIC_RELEASE);
    header->end_elapsed_ns = before_exec.end_elapsed_ns;
    recorder.lanes_allowed = before_exec.lanes_allowed && !sandbox_inside();
    if (before_exec.wrote)
        tracefile_unfinish(&recorder.file);
}

/*
 * In a signal handler that interrupted the recorder nothing is noted: the trace says that the
 * process was killed, which is as true.
 */
bool recorder_exec_begin(void) {
    struct trace_header *header = recorder.file.header;
    if (!recorder_active() || !recorder_is_own_process() || recorder_busy())
        return false;
    int saved_errno = errno;
    bool taken;
    bool entered = enter_for_the_end(&taken);
    if (entered) {
        if (recorder.execs++ == 0)
            note_exec(header);
        booking_leave(taken);
    }
    errno = saved_errno;
    return entered;
}

void recorder_exec_failed(void) {
    bool taken = booking_enter();
    if (--recorder.execs == 0)
        take_exec_back(recorder.file.header);
    booking_leave(taken);
}

/* Exit */

/* Once, and perhaps on the small stack of a signal handler. */
static void print_summary(const struct votrace_region_totals *totals, bool whole) {
    static char line[PATH_MAX + 256];
    int length = snprintf(line, sizeof(line),
                          "votrace: heap peak %" PRIi64 " bytes, %" PRIu64
                          " allocations, %" PRIi64 " bytes not freed; %s%s\n",
                          totals->live_peak_bytes, totals->allocations, totals->live_bytes,
                          whole ? "" : "could not write all of ",
                          recorder.file.path[0] != '\0' ? recorder.file.path : "a trace");
    if (length > 0 && (size_t)length < sizeof(line))
        syscall(SYS_write, STDERR_FILENO, line, length);
}

void recorder_exiting(void) {
    if (!recorder_active() || recorder_busy() || !recorder_is_own_process())
        return;
    int saved_errno = errno;
    struct votrace_region_totals totals = {0};
    bool taken;
    if (!enter_for_the_end(&taken)) {
        errno = saved_errno;
        return;
    }
    bool first = recorder.file.header->state != TRACE_EXITED;
    bool whole = true;
    recorder.file.header->end_elapsed_ns = recorder_elapsed_ns();
    recorder.file.header->peak_resident_bytes = peak_resident_bytes();
    ledger_date_peaks(&recorder.ledger, recorder.file.header->end_elapsed_ns);
    recorder.file.header->state = TRACE_EXITED;
    lanes_forbid(); /* the record says for good what is live */
    ledger_query(&recorder.ledger, "process", &totals);
    if (first && recorder.file.spilling && !recorder.file.sealed) {
        whole = tracefile_finish(&recorder.file);
        /* What was copied to the file does not follow later events: there may be none. */
        __atomic_store_n(&recorder_gate->recording, 0, __ATOMIC_RELAXED);
    }
    booking_leave(taken);
    if (first && recorder.settings.summary && !sandbox_inside() && isatty(STDERR_FILENO))
        print_summary(&totals, whole);
    errno = saved_errno;
}
