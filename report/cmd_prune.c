/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_prune.c: votreport prune. */
#include "command.h"

#include "sizes.h"

#include <inttypes.h>
#include <sys/stat.h>

static const char help[] =
    "usage: votreport prune --keep N STORE\n"
    "\n"
    "Drop call sites and timelines of old runs, and what of stacks and names only\n"
    "they needed. Totals stay: list, diff, gate and trend go on with them. The file\n"
    "gets smaller.\n"
    "\n"
    "  --keep N  how many of the newest runs of each benchmark keep everything\n"
    "  --help    this text\n"
    "\n"
    "Exit status: 0 done, 2 not (nothing was changed).\n"
    "\n"
    "Example: votreport prune --keep 100 a.db\n";

static int64_t size_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
}

static int prune(const char *path, size_t keep) {
    struct fault fault = {0};
    struct store *store;
    struct store_pruned pruned;
    struct stat status;
    /* Opened for writing a file that is not there would be made. */
    bool there = stat(path, &status) == 0;
    int64_t before = size_of(path);
    if (store_open(path, there ? STORE_WRITE : STORE_READ, &store, &fault) < 0)
        return command_fault(path, &fault);
    int r = store_prune(store, (int64_t)keep, &pruned, &fault);
    store_close(store);
    if (r < 0)
        return command_fault(path, &fault);
    char old[SIZES_TEXT_BYTES], new[SIZES_TEXT_BYTES];
    printf("%s: %" PRId64 " run%s pruned, %" PRId64
           " call stack%s dropped, %s before, %s now\n",
           path, pruned.runs, pruned.runs == 1 ? "" : "s", pruned.stacks,
           pruned.stacks == 1 ? "" : "s", sizes_format(old, before),
           sizes_format(new, size_of(path)));
    return command_flush(EXIT_CODE_OK);
}

static int run(int count, char **arguments) {
    enum { KEEP = COMMAND_OWN };
    static const struct option table[] = {{"help", no_argument, NULL, COMMAND_HELP},
                                          {"keep", required_argument, NULL, KEEP},
                                          {0}};
    struct command_output output = {0};
    size_t keep = 0;
    int option;
    while ((option = getopt_long(count, arguments, ":h", table, NULL)) != -1) {
        int status = -1;
        if (option != KEEP)
            status = command_common_option(&cmd_prune, option, arguments, &output);
        else
            status = command_count(&cmd_prune, "--keep", optarg, INT32_MAX, &keep);
        if (status >= 0)
            return status;
    }
    if (keep == 0)
        return command_usage(&cmd_prune, "--keep is missing: how many runs keep everything?");
    if (count - optind != 1)
        return command_usage(&cmd_prune, "it takes one store");
    return prune(arguments[optind], keep);
}

const struct command cmd_prune = {"prune", "drop the call sites of old runs", help, run};
