/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_check.c: `votdriver check`: each file by itself, the worst of them is what is returned. */
#include "commands.h"

#include "check.h"
#include "errors.h"

int cmd_check(int argc, char **argv) {
    static const struct option options[] = {
        {"all", no_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"codes", no_argument, NULL, 'c'},
        COMMAND_LIMIT_OPTIONS,
        {0},
    };
    struct check_options check = {.limits = READ_LIMITS};
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'a':
            check.all = true;
            break;
        case 'j':
            check.json = true;
            break;
        case 'c':
            check_print_codes();
            return command_end_report();
        default:
            if (command_limit(option, optarg, &check.limits) < 0)
                return EXIT_CODE_TROUBLE;
        }
    }
    if (optind == argc)
        return command_usage("no file to check, name one or - for standard input");
    int worst = EXIT_CODE_OK;
    for (; optind < argc; optind++) {
        int code = check_run(argv[optind], &check);
        worst = code > worst ? code : worst;
    }
    return worst;
}
