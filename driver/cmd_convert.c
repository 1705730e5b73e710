/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_convert.c: `votdriver convert`: options in, a file out. */
#include "commands.h"

#include "convert.h"
#include "errors.h"

#include <getopt.h>

int cmd_convert(int argc, char **argv) {
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'},
        {"strict", no_argument, NULL, 's'},
        COMMAND_LIMIT_OPTIONS,
        {0},
    };
    struct convert_options convert = {
        .output_path = "-", .limits = READ_LIMITS, .warn = command_warn};
    struct problem problem = {0};
    const char *bad_path = "";
    int option;
    while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
        switch (option) {
        case 'f':
            if (command_format(optarg, &convert.format) < 0)
                return EXIT_CODE_TROUBLE;
            break;
        case 'o':
            convert.output_path = optarg;
            break;
        case 's':
            convert.strict = true;
            break;
        default:
            if (command_limit(option, optarg, &convert.limits) < 0)
                return EXIT_CODE_TROUBLE;
        }
    }
    if (optind + 1 != argc)
        return command_usage(optind == argc
                                 ? "convert needs a file, name one or - for standard input"
                                 : "more than one file, convert them one by one");
    if (convert.format == SERIALIZATION_NONE)
        return command_usage("convert needs --format");
    convert.path = argv[optind];
    convert.warn_context = argv[optind];
    votable_library_init();
    int r = convert_run(&convert, &bad_path, &problem);
    votable_library_finish();
    if (r == 0)
        return EXIT_CODE_OK;
    complain_at(bad_path, problem.lineno, "%s", problem.text);
    return EXIT_CODE_TROUBLE;
}
