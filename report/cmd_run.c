/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_run.c: votreport run. Everything that can be known to fail is tried before the program
 * starts: it may run for an hour.
 */
#include "storing.h"

#include "environment.h"
#include "family.h"
#include "importer.h"
#include "launch.h"
#include "textstream.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define REPEATS_MAX 10000
#define DEPTH_MAX   256 /* libvotrace.so ignores more, see libvotrace(7) */

static const char help[] =
    "usage: votreport run --db STORE [OPTION...] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Run a program with libvotrace.so preloaded, store what it asked of the\n"
    "allocator, and end with its exit status (128 + signal when a signal ended it).\n"
    "\n"
    "  --db STORE         the store (SQLite file); made when it is not there\n"
    "  --name NAME        name of the benchmark; otherwise PROGRAM without its folder\n"
    "  --param KEY=VALUE  a parameter of the benchmark; may be given several times\n"
    "  --commit COMMIT    what is measured; otherwise as git or CI's variables say\n"
    "  --branch BRANCH    of which branch it is; likewise\n"
    "  --repeat N         run it N times and store each; a failure ends it\n"
    "  --stacks WHEN      none, region (while a marked region is open; the default)\n"
    "                     or all\n"
    "  --depth N          frames kept of each call stack, at most 256\n"
    "  --children WHICH   none: what it starts runs without the library; exec:\n"
    "                     programs that it starts are measured; follow: its forks,\n"
    "                     too. With exec or follow their runs are stored beside its\n"
    "                     own, as NAME/PROGRAM\n"
    "  --usable           ask the allocator what it gave, to show the slack\n"
    "  --python           for Python: sets PYTHONMALLOC=malloc, PYTHONHASHSEED=0 and\n"
    "                     VOTRACE_DEPTH=256 where they are not set, and --addresses\n"
    "                     fixed where the kernel allows it\n"
    "  --addresses WHICH  fixed: the same in every run, so that what depends on them\n"
    "                     is, too; random: as the kernel chooses them\n"
    "  --signal SIGNAL    each such signal begins a region, or ends it\n"
    "  --region NAME      what that region is called\n"
    "  --keep-trace       leave the trace where it is and say where\n"
    "  --help             this text\n"
    "\n"
    "Without --children, traces of children are counted, not stored.\n"
    "\n"
    "Exit status: the program's; 2 when nothing could be run or stored (the store is\n"
    "as it was). When it ran and could not be stored its trace is kept, to be\n"
    "imported.\n"
    "\n"
    "Example:\n"
    "  votreport run --db a.db --name parse --param format=binary -- votdriver f.vot\n";

struct options {
    struct storing storing;
    struct importer_settings import;
    struct launch_settings launch;
    struct revision revision;
    char *environment;
    size_t repeats;
    bool keep_trace;
    bool python;           /* --python */
    const char *addresses; /* --addresses, NULL: not given */
    bool stores_others;    /* --children exec or follow */
    char library[PATH_MAX];
    char program[PATH_MAX];
};

static int parse_word(const char *option, const char *text, const char *const *words,
                      const char **ret_word) {
    char list[64] = "";
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret_word = words[i];
            return -1;
        }
        if (i > 0)
            strcat(list, words[i + 1] ? ", " : " or ");
        strcat(list, words[i]);
    }
    return command_usage(&cmd_run, "%s takes %s, not '%s'", option, list, text);
}

static int parse_stacks(struct options *options, const char *text) {
    static const char *const words[] = {"none", "region", "all", NULL};
    return parse_word("--stacks", text, words, &options->launch.stacks);
}

static int parse_children(struct options *options, const char *text) {
    static const char *const words[] = {"none", "exec", "follow", NULL};
    int status = parse_word("--children", text, words, &options->launch.children);
    options->stores_others = status < 0 && strcmp(text, "none") != 0;
    return status;
}

static int parse_addresses(struct options *options, const char *text) {
    static const char *const words[] = {"fixed", "random", NULL};
    return parse_word("--addresses", text, words, &options->addresses);
}

static int parse_region(struct options *options, const char *text) {
    if (text[0] == '\0' || strlen(text) >= TRACE_NAME_BYTES)
        return command_usage(&cmd_run, "--region takes a name of 1 to %d bytes",
                             TRACE_NAME_BYTES - 1);
    options->launch.region = text;
    return -1;
}

