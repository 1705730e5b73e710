/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_check.c: votreport check. */
#include "command.h"

#include <inttypes.h>

static const char help[] =
    "usage: votreport check STORE...\n"
    "\n"
    "Look at everything in a store: SQLite's pages and indexes, references, the\n"
    "schema, and whether the numbers of every run add up: the call sites of each\n"
    "region to its totals, at its start, its peak and its end. One line for each\n"
    "thing that is wrong. Changes nothing.\n"
    "\n"
    "  --help  this text\n"
    "\n"
    "Exit status: 0 all is well, 2 something is wrong or could not be looked at.\n"
    "\n"
    "Example: votreport check a.db\n";

struct findings {
    const char *path;
    size_t count;
};

static void tell(void *context, const char *line) {
    struct findings *findings = context;
    findings->count++;
    complain_at(findings->path, 0, "%s", line);
}

static int check(const char *path) {
    struct fault fault = {0};
    struct findings findings = {.path = path};
    struct store *store;
    if (store_open(path, STORE_READ, &store, &fault) < 0)
        return command_fault(path, &fault);
    int r = store_check(store, tell, &findings, &fault);
    store_close(store);
    if (r < 0)
        return command_fault(path, &fault);
    if (findings.count > 0)
        return EXIT_CODE_TROUBLE;
    printf("%s: all is well\n", path);
    return EXIT_CODE_OK;
}

static int run(int count, char **arguments) {
    static const struct option table[] = {{"help", no_argument, NULL, COMMAND_HELP}, {0}};
    struct command_output output = {0};
    int option;
    while ((option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        int status = command_common_option(&cmd_check, option, arguments, &output);
        if (status >= 0)
            return status;
    }
    if (count == optind)
        return command_usage(&cmd_check, "it takes one store or more");
    int worst = EXIT_CODE_OK;
    for (int i = optind; i < count; i++) {
        int status = check(arguments[i]);
        worst = status > worst ? status : worst;
    }
    return command_flush(worst);
}

const struct command cmd_check = {"check", "look whether a store holds together", help, run};
