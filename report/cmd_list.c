/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_list.c: votreport list. */
#include "command.h"

#include "render.h"

#include <string.h>

static const char help[] =
    "usage: votreport list [OPTION...] STORE\n"
    "\n"
    "List the runs of a store, oldest first. \"peak added\" is that of the marked\n"
    "region that added most, or of the whole process where nothing was marked.\n"
    "\n"
    "  --json        for scripts: exact numbers, every field\n"
    "  --bytes       exact bytes instead of KiB, MiB ...\n"
    "  --color WHEN  auto, always or never\n"
    "  --help        this text\n"
    "\n"
    "Exit status: 0 listed, 2 the store could not be read.\n"
    "\n"
    "Example: votreport list a.db\n";

static int list(const char *path, const struct command_output *output) {
    struct fault fault = {0};
    struct arena arena = {0};
    struct store_entry *entries;
    struct store *store;
    size_t count;
    if (store_open(path, STORE_READ, &store, &fault) < 0)
        return command_fault(path, &fault);
    int r = store_list(store, &arena, &entries, &count, &fault);
    int status = r < 0 ? command_fault(path, &fault) : EXIT_CODE_OK;
    struct term term = term_open(stdout, output->color, output->exact_bytes);
    if (r == 0) {
        r = output->json ? render_list_json(stdout, entries, count)
                         : render_list_text(&term, entries, count);
        if (r < 0) {
            complain("%s", strerror(-r));
            status = EXIT_CODE_TROUBLE;
        }
    }
    arena_finish(&arena);
    store_close(store);
    return command_flush(status);
}

static int run(int count, char **arguments) {
    static const struct option table[] = {COMMAND_OUTPUT_OPTIONS, {0}};
    struct command_output output = {0};
    int option;
    while ((option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        int status = command_common_option(&cmd_list, option, arguments, &output);
        if (status >= 0)
            return status;
    }
    if (count - optind != 1)
        return command_usage(&cmd_list, "it takes one store");
    return list(arguments[optind], &output);
}

const struct command cmd_list = {"list", "list the runs of a store", help, run};