/* Those that end or stop a process whatever it does cannot mark anything. */
static int parse_signal(struct options *options, const char *text) {
    const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (int number = 1; number < SIGRTMIN; number++) {
        const char *known = sigabbrev_np(number);
        if (known && strcmp(known, name) == 0 && number != SIGKILL && number != SIGSTOP) {
            options->launch.signal = text;
            return -1;
        }
    }
    return command_usage(&cmd_run, "--signal takes the name of a signal, like USR2, not '%s'",
                         text);
}

static int parse_depth(struct options *options, const char *text) {
    size_t depth;
    options->launch.depth = text;
    return command_count(&cmd_run, "--depth", text, DEPTH_MAX, &depth);
}

enum {
    REPEAT = STORING_OWN,
    STACKS,
    DEPTH,
    KEEP,
    CHILDREN,
    USABLE,
    PYTHON,
    REGION,
    SIGNAL,
    ADDRESSES,
};

/* -1 when the command goes on, else the exit status. */
static int take(int option, char **arguments, struct options *options) {
    switch (option) {
    case REPEAT:
        return command_count(&cmd_run, "--repeat", optarg, REPEATS_MAX, &options->repeats);
    case STACKS:
        return parse_stacks(options, optarg);
    case DEPTH:
        return parse_depth(options, optarg);
    case KEEP:
        options->keep_trace = true;
        return -1;
    case CHILDREN:
        return parse_children(options, optarg);
    case USABLE:
        options->launch.usable = "yes";
        return -1;
    case PYTHON:
        options->python = true;
        return -1;
    case ADDRESSES:
        return parse_addresses(options, optarg);
    case REGION:
        return parse_region(options, optarg);
    case SIGNAL:
        return parse_signal(options, optarg);
    default:
        return storing_option(&cmd_run, option, arguments, &options->storing);
    }
}

static int parse(int count, char **arguments, struct options *options) {
    static const struct option table[] = {
        STORING_OPTIONS,
        {"repeat", required_argument, NULL, REPEAT},
        {"stacks", required_argument, NULL, STACKS},
        {"depth", required_argument, NULL, DEPTH},
        {"keep-trace", no_argument, NULL, KEEP},
        {"children", required_argument, NULL, CHILDREN},
        {"usable", no_argument, NULL, USABLE},
        {"python", no_argument, NULL, PYTHON},
        {"addresses", required_argument, NULL, ADDRESSES},
        {"region", required_argument, NULL, REGION},
        {"signal", required_argument, NULL, SIGNAL},
        {0},
    };
    int status = -1;
    int option;
    /* "+": the program's own options are none of ours, even without "--". */
    while (status < 0 && (option = getopt_long(count, arguments, "+:h", table, NULL)) != -1)
        status = take(option, arguments, options);
    if (status < 0)
        status = storing_check(&cmd_run, &options->storing);
    if (status >= 0)
        return status;
    if (optind == count)
        return command_usage(&cmd_run, "which program? it stands behind --");
    if (options->launch.region && !options->launch.signal)
        return command_usage(&cmd_run, "--region names what --signal marks, which is missing");
    options->import.name = options->storing.name;
    options->import.params = options->storing.params.items;
    options->import.param_count = options->storing.params.count;
    return -1;
}

/*
 * What makes a run of Python's tell most, where nobody has said otherwise. It is set for ourselves,
 * so that what is stored of the environment has it.
 */
static int python_prepare(void) {
    static const char *const variables[][2] = {
        {"PYTHONMALLOC", "malloc"},
        {"PYTHONHASHSEED", "0"},
        {"VOTRACE_DEPTH", "256"},
    };
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (setenv(variables[i][0], variables[i][1], 0) < 0) {
            complain("out of memory");
            return EXIT_CODE_TROUBLE;
        }
    return -1;
}

/* What nobody asked for by name is not worth a failure. */
static int addresses_prepare(const struct options *options) {
    if (!options->addresses && !options->python)
        return -1;
    int r = launch_set_addresses(!options->addresses || options->addresses[0] == 'f');
    if (r < 0 && options->addresses) {
        complain("--addresses %s: the kernel does not allow it: %s", options->addresses,
                 strerror(-r));
        return EXIT_CODE_TROUBLE;
    }
    if (r < 0)
        complain("note: addresses are random, the kernel does not let them be fixed (%s): what "
                 "depends on them differs from run to run",
                 strerror(-r));
    return -1;
}

