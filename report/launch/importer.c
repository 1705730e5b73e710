/* SPDX-License-Identifier: BSD-3-Clause */
/* importer.c: the pipeline of an import, up to the store. */
#include "importer.h"

#include "symbols.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define SNAPSHOT_TRIES 200

/* A process that runs may be caught between two stores; look again until it was not. */
static int read_steady(const char *path, struct trace **ret_trace, struct fault *fault) {
    for (int i = 0; i < SNAPSHOT_TRIES; i++) {
        struct trace *trace, *again;
        int r = trace_open(path, &trace, fault);
        if (r < 0)
            return r;
        r = trace_open(path, &again, fault);
        if (r < 0) {
            trace_close(trace);
            return r;
        }
        bool steady = trace_events_in_flight(trace) == 0 && trace->size == again->size &&
                      memcmp(trace->bytes, again->bytes, trace->size) == 0;
        trace_close(again);
        if (steady) {
            *ret_trace = trace;
            return 0;
        }
        trace_close(trace);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return fault_set(fault, -EBUSY,
                     "its process is allocating too busily for a snapshot: try again");
}

static int open_trace(const char *path, const struct importer_settings *settings,
                      struct trace **ret_trace, bool *ret_running, struct fault *fault) {
    struct trace *trace;
    int r = trace_open(path, &trace, fault);
    if (r < 0)
        return r;
    *ret_running = trace_is_being_written(trace, path);
    if (!*ret_running) {
        /* It may have ended since it was read: read what it left. */
        trace_close(trace);
        return trace_open(path, ret_trace, fault);
    }
    uint32_t pid = trace->header->pid;
    trace_close(trace);
    if (!settings->allow_running)
        return fault_set(fault, -EBUSY,
                         "process %u is still writing this trace: wait for its end, or use "
                         "--force for a snapshot",
                         pid);
    return read_steady(path, ret_trace, fault);
}

static const char *keep(struct run *run, const char *text) {
    return text ? arena_text(&run->profile.arena, text, strlen(text)) : "";
}

static int set_origin(struct run *run, const struct importer_settings *settings) {
    const struct revision *revision = settings->revision;
    struct origin *origin = &run->origin;
    if (revision) {
        origin->commit = keep(run, revision->commit);
        origin->branch = keep(run, revision->branch);
        origin->commit_time_ns = revision->commit_time_ns;
        origin->tree = revision->tree;
    }
    origin->environment = keep(run, settings->environment);
    if (!origin->commit || !origin->branch || !origin->environment)
        return -ENOMEM;
    return origin_look_up(origin, &run->profile);
}

int importer_read(const char *path, const struct importer_settings *settings,
                  struct run *ret_run, size_t *ret_changed, struct fault *fault) {
    struct run run = {0};
    struct trace *trace;
    bool running;
    int r = open_trace(path, settings, &trace, &running, fault);
    if (r < 0)
        return r;
    r = profile_from_trace(trace, &run.profile, fault);
    uint64_t resident = trace->header->peak_resident_bytes;
    run.max_rss_bytes = resident <= INT64_MAX ? (int64_t)resident : 0;
    trace_close(trace);
    if (r < 0)
        return r;
    if (running)
        run.profile.end = PROFILE_SNAPSHOT;

    r = symbols_resolve(&run.profile, ret_changed);
    if (r == 0)
        r = run_describe(&run, settings->name ? settings->name : run.profile.program,
                         settings->params, settings->param_count);
    if (r == 0)
        r = set_origin(&run, settings);
    if (r == 0)
        r = run_uuid_make(run.set_uuid);
    if (r < 0) {
        fault_set(fault, r, "%s", strerror(-r));
        run_finish(&run);
        return r;
    }
    run.repeat = 1;
    *ret_run = run;
    return 0;
}
