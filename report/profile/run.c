/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c: what belongs to a run besides its numbers. */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>

int run_uuid_make(char ret_uuid[RUN_UUID_BYTES]) {
    unsigned char b[16];
    if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
        return -EIO;
    b[6] = (b[6] & 0x0f) | 0x40; /* version 4 */
    b[8] = (b[8] & 0x3f) | 0x80; /* variant of RFC 9562 */
    snprintf(ret_uuid, RUN_UUID_BYTES,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
    return 0;
}

static const char *keep(struct run *run, const char *text) {
    return arena_text(&run->profile.arena, text, strlen(text));
}

static int param_compare(const void *a, const void *b) {
    return strcmp(((const struct run_param *)a)->key, ((const struct run_param *)b)->key);
}

int run_describe(struct run *run, const char *benchmark, const struct run_param *params,
                 size_t param_count) {
    struct utsname system;
    if (uname(&system) < 0)
        return -errno;
    struct run_param *kept = arena_array(&run->profile.arena, param_count, sizeof(*kept));
    run->benchmark = keep(run, benchmark);
    run->host = keep(run, system.nodename);
    run->kernel = keep(run, system.release);
    run->machine = keep(run, system.machine);
    run->origin = origin_unknown;
    if (!kept || !run->benchmark || !run->host || !run->kernel || !run->machine)
        return -ENOMEM;
    for (size_t i = 0; i < param_count; i++) {
        kept[i] = (struct run_param){keep(run, params[i].key), keep(run, params[i].value)};
        if (!kept[i].key || !kept[i].value)
            return -ENOMEM;
    }
    if (param_count > 0)
        qsort(kept, param_count, sizeof(*kept), param_compare);
    for (size_t i = 1; i < param_count; i++)
        if (strcmp(kept[i].key, kept[i - 1].key) == 0)
            return -EEXIST;
    run->params = kept;
    run->param_count = param_count;
    return run_uuid_make(run->uuid);
}

const char *run_is_unfit(const struct run *run) {
    const struct profile *profile = &run->profile;
    if (run->outcome == RUN_SIGNALED)
        return "the program was ended by a signal";
    if (run->outcome == RUN_EXITED && run->status != 0)
        return "the program failed";
    if (profile->end == PROFILE_KILLED)
        return "the program's end was not seen";
    if (profile->end == PROFILE_SNAPSHOT)
        return "the program was still running";
    if (profile->truncated)
        return "its trace was cut off";
    return profile_is_incomplete(profile) ? "the recorder missed something" : NULL;
}

void run_params_write(FILE *stream, const struct run_param *params, size_t count) {
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%s=%s", i > 0 ? ", " : "(", params[i].key, params[i].value);
    if (count > 0)
        fputc(')', stream);
}

int run_compare_benchmark(const struct run *a, const struct run *b) {
    int order = strcmp(a->benchmark, b->benchmark);
    for (size_t i = 0; order == 0; i++) {
        if (i == a->param_count || i == b->param_count)
            return (i < a->param_count) - (i < b->param_count);
        order = strcmp(a->params[i].key, b->params[i].key);
        if (order == 0)
            order = strcmp(a->params[i].value, b->params[i].value);
    }
    return order;
}

void run_finish(struct run *run) {
    profile_finish(&run->profile);
    memset(run, 0, sizeof(*run));
}