/* Before the program runs: it may take an hour, and somebody may commit meanwhile. */
static int look_around(struct options *options) {
    options->environment = environment_describe(environ, launch_addresses_are_fixed());
    if (!options->environment || revision_find(options->storing.commit, options->storing.branch,
                                               &options->revision) < 0) {
        complain("out of memory");
        return EXIT_CODE_TROUBLE;
    }
    options->import.environment = options->environment;
    options->import.revision = &options->revision;
    return -1;
}

static int prepare(struct options *options, const char *program) {
    struct fault fault = {0};
    if (launch_find_library(options->library, &fault) < 0) {
        complain("%s", fault.text);
        return EXIT_CODE_TROUBLE;
    }
    options->launch.library = options->library;
    if (launch_check(program, options->library, options->program, &fault) < 0)
        return command_fault(program, &fault);
    if (store_probe(options->storing.db, &fault) < 0)
        return command_fault(options->storing.db, &fault);
    if (launch_brings_malloc(options->program))
        complain_at(program, 0,
                    "warning: it brings its own malloc: what it allocates by that is not seen");
    return look_around(options);
}

static void tell_others(const struct options *options, const struct launch *launch) {
    const char *program = options->program;
    if (launch->replaced_count > 0)
        complain_at(
            program, 0,
            "note: it replaced itself by another program (exec) %zu time%s; the last one "
            "was measured",
            launch->replaced_count, launch->replaced_count == 1 ? "" : "s");
    if (launch->other_count > 0 && !options->stores_others)
        complain_at(program, 0,
                    "note: %zu other process%s left traces, which were not imported "
                    "(--children exec or follow stores them)",
                    launch->other_count, launch->other_count == 1 ? "" : "es");
}

/* A fork names its parent's trace, which need not be that of the process right above it. */
static bool is_child_of(const struct run *run, const struct run *parent) {
    if (run->profile.forked)
        return strcmp(run->profile.parent_uuid, parent->profile.uuid) == 0;
    return run->profile.parent_pid == parent->profile.pid;
}

/* Who is whose child, by the numbers that the runs were stored under. */
static void tell_family(const struct options *options, const struct family *family,
                        const struct run *program) {
    for (size_t i = 0; i < family->count; i++) {
        const struct run *run = &family->runs[i];
        const struct run *parent = is_child_of(run, program) ? program : NULL;
        for (size_t k = 0; !parent && k < family->count; k++)
            if (is_child_of(run, &family->runs[k]))
                parent = &family->runs[k];
        if (run->profile.pid == program->profile.pid)
            complain_at(options->program, 0,
                        "note: run %" PRId64 " is %s, which was replaced by run %" PRId64,
                        run->id, run->benchmark, program->id);
        else
            complain_at(options->program, 0,
                        "note: run %" PRId64 " is %s, a %schild of run %" PRId64, run->id,
                        run->benchmark, run->profile.forked ? "forked " : "",
                        parent ? parent->id : program->id);
    }
    if (family->left_out > 0)
        complain_at(family->first_path, 0,
                    "note: %zu trace%s of other processes could not be stored: %s",
                    family->left_out, family->left_out == 1 ? "" : "s",
                    family->first_fault.text);
}

/* All in one transaction; the program last, so that the newest run is its own. */
static int store_all(const char *db, struct family *family, struct run *program,
                     struct fault *fault) {
    struct store *store;
    struct run **runs = calloc(family->count + 1, sizeof(*runs));
    if (!runs)
        return fault_set(fault, -ENOMEM, "out of memory");
    for (size_t i = 0; i < family->count; i++)
        runs[i] = &family->runs[i];
    runs[family->count] = program;
    int r = store_open(db, STORE_WRITE, &store, fault);
    if (r == 0) {
        r = store_add(store, runs, family->count + 1, fault);
        store_close(store);
    }
    free(runs);
    return r;
}

static int store_with_family(const struct options *options, const struct launch *launch,
                             struct run *run, struct fault *fault) {
    struct family family = {0};
    if (options->stores_others && family_read(launch, &options->import, run, &family) < 0)
        return fault_set(fault, -ENOMEM, "out of memory");
    int r = store_all(options->storing.db, &family, run, fault);
    if (r == 0)
        tell_family(options, &family, run);
    family_finish(&family);
    return r;
}

