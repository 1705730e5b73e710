/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_merge.c: votreport merge. */
#include "command.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: votreport merge STORE... -o STORE\n"
    "\n"
    "Add the runs of some stores to another, which is made when it is not there,\n"
    "oldest run first. A run that it has already is left out, so that merging again\n"
    "changes nothing. All runs come in, or none. Stores of an earlier version are\n"
    "read as they are.\n"
    "\n"
    "  -o, --output STORE  where the runs go\n"
    "  --help              this text\n"
    "\n"
    "Exit status: 0 merged, 2 not (nothing was changed).\n"
    "\n"
    "Example: votreport merge monday.db tuesday.db -o week.db\n";

static void progress(size_t done, size_t all) {
    fprintf(stderr, "\rmerge: %zu of %zu runs%s", done, all, done == all ? "\n" : "");
}

static bool is_same_file(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* The output may be among the stores: its runs are there. */
static int open_all(char **paths, size_t count, const char *output, struct store **stores,
                    size_t *ret_opened) {
    struct fault fault = {0};
    *ret_opened = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_same_file(paths[i], output))
            continue;
        if (store_open(paths[i], STORE_READ, &stores[*ret_opened], &fault) < 0)
            return command_fault(paths[i], &fault);
        ++*ret_opened;
    }
    return EXIT_CODE_OK;
}

static int merge_into(const char *output, struct store *const *stores, size_t count) {
    struct fault fault = {0};
    struct store *into;
    struct store_merged merged;
    if (store_open(output, STORE_WRITE, &into, &fault) < 0)
        return command_fault(output, &fault);
    int r = store_merge(into, stores, count, isatty(STDERR_FILENO) ? progress : NULL, &merged,
                        &fault);
    store_close(into);
    if (r < 0)
        return command_fault(output, &fault);
    printf("%s: %zu run%s added, %zu there already\n", output, merged.added,
           merged.added == 1 ? "" : "s", merged.known);
    return command_flush(EXIT_CODE_OK);
}

static int merge(char **paths, size_t count, const char *output) {
    size_t opened = 0;
    struct store **stores = calloc(count, sizeof(struct store *));
    if (!stores) {
        complain("out of memory");
        return EXIT_CODE_TROUBLE;
    }
    int status = open_all(paths, count, output, stores, &opened);
    if (status == EXIT_CODE_OK)
        status = merge_into(output, stores, opened);
    for (size_t i = 0; i < opened; i++)
        store_close(stores[i]);
    free(stores);
    return status;
}

static int run(int count, char **arguments) {
    static const struct option table[] = {{"help", no_argument, NULL, COMMAND_HELP},
                                          {"output", required_argument, NULL, 'o'},
                                          {0}};
    struct command_output output = {0};
    const char *into = NULL;
    int option;
    while ((option = getopt_long(count, arguments, ":ho:", table, NULL)) != -1) {
        if (option == 'o') {
            into = optarg;
            continue;
        }
        int status = command_common_option(&cmd_merge, option, arguments, &output);
        if (status >= 0)
            return status;
    }
    if (!into)
        return command_usage(&cmd_merge, "-o is missing: where do the runs go?");
    if (count == optind)
        return command_usage(&cmd_merge, "it takes one store or more");
    return merge(arguments + optind, (size_t)(count - optind), into);
}

const struct command cmd_merge = {"merge", "put the runs of several stores into one", help,
                                  run};
