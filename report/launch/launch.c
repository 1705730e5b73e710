/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.c: spawn, wait, collect.
 *
 * While the program runs all signals that concern us are blocked and taken by sigwaitinfo(), so
 * there are no handlers and nothing races: an interrupt typed at the terminal reaches the
 * program by itself and we just outlive it, a SIGTERM sent to us is passed on.
 */
#include "launch.h"

#include "trace_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACE_SUFFIX      ".vtr"
#define PERSONALITY_ASKED 0xffffffffUL

/* The program's environment: ours, with a few names replaced. */
struct environment {
    char **entries; /* ended by NULL; those from `own` on are ours to free */
    size_t count;
    size_t own;
};

static bool entry_is(const char *entry, const char *name) {
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static int environment_init(struct environment *env) {
    static const char *const replaced[] = {"LD_PRELOAD", "VOTRACE_OUTPUT"};
    size_t count = 0;
    while (environ[count])
        count++;
    env->entries = calloc(count + 16, sizeof(*env->entries));
    if (!env->entries)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        bool drop = false;
        for (size_t j = 0; j < sizeof(replaced) / sizeof(replaced[0]); j++)
            drop |= entry_is(environ[i], replaced[j]);
        if (!drop)
            env->entries[env->count++] = environ[i];
    }
    env->own = env->count;
    return 0;
}

/* Set NAME=VALUE; an inherited value of that name is dropped. */
static int environment_set(struct environment *env, const char *name, const char *value) {
    char *entry;
    if (!value)
        return 0;
    if (asprintf(&entry, "%s=%s", name, value) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < env->own; i++) {
        if (!entry_is(env->entries[i], name))
            continue;
        env->entries[i] = env->entries[--env->own];
        memmove(&env->entries[env->own], &env->entries[env->own + 1],
                (env->count - env->own) * sizeof(*env->entries));
        env->count--;
        break;
    }
    env->entries[env->count++] = entry;
    return 0;
}

static void environment_finish(struct environment *env) {
    for (size_t i = env->own; env->entries && i < env->count; i++)
        free(env->entries[i]);
    free(env->entries);
}

static int folder_make(struct launch *launch, struct fault *fault) {
    const char *parent = getenv("TMPDIR");
    /* %e and %p are replaced in the name that the shim is given. */
    if (!parent || parent[0] != '/' || strchr(parent, '%'))
        parent = "/tmp";
    int length =
        snprintf(launch->folder, sizeof(launch->folder), "%s/votreport.XXXXXX", parent);
    if (length >= (int)sizeof(launch->folder) || !mkdtemp(launch->folder)) {
        int error = length >= (int)sizeof(launch->folder) ? ENAMETOOLONG : errno;
        launch->folder[0] = '\0';
        return fault_set(fault, -error, "no folder for the trace in %s: %s", parent,
                         strerror(error));
    }
    return 0;
}

/* The loader splits LD_PRELOAD at blanks and colons: such a path goes through a link. */
static int library_name(struct launch *launch, const char *library, char ret_name[PATH_MAX],
                        struct fault *fault) {
    if (!strpbrk(library, " :")) {
        snprintf(ret_name, PATH_MAX, "%s", library);
        return 0;
    }
    int length = snprintf(ret_name, PATH_MAX, "%s/libvotrace.so", launch->folder);
    if (length >= PATH_MAX || strpbrk(ret_name, " :"))
        return fault_set(fault, -EINVAL,
                         "%s: the loader takes no path with blanks or colons: set TMPDIR to a "
                         "folder without",
                         ret_name);
    if (symlink(library, ret_name) < 0)
        return fault_set(fault, -errno, "%s: %s", ret_name, strerror(errno));
    return 0;
}

