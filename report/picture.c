/* SPDX-License-Identifier: BSD-3-Clause */
/* picture.c: load, draw into a file that appears whole or not at all. */
#include "picture.h"

#include "outfile.h"

#include <string.h>
#include <unistd.h>

int picture_option(const struct command *command, int option, char *const *arguments,
                   struct picture_options *options) {
    struct command_output output = {0};
    if (option == PICTURE_OUTPUT) {
        options->output = optarg;
        return -1;
    }
    if (comparison_option(&options->settings, option, optarg))
        return -1;
    return command_common_option(command, option, arguments, &output);
}

int picture_stores(const struct command *command, int count, char *const *arguments,
                   struct picture_options *options) {
    options->store_count = (size_t)(count - optind);
    if (count - optind < 1 || count - optind > 2)
        return command_usage(command, "it takes one store, or two to compare");
    for (size_t i = 0; i < options->store_count; i++)
        options->stores[i] = arguments[optind + (int)i];
    if (!options->output && isatty(STDOUT_FILENO))
        return command_usage(command, "-o is missing: which file is to be written?");
    return -1;
}

static int load_one(const struct picture_options *options, struct comparison *ret_comparison,
                    struct fault *fault) {
    struct comparison comparison = {0};
    int r = selection_load_from(options->stores[0], options->settings.name, &comparison.after,
                                fault);
    if (r == 0 && options->settings.native)
        selection_unfold(&comparison.after);
    if (r == 0) {
        r = diff_compare(NULL, 0, comparison.after.runs, comparison.after.count,
                         options->settings.with_process, &comparison.diff);
        if (r < 0)
            fault_set(fault, r, "out of memory");
    }
    if (r < 0)
        comparison_finish(&comparison);
    else
        *ret_comparison = comparison;
    return r;
}

int picture_write(const struct picture_options *options,
                  int (*draw)(FILE *stream, const struct picture *picture, void *context,
                              struct fault *fault),
                  void *context) {
    struct picture picture = {.two_sides = options->store_count == 2};
    struct fault fault = {0};
    struct outfile file;
    const char *path = options->stores[0];
    int r = picture.two_sides
                ? comparison_load(options->stores[0], options->stores[1], &options->settings,
                                  &picture.comparison, &path, &fault)
                : load_one(options, &picture.comparison, &fault);
    if (r < 0)
        return command_fault(path, &fault);
    path = options->output ? options->output : "standard output";
    r = outfile_open(options->output, &file, &fault);
    if (r == 0) {
        r = draw(file.stream, &picture, context, &fault);
        if (r < 0 && fault.text[0] == '\0')
            fault_set(&fault, r, "%s", strerror(-r));
        if (r < 0)
            outfile_abandon(&file);
        else
            r = outfile_commit(&file, &fault);
    }
    comparison_finish(&picture.comparison);
    return r < 0 ? command_fault(path, &fault) : EXIT_CODE_OK;
}
