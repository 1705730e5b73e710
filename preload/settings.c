/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.c: a table, one line for each variable. libvotrace(7) tells the same.
 *
 * An audit library (LD_AUDIT) makes the loader allocate before libc knows the environment: then
 * the kernel's copy of it is read.
 */
#include "settings.h"

#include "backtrace.h"
#include "sysmem.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEFAULT_OUTPUT       "votrace.%e.%p.vtr"
#define DEFAULT_DEPTH_FRAMES 64
#define EARLY_BYTES_MAX      ((size_t)1 << 20)

static bool parse_output(const char *text, struct settings *settings) {
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof(settings->output))
        return false;
    memcpy(settings->output, text, length + 1);
    return true;
}

static bool parse_stacks(const char *text, struct settings *settings) {
    static const char *const words[] = {
        [TRACE_STACKS_NONE] = "none",
        [TRACE_STACKS_REGION] = "region",
        [TRACE_STACKS_ALL] = "all",
    };
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            settings->stacks = (enum trace_stacks)i;
            return true;
        }
    }
    return false;
}

static bool parse_depth(const char *text, struct settings *settings) {
    unsigned depth_frames = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9')
            return false;
        depth_frames = depth_frames * 10 + (unsigned)(*c - '0');
        if (depth_frames > BACKTRACE_DEPTH_MAX)
            return false;
    }
    if (depth_frames == 0)
        return false;
    settings->depth_frames = depth_frames;
    return true;
}

static const struct {
    const char *name;
    bool (*parse)(const char *text, struct settings *settings);
} variables[] = {
    {"VOTRACE_OUTPUT", parse_output}, /* path of the trace: %e program, %p process id */
    {"VOTRACE_STACKS", parse_stacks}, /* none, region or all */
    {"VOTRACE_DEPTH", parse_depth},   /* frames kept of a stack: 1 to 256 */
};

/*
 * "NAME=value" strings, each ended by NUL and the last by two, to be unmapped; NULL where libc
 * has an environment, or nobody does.
 */
static char *map_early_environment(void) {
    if (environ != NULL || getauxval(AT_SECURE) != 0)
        return NULL;
    char *list = sysmem_map(EARLY_BYTES_MAX);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/environ", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    long got = 1;
    while (list != NULL && fd >= 0 && got > 0 && length < EARLY_BYTES_MAX - 2) {
        got = syscall(SYS_read, fd, list + length, EARLY_BYTES_MAX - 2 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    return list;
}

static const char *find_early(const char *list, const char *name) {
    size_t length = strlen(name);
    for (; *list != '\0'; list += strlen(list) + 1)
        if (strncmp(list, name, length) == 0 && list[length] == '=')
            return list + length + 1;
    return NULL;
}

void settings_read(struct settings *ret_settings) {
    *ret_settings = (struct settings){
        .output = DEFAULT_OUTPUT,
        .stacks = TRACE_STACKS_REGION,
        .depth_frames = DEFAULT_DEPTH_FRAMES,
    };
    char *early = map_early_environment();
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *name = variables[i].name;
        const char *text = early != NULL ? find_early(early, name) : secure_getenv(name);
        if (text != NULL && !variables[i].parse(text, ret_settings))
            ret_settings->ignored++;
    }
    sysmem_unmap(early, EARLY_BYTES_MAX);
}
