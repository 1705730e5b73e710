/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_parse.c: the options of `votdriver parse`, and `votdriver strategies`.
 *
 * A row in the table for each option: its name, what it sets, and how it is read.
 */
#include "cmd_parse.h"

#include "commands.h"
#include "errors.h"
#include "workload.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum choice {
    CHOICE_STRATEGY = 256, /* beyond all characters */
    CHOICE_JSON,
    CHOICE_COLUMNS,
    CHOICE_TABLES,
    CHOICE_LIMIT,
    CHOICE_DISCARD,
    CHOICE_REPEAT,
    CHOICE_STRICT,
    CHOICE_NO_CHECKSUM,
};

static const struct option options[] = {
    {"strategy", required_argument, NULL, CHOICE_STRATEGY},
    {"json", no_argument, NULL, CHOICE_JSON},
    {"columns", required_argument, NULL, CHOICE_COLUMNS},
    {"tables", required_argument, NULL, CHOICE_TABLES},
    {"limit", required_argument, NULL, CHOICE_LIMIT},
    {"discard", no_argument, NULL, CHOICE_DISCARD},
    {"repeat", required_argument, NULL, CHOICE_REPEAT},
    {"strict", no_argument, NULL, CHOICE_STRICT},
    {"no-checksum", no_argument, NULL, CHOICE_NO_CHECKSUM},
    COMMAND_LIMIT_OPTIONS,
    {0},
};

static int read_strategy(const char *name, enum strategy *ret_strategy) {
    if (strategy_find(name, ret_strategy) == 0)
        return 0;
    complain("no strategy '%s', use stream, buffer, dom or reader", name);
    return -1;
}

/* Returns 0, or -1 after a message. */
static int read_option(int choice, struct workload_options *workload) {
    struct read_options *read = &workload->read;
    switch (choice) {
    case CHOICE_STRATEGY:
        return read_strategy(optarg, &read->strategy);
    case CHOICE_JSON:
        workload->json = true;
        return 0;
    case CHOICE_COLUMNS:
        read->columns = optarg;
        return 0;
    case CHOICE_TABLES:
        read->tables = optarg;
        return 0;
    case CHOICE_LIMIT:
        return command_number("limit", optarg, &read->row_limit);
    case CHOICE_DISCARD:
        workload->discard = true;
        return 0;
    case CHOICE_REPEAT:
        return command_number("repeat", optarg, &workload->repeat);
    case CHOICE_STRICT:
        read->strict = true;
        return 0;
    case CHOICE_NO_CHECKSUM:
        workload->no_checksum = true;
        return 0;
    default:
        return command_limit(choice, optarg, &read->limits);
    }
}

int cmd_parse(int argc, char **argv) {
    struct workload_options workload = {.repeat = 1, .read.limits = READ_LIMITS};
    int choice;
    while ((choice = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (read_option(choice, &workload) < 0)
            return EXIT_CODE_TROUBLE;
    if (optind == argc)
        return command_usage("no file to parse, name one or - for standard input");
    int status = EXIT_CODE_OK;
    votable_library_init();
    for (int i = optind; i < argc; i++) {
        workload.path = argv[i];
        int now = workload_run(&workload);
        if (now != EXIT_CODE_OK)
            status = now;
    }
    votable_library_finish();
    return status;
}

int cmd_strategies(int argc, char **argv) {
    if (argc > 1)
        return command_usage("strategies takes no arguments");
    for (int i = 0; i < STRATEGIES; i++)
        printf("%-8s %s\n", strategy_name((enum strategy)i),
               strategy_summary((enum strategy)i));
    return command_end_report();
}
