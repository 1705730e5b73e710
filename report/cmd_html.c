/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_html.c: votreport html. */
#include "command.h"

#include "page.h"
#include "picture.h"

static const char help[] =
    "usage: votreport html [OPTION...] STORE [AFTER] [-o PAGE]\n"
    "\n"
    "Write a page that says in words and pictures where the memory of a store's\n"
    "newest runs goes; of two stores, what changed from the first to the second, and\n"
    "where. One file: it opens from disk and asks nothing of the network.\n"
    "\n"
    "  -o, --output PAGE  the file to write; otherwise standard output\n"
    "  --name NAME        only this benchmark, with all its parameters\n"
    "  --all              `process`, too, where regions are marked\n"
    "  --native           the interpreter's frames between Python's functions, too\n"
    "  --help             this text\n"
    "\n"
    "Exit status: 0 written, whatever the outcome (see votreport gate); 2 not\n"
    "written.\n"
    "\n"
    "Example: votreport html main.db branch.db -o memory.html\n";

static int draw(FILE *stream, const struct picture *picture, void *context,
                struct fault *fault) {
    (void)context;
    (void)fault;
    return page_write(stream, &picture->comparison.diff, picture->two_sides);
}

static int run(int count, char **arguments) {
    static const struct option table[] = {PICTURE_OPTIONS, {0}};
    struct picture_options options = {0};
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":ho:", table, NULL)) != -1)
        status = picture_option(&cmd_html, option, arguments, &options);
    if (status < 0)
        status = picture_stores(&cmd_html, count, arguments, &options);
    return status < 0 ? picture_write(&options, draw, NULL) : status;
}

const struct command cmd_html = {"html", "write a page with pictures, of one store or of two",
                                 help, run};
