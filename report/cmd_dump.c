/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_dump.c: votreport dump. */
#include "command.h"

#include "render.h"

static const char help[] =
    "usage: votreport dump TRACE\n"
    "\n"
    "Print the tables of a trace as they are in the file, for debugging. It is\n"
    "checked for form, not for sums; then say at the end whether the sums hold.\n"
    "\n"
    "  --help  this text\n"
    "\n"
    "Exit status: 0 printed and sums hold, 2 not.\n"
    "\n"
    "Example: votreport dump votrace.votdriver.4711.vtr\n";

static int dump(const char *path) {
    struct fault fault = {0};
    struct profile profile;
    struct trace *trace;
    if (trace_open(path, &trace, &fault) < 0)
        return command_fault(path, &fault);
    struct term term = term_open(stdout, TERM_NEVER, true);
    render_dump(&term, trace);
    int r = profile_from_trace(trace, &profile, &fault);
    int status = r < 0 ? command_fault(path, &fault) : EXIT_CODE_OK;
    if (r == 0)
        profile_finish(&profile);
    trace_close(trace);
    return command_flush(status);
}

static int run(int count, char **arguments) {
    static const struct option table[] = {{"help", no_argument, NULL, COMMAND_HELP}, {0}};
    struct command_output output = {0};
    int option;
    while ((option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        int status = command_common_option(&cmd_dump, option, arguments, &output);
        if (status >= 0)
            return status;
    }
    if (count - optind != 1)
        return command_usage(&cmd_dump, "it takes one trace");
    return dump(arguments[optind]);
}

const struct command cmd_dump = {"dump", "print the tables of a trace, for debugging", help,
                                 run};
