/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c: a table, one line for each variable. libvotrace(7) tells the same. */
#include "settings.h"

#include "backtrace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_OUTPUT       "votrace.%e.%p.vtr"
#define DEFAULT_DEPTH_FRAMES 64

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

void settings_read(struct settings *ret_settings) {
    *ret_settings = (struct settings){
        .output = DEFAULT_OUTPUT,
        .stacks = TRACE_STACKS_REGION,
        .depth_frames = DEFAULT_DEPTH_FRAMES,
    };
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *text = secure_getenv(variables[i].name);
        if (text != NULL && !variables[i].parse(text, ret_settings))
            ret_settings->ignored++;
    }
}