static int environment_fill(struct environment *env, struct launch *launch,
                            const struct launch_settings *settings, struct fault *fault) {
    char library[PATH_MAX];
    char output[PATH_MAX + 16];
    char *preload = NULL;
    const char *inherited = getenv("LD_PRELOAD");
    int r = library_name(launch, settings->library, library, fault);
    if (r < 0)
        return r;
    snprintf(output, sizeof(output), "%s/%%e.%%p%s", launch->folder, TRACE_SUFFIX);
    if (asprintf(&preload, "%s%s%s", library, inherited && inherited[0] ? ":" : "",
                 inherited ? inherited : "") < 0)
        preload = NULL;
    r = preload ? environment_init(env) : -ENOMEM;
    if (r == 0)
        r = environment_set(env, "LD_PRELOAD", preload);
    if (r == 0)
        r = environment_set(env, "VOTRACE_OUTPUT", output);
    const struct {
        const char *name;
        const char *value;
    } variables[] = {
        {"VOTRACE_STACKS", settings->stacks},     {"VOTRACE_DEPTH", settings->depth},
        {"VOTRACE_CHILDREN", settings->children}, {"VOTRACE_USABLE", settings->usable},
        {"VOTRACE_REGION", settings->region},     {"VOTRACE_SIGNAL", settings->signal},
    };
    for (size_t i = 0; r == 0 && i < sizeof(variables) / sizeof(variables[0]); i++)
        r = environment_set(env, variables[i].name, variables[i].value);
    free(preload);
    return r < 0 ? fault_set(fault, r, "out of memory") : 0;
}

/* It is the persona of this thread, and no address of ours changes: it matters at an exec. */
int launch_set_addresses(bool fixed) {
    int before = personality(PERSONALITY_ASKED);
    if (before < 0)
        return -errno;
    int wanted = fixed ? before | ADDR_NO_RANDOMIZE : before & ~ADDR_NO_RANDOMIZE;
    if (wanted == before)
        return 0;
    return personality((unsigned long)wanted) < 0 ? -errno : 0;
}

bool launch_addresses_are_fixed(void) {
    int now = personality(PERSONALITY_ASKED);
    return now >= 0 && (now & ADDR_NO_RANDOMIZE) != 0;
}

static const int passed_signals[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};

static void signals_block(sigset_t *ret_waited, sigset_t *ret_before) {
    sigemptyset(ret_waited);
    sigaddset(ret_waited, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_signals) / sizeof(passed_signals[0]); i++)
        sigaddset(ret_waited, passed_signals[i]);
    sigprocmask(SIG_BLOCK, ret_waited, ret_before);
}

/* An ignored SIGCHLD would let the kernel throw the exit status away. */
static void child_status_is_kept(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &action, NULL);
}

static int spawn(struct launch *launch, char *const *arguments, char *const *env,
                 const sigset_t *mask) {
    posix_spawnattr_t attributes;
    pid_t pid;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0)
        return -error;
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn(&pid, launch->program, NULL, &attributes, arguments, env);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return -error;
    launch->pid = (int)pid;
    return 0;
}

/* getrusage(2): the kernel counts it in KiB. */
static int64_t rss_of_its_own(const struct rusage *usage) {
    struct rusage ours;
    if (getrusage(RUSAGE_SELF, &ours) < 0 || usage->ru_maxrss <= ours.ru_maxrss)
        return 0;
    return (int64_t)usage->ru_maxrss * 1024;
}

static void wait_for_end(struct launch *launch, const sigset_t *waited) {
    while (true) {
        siginfo_t info;
        int number = sigwaitinfo(waited, &info);
        if (number < 0)
            continue;
        if (number != SIGCHLD) {
            /* From the terminal the program gets its own; anything sent is for it. */
            if (info.si_code <= 0)
                kill(launch->pid, number);
            continue;
        }
        struct rusage usage;
        if (wait4(launch->pid, &launch->wait_status, WNOHANG, &usage) == launch->pid) {
            launch->max_rss_bytes = rss_of_its_own(&usage);
            return;
        }
    }
}

int launch_run(struct launch *launch, const struct launch_settings *settings,
               char *const *arguments, struct fault *fault) {
    struct environment env = {0};
    sigset_t waited;
    int r = folder_make(launch, fault);
    if (r < 0)
        return r;
    r = environment_fill(&env, launch, settings, fault);
    if (r == 0) {
        child_status_is_kept();
        signals_block(&waited, &launch->mask_before);
        launch->blocked = true;
        r = spawn(launch, arguments, env.entries, &launch->mask_before);
        if (r < 0)
            fault_set(fault, r, "%s cannot be started: %s", launch->program, strerror(-r));
        else
            wait_for_end(launch, &waited);
    }
    environment_finish(&env);
    return r;
}