/* Import the trace of a run that has ended. Returns 0, or -1 after complaining. */
static int import(const struct options *options, struct launch *launch, const char *set_uuid,
                  size_t repeat) {
    struct fault fault = {0};
    struct run run;
    size_t changed;
    if (launch_find_trace(launch, &fault) < 0 ||
        importer_read(launch->trace, &options->import, &run, &changed, &fault) < 0) {
        command_fault(options->program, &fault);
        return -1;
    }
    run.outcome = WIFSIGNALED(launch->wait_status) ? RUN_SIGNALED : RUN_EXITED;
    run.status = WIFSIGNALED(launch->wait_status) ? WTERMSIG(launch->wait_status)
                                                  : WEXITSTATUS(launch->wait_status);
    if (run.max_rss_bytes == 0)
        run.max_rss_bytes = launch->max_rss_bytes;
    run.repeat = (uint32_t)repeat;
    memcpy(run.set_uuid, set_uuid, sizeof(run.set_uuid));
    if (run.outcome == RUN_EXITED && run.profile.end == PROFILE_KILLED)
        complain_at(options->program, 0,
                    "note: it ended where libvotrace.so could not see it (exec of a program "
                    "without it, or a raw system call); peaks are those so far");
    int r = store_with_family(options, launch, &run, &fault);
    if (r < 0)
        command_fault(options->storing.db, &fault);
    else
        command_note_gaps(options->program, &run.profile);
    run_finish(&run);
    return r < 0 ? -1 : 0;
}

/* A word as a shell reads it back. */
static void write_word(FILE *stream, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_@%+=:,./-";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fprintf(stream, " %s", word);
        return;
    }
    fputs(" '", stream);
    for (const char *c = word; *c != '\0'; c++)
        if (*c == '\'')
            fputs("'\\''", stream);
        else
            fputc(*c, stream);
    fputc('\'', stream);
}

/* The program may have run for an hour: what it left is kept, and can be stored later. */
static void tell_kept(const struct options *options, const struct launch *launch) {
    char *words = NULL;
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (stream) {
        write_word(stream, launch->trace);
        fputs(" --db", stream);
        write_word(stream, options->storing.db);
        fputs(" --name", stream);
        write_word(stream, options->import.name);
        if (options->revision.commit[0] != '\0') {
            fputs(" --commit", stream);
            write_word(stream, options->revision.commit);
        }
        for (size_t i = 0; i < options->import.param_count; i++) {
            char *param;
            if (asprintf(&param, "%s=%s", options->import.params[i].key,
                         options->import.params[i].value) < 0)
                continue;
            fputs(" --param", stream);
            write_word(stream, param);
            free(param);
        }
        words = textstream_take(&text);
    }
    if (words)
        complain("the trace is kept, to store it: votreport import%s", words);
    else
        complain("the trace is kept, it is %s", launch->trace);
    free(words);
}

static int run_once(const struct options *options, char **arguments, const char *set_uuid,
                    size_t repeat) {
    struct fault fault = {0};
    struct launch *launch = calloc(1, sizeof(*launch));
    if (!launch) {
        complain("out of memory");
        return EXIT_CODE_TROUBLE;
    }
    int status = EXIT_CODE_TROUBLE;
    bool keep = options->keep_trace;
    strcpy(launch->program, options->program);
    if (launch_run(launch, &options->launch, arguments, &fault) < 0) {
        complain("%s", fault.text);
    } else if (import(options, launch, set_uuid, repeat) == 0) {
        tell_others(options, launch);
        status = launch_exit_code(launch);
        if (keep)
            complain("the trace is %s", launch->trace);
    } else if (launch->trace[0] != '\0') {
        tell_kept(options, launch);
        keep = true;
    }
    launch_finish(launch, keep);
    free(launch);
    return status;
}

static int run_all(struct options *options, char **arguments) {
    char set_uuid[RUN_UUID_BYTES];
    int r = run_uuid_make(set_uuid);
    if (r < 0) {
        complain("no random numbers: %s", strerror(-r));
        return EXIT_CODE_TROUBLE;
    }
    if (!options->import.name)
        options->import.name = basename(arguments[0]);
    int status = options->python ? python_prepare() : -1;
    if (status < 0)
        status = addresses_prepare(options);
    if (status < 0)
        status = prepare(options, arguments[0]);
    for (size_t i = 1; status <= 0 && i <= options->repeats; i++)
        status = run_once(options, arguments, set_uuid, i);
    return status;
}

static int run(int count, char **arguments) {
    struct options options = {.repeats = 1};
    storing_init(&options.storing);
    int status = parse(count, arguments, &options);
    if (status < 0)
        status = run_all(&options, arguments + optind);
    storing_finish(&options.storing);
    revision_finish(&options.revision);
    free(options.environment);
    return status;
}

const struct command cmd_run = {"run", "run a program, store what it asked of the allocator",
                                help, run};
