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
#include <signal.h>
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
#define WHOLE_RUN            "process"
#define SIGNAL_REGION        "signal" /* what VOTRACE_SIGNAL marks without VOTRACE_REGION */

static bool parse_output(const char *text, struct settings *settings) {
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof(settings->output))
        return false;
    memcpy(settings->output, text, length + 1);
    return true;
}

/* The index of @text among @count words, or -1. */
static int find_word(const char *text, const char *const *words, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

static bool parse_stacks(const char *text, struct settings *settings) {
    static const char *const words[] = {
        [TRACE_STACKS_NONE] = "none",
        [TRACE_STACKS_REGION] = "region",
        [TRACE_STACKS_ALL] = "all",
    };
    int word = find_word(text, words, sizeof(words) / sizeof(words[0]));
    if (word >= 0)
        settings->stacks = (enum trace_stacks)word;
    return word >= 0;
}

static bool parse_children(const char *text, struct settings *settings) {
    static const char *const words[] = {
        [CHILDREN_NONE] = "none",
        [CHILDREN_EXEC] = "exec",
        [CHILDREN_FOLLOW] = "follow",
    };
    int word = find_word(text, words, sizeof(words) / sizeof(words[0]));
    if (word >= 0)
        settings->children = (enum settings_children)word;
    return word >= 0;
}

static bool parse_yes_or_no(const char *text, bool *ret_yes) {
    static const char *const words[] = {"no", "yes"};
    int word = find_word(text, words, sizeof(words) / sizeof(words[0]));
    if (word >= 0)
        *ret_yes = word == 1;
    return word >= 0;
}

static bool parse_usable(const char *text, struct settings *settings) {
    return parse_yes_or_no(text, &settings->usable);
}

static bool parse_python(const char *text, struct settings *settings) {
    return parse_yes_or_no(text, &settings->python);
}

static bool parse_summary(const char *text, struct settings *settings) {
    return parse_yes_or_no(text, &settings->summary);
}

/* A number from 1 to @most; 0 for anything else. */
static unsigned parse_number(const char *text, unsigned most) {
    unsigned number = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9')
            return 0;
        number = number * 10 + (unsigned)(*c - '0');
        if (number > most)
            return 0;
    }
    return number;
}

static bool parse_depth(const char *text, struct settings *settings) {
    unsigned depth_frames = parse_number(text, BACKTRACE_DEPTH_MAX);
    if (depth_frames > 0)
        settings->depth_frames = depth_frames;
    return depth_frames > 0;
}

/* Signals that a program can be sent from outside and that can be caught. */
static const struct {
    const char *name;
    int number;
} signals[] = {
    {"HUP", SIGHUP},       {"INT", SIGINT},   {"QUIT", SIGQUIT},   {"USR1", SIGUSR1},
    {"USR2", SIGUSR2},     {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},   {"TERM", SIGTERM},
    {"CHLD", SIGCHLD},     {"CONT", SIGCONT}, {"TSTP", SIGTSTP},   {"TTIN", SIGTTIN},
    {"TTOU", SIGTTOU},     {"URG", SIGURG},   {"XCPU", SIGXCPU},   {"XFSZ", SIGXFSZ},
    {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},
#ifdef SIGPWR
    {"PWR", SIGPWR},
#endif
};

static bool parse_signal(const char *text, struct settings *settings) {
    int number = (int)parse_number(text, (unsigned)SIGRTMAX);
    const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (number == signals[i].number || strcmp(name, signals[i].name) == 0)
            settings->signal = signals[i].number;
    if (number >= SIGRTMIN)
        settings->signal = number;
    return settings->signal != 0;
}

static bool parse_region(const char *text, struct settings *settings) {
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof(settings->region))
        return false;
    memcpy(settings->region, text, length + 1);
    return true;
}

static const struct {
    const char *name;
    bool (*parse)(const char *text, struct settings *settings);
} variables[] = {
    {"VOTRACE_OUTPUT", parse_output},     /* path of the trace: %e program, %p process id */
    {"VOTRACE_STACKS", parse_stacks},     /* none, region or all */
    {"VOTRACE_DEPTH", parse_depth},       /* frames kept of a stack: 1 to 256 */
    {"VOTRACE_CHILDREN", parse_children}, /* none, exec or follow */
    {"VOTRACE_SIGNAL", parse_signal},     /* name or number: begins and ends a region */
    {"VOTRACE_REGION", parse_region},     /* what that region is called; "process": none */
    {"VOTRACE_USABLE", parse_usable},     /* yes or no: ask for usable sizes, too */
    {"VOTRACE_PYTHON", parse_python},     /* yes or no: Python's frames in the stacks */
    {"VOTRACE_SUMMARY", parse_summary},   /* yes or no: a line at exit, on a terminal */
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
        .children = CHILDREN_EXEC,
        .region = WHOLE_RUN,
        .python = true,
        .summary = true,
    };
    char *early = map_early_environment();
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *name = variables[i].name;
        const char *text = early != NULL ? find_early(early, name) : secure_getenv(name);
        if (text != NULL && !variables[i].parse(text, ret_settings))
            ret_settings->ignored++;
    }
    sysmem_unmap(early, EARLY_BYTES_MAX);
    bool whole_run = strcmp(ret_settings->region, WHOLE_RUN) == 0;
    if (ret_settings->signal != 0 && whole_run)
        memcpy(ret_settings->region, SIGNAL_REGION, sizeof(SIGNAL_REGION));
    else if (ret_settings->signal == 0 && !whole_run)
        ret_settings->ignored++; /* nothing would begin it */
}

void settings_keep_folder(struct settings *settings) {
    char folder[PATH_MAX];
    char output[PATH_MAX];
    size_t length = 0;
    long got = syscall(SYS_getcwd, folder, sizeof(folder));
    if (settings->output[0] == '/' || got <= 0 || folder[0] != '/')
        return;
    for (const char *c = folder; *c != '\0' && length < sizeof(output) - 3; c++) {
        output[length++] = *c;
        if (*c == '%')
            output[length++] = '%';
    }
    output[length++] = '/';
    size_t rest = strlen(settings->output) + 1;
    if (rest > sizeof(output) - length)
        return;
    memcpy(output + length, settings->output, rest);
    memcpy(settings->output, output, length + rest);
}