int launch_exit_code(const struct launch *launch) {
    if (WIFSIGNALED(launch->wait_status))
        return 128 + WTERMSIG(launch->wait_status);
    return WEXITSTATUS(launch->wait_status);
}

/* "victim.4711.vtr", or "victim.4711.vtr.2" when the same process started the program again. */
static bool is_trace_name(const char *name) {
    return strstr(name, TRACE_SUFFIX) != NULL;
}

/* Pid and start of the trace at @path; false when it is not even the beginning of one. */
static bool trace_origin(const char *path, uint32_t *ret_pid, uint64_t *ret_start_ns) {
    struct trace_header header;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = pread(fd, &header, sizeof(header), 0);
    close(fd);
    if (n != (ssize_t)sizeof(header) ||
        memcmp(header.magic, TRACE_MAGIC, sizeof(header.magic)) != 0)
        return false;
    *ret_pid = header.pid;
    *ret_start_ns = header.start_realtime_ns;
    return true;
}

static int compare_others(const void *a, const void *b) {
    const struct launch_other *left = a;
    const struct launch_other *right = b;
    return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static int other_add(struct launch *launch, const char *path, uint64_t start_ns) {
    struct launch_other *other = vector_add(&launch->others);
    if (!other)
        return -ENOMEM;
    *other = (struct launch_other){strdup(path), start_ns};
    return other->path ? 0 : -ENOMEM;
}

/* The process's last trace is its own; one before it becomes one of the others. */
static int own_take(struct launch *launch, const char *path, uint64_t start_ns,
                    uint64_t *latest_ns) {
    bool first = launch->trace[0] == '\0';
    launch->replaced_count += !first;
    if (!first && start_ns < *latest_ns)
        return other_add(launch, path, start_ns);
    int r = first ? 0 : other_add(launch, launch->trace, *latest_ns);
    *latest_ns = start_ns;
    strcpy(launch->trace, path);
    return r;
}

static int folder_read(struct launch *launch, DIR *folder) {
    uint64_t latest_ns = 0;
    int r = 0;
    launch->others = VECTOR_OF(struct launch_other);
    for (struct dirent *entry; r == 0 && (entry = readdir(folder)) != NULL;) {
        char path[PATH_MAX];
        uint32_t pid;
        uint64_t start_ns;
        if (!is_trace_name(entry->d_name))
            continue;
        int length = snprintf(path, sizeof(path), "%s/%s", launch->folder, entry->d_name);
        bool known = length < (int)sizeof(path) && trace_origin(path, &pid, &start_ns);
        if (known && pid == (uint32_t)launch->pid) {
            r = own_take(launch, path, start_ns, &latest_ns);
            continue;
        }
        launch->other_count++;
        r = known ? other_add(launch, path, start_ns) : 0;
    }
    if (launch->others.count > 0)
        qsort(launch->others.items, launch->others.count, sizeof(struct launch_other),
              compare_others);
    return r;
}

int launch_find_trace(struct launch *launch, struct fault *fault) {
    DIR *folder = opendir(launch->folder);
    if (!folder)
        return fault_set(fault, -errno, "%s: %s", launch->folder, strerror(errno));
    int r = folder_read(launch, folder);
    closedir(folder);
    if (r < 0)
        return fault_set(fault, r, "out of memory");
    if (launch->trace[0] == '\0')
        return fault_set(
            fault, -ENOENT,
            "it left no trace: libvotrace.so was not loaded into it, or it removed "
            "LD_PRELOAD and started itself again");
    return 0;
}

static void folder_remove(struct launch *launch) {
    DIR *folder = opendir(launch->folder);
    if (folder) {
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                unlinkat(dirfd(folder), entry->d_name, 0);
        closedir(folder);
    }
    rmdir(launch->folder);
    launch->folder[0] = '\0';
}

void launch_finish(struct launch *launch, bool keep) {
    struct launch_other *others = launch->others.items;
    for (size_t i = 0; i < launch->others.count; i++)
        free(others[i].path);
    vector_finish(&launch->others);
    if (launch->folder[0] != '\0' && !keep)
        folder_remove(launch);
    /* Only now may a signal that came meanwhile end us. */
    if (launch->blocked)
        sigprocmask(SIG_SETMASK, &launch->mask_before, NULL);
    launch->blocked = false;
}
