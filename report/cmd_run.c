/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_run.c: votreport run. Everything that can be known to fail is tried before the program
 * starts: it may run for an hour.
 */
#include "command.h"

#include "importer.h"
#include "launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define REPEATS_MAX 10000
#define DEPTH_MAX   256 /* libvotrace.so ignores more, see libvotrace(7) */

static const char help[] =
    "usage: votreport run --db STORE [OPTION...] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Run a program with libvotrace.so preloaded, store what it asked of the allocator, and "
    "end\n"
    "with its exit status (128 + signal when a signal ended it).\n"
    "\n"
    "  --db STORE         the store (SQLite file); made when it is not there\n"
    "  --name NAME        name of the benchmark; otherwise PROGRAM without its folder\n"
    "  --param KEY=VALUE  a parameter of the benchmark; may be given several times\n"
    "  --repeat N         run it N times and store each; stops at the first that fails\n"
    "  --stacks WHEN      none, region (while a marked region is open; the default) or all\n"
    "  --depth N          frames kept of each call stack, at most 256\n"
    "  --keep-trace       leave the trace where it is and say where\n"
    "  --help             this text\n"
    "\n"
    "Children of the program write traces, too; they are counted, not imported.\n"
    "\n"
    "Exit status: the program's; 2 when nothing could be run or stored (the store is as it\n"
    "was). When it ran and could not be stored its trace is kept, to be imported.\n"
    "\n"
    "Example:\n"
    "  votreport run --db a.db --name votable.parse --param format=binary -- votdriver f.vot\n";

struct options {
    const char *db;
    struct importer_settings import;
    struct launch_settings launch;
    struct vector params; /* struct run_param */
    size_t repeats;
    bool keep_trace;
    char library[PATH_MAX];
    char program[PATH_MAX];
};

static int parse_stacks(struct options *options, const char *text) {
    static const char *const names[] = {"none", "region", "all"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(text, names[i]) == 0) {
            options->launch.stacks = names[i];
            return -1;
        }
    return command_usage(&cmd_run, "--stacks takes none, region or all, not '%s'", text);
}

static int parse_depth(struct options *options, const char *text) {
    size_t depth;
    if (!command_count_parse(&cmd_run, "--depth", text, DEPTH_MAX, &depth))
        return EXIT_CODE_TROUBLE;
    options->launch.depth = text;
    return -1;
}

static int parse(int count, char **arguments, struct options *options) {
    enum { DB = COMMAND_OWN, NAME, PARAM, REPEAT, STACKS, DEPTH, KEEP };
    static const struct option table[] = {
        {"help", no_argument, NULL, COMMAND_HELP},
        {"db", required_argument, NULL, DB},
        {"name", required_argument, NULL, NAME},
        {"param", required_argument, NULL, PARAM},
        {"repeat", required_argument, NULL, REPEAT},
        {"stacks", required_argument, NULL, STACKS},
        {"depth", required_argument, NULL, DEPTH},
        {"keep-trace", no_argument, NULL, KEEP},
        {0},
    };
    struct command_output output = {0};
    int status = -1;
    int option;
    /* "+": the program's own options are none of ours, even without "--". */
    while (status < 0 && (option = getopt_long(count, arguments, "+:h", table, NULL)) != -1) {
        switch (option) {
        case DB:
            options->db = optarg;
            break;
        case NAME:
            options->import.name = optarg;
            break;
        case PARAM:
            status = command_param_add(&cmd_run, &options->params, optarg);
            break;
        case REPEAT:
            if (!command_count_parse(&cmd_run, "--repeat", optarg, REPEATS_MAX,
                                     &options->repeats))
                status = EXIT_CODE_TROUBLE;
            break;
        case STACKS:
            status = parse_stacks(options, optarg);
            break;
        case DEPTH:
            status = parse_depth(options, optarg);
            break;
        case KEEP:
            options->keep_trace = true;
            break;
        default:
            status = command_common_option(&cmd_run, option, arguments, &output);
        }
    }
    if (status >= 0)
        return status;
    if (!options->db)
        return command_usage(&cmd_run, "--db is missing: which store?");
    if (optind == count)
        return command_usage(&cmd_run, "which program? it stands behind --");
    if (options->import.name && options->import.name[0] == '\0')
        return command_usage(&cmd_run, "--name is empty");
    options->import.params = options->params.items;
    options->import.param_count = options->params.count;
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
    if (store_probe(options->db, &fault) < 0)
        return command_fault(options->db, &fault);
    return -1;
}

static void tell_others(const struct launch *launch, const char *program) {
    if (launch->replaced_count > 0)
        complain_at(
            program, 0,
            "note: it replaced itself by another program (exec) %zu time%s; the last one "
            "was measured",
            launch->replaced_count, launch->replaced_count == 1 ? "" : "s");
    if (launch->other_count > 0)
        complain_at(program, 0,
                    "note: %zu other process%s left traces, which were not imported",
                    launch->other_count, launch->other_count == 1 ? "" : "es");
}

static int store_one(const char *db, struct run *run, struct fault *fault) {
    struct store *store;
    int r = store_open(db, STORE_WRITE, &store, fault);
    if (r < 0)
        return r;
    r = store_add(store, &run, 1, fault);
    store_close(store);
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
    run.repeat = (uint32_t)repeat;
    memcpy(run.set_uuid, set_uuid, sizeof(run.set_uuid));
    if (run.outcome == RUN_EXITED && run.profile.end == PROFILE_KILLED)
        complain_at(options->program, 0,
                    "note: it ended where libvotrace.so could not see it (exec of a program "
                    "without it, or a raw system call); peaks are those so far");
    int r = store_one(options->db, &run, &fault);
    if (r < 0)
        command_fault(options->db, &fault);
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
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream) {
        write_word(stream, launch->trace);
        fputs(" --db", stream);
        write_word(stream, options->db);
        fputs(" --name", stream);
        write_word(stream, options->import.name);
        for (size_t i = 0; i < options->import.param_count; i++) {
            char *param;
            if (asprintf(&param, "%s=%s", options->import.params[i].key,
                         options->import.params[i].value) < 0)
                continue;
            fputs(" --param", stream);
            write_word(stream, param);
            free(param);
        }
        if (fclose(stream) == 0)
            complain("the trace is kept, to store it: votreport import%s", text);
        else
            stream = NULL;
    }
    if (!stream)
        complain("the trace is kept, it is %s", launch->trace);
    free(text);
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
        tell_others(launch, options->program);
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
    int status = prepare(options, arguments[0]);
    for (size_t i = 1; status <= 0 && i <= options->repeats; i++)
        status = run_once(options, arguments, set_uuid, i);
    return status;
}

static int run(int count, char **arguments) {
    struct options options = {.params = VECTOR_OF(struct run_param), .repeats = 1};
    int status = parse(count, arguments, &options);
    if (status < 0)
        status = run_all(&options, arguments + optind);
    command_params_finish(&options.params);
    return status;
}

const struct command cmd_run = {"run", "run a program, store what it asked of the allocator",
                                help, run};
