/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_flame.c: votreport flame. */
#include "command.h"

#include "flame_svg.h"
#include "picture.h"

#include <errno.h>
#include <string.h>

static const char help[] =
    "usage: votreport flame [OPTION...] STORE [AFTER] [-o PICTURE]\n"
    "\n"
    "Draw who held the memory at the peak as a flame graph, an SVG without any\n"
    "script: of the region of a store's newest runs that added most; of two stores,\n"
    "of the region that changed most, red what grew and blue what shrank.\n"
    "\n"
    "  -o, --output PICTURE  the file to write; otherwise standard output\n"
    "  --name NAME           only this benchmark\n"
    "  --region NAME         this region\n"
    "  --width PIXELS        how wide the picture is (1200)\n"
    "  --all                 `process`, too, where regions are marked\n"
    "  --native              the interpreter's frames between Python's functions, too\n"
    "  --help                this text\n"
    "\n"
    "Exit status: 0 drawn, 2 there is nothing to draw.\n"
    "\n"
    "Example: votreport flame a.db --region parse -o parse.svg\n";

struct flame_options {
    const char *region; /* NULL: the largest */
    size_t width;
};

static int64_t size_of(const struct diff_row *row) {
    int64_t size = row->after.peak_added - row->before.peak_added;
    return size < 0 ? -size : size;
}

/* The row that is drawn; NULL when there is none. */
static const struct diff_row *row_choose(const struct picture *picture, const char *region) {
    const struct diff *diff = &picture->comparison.diff;
    const struct diff_row *chosen = NULL;
    for (size_t i = 0; i < diff->row_count; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (region && strcmp(row->region, region) != 0)
            continue;
        if (picture->two_sides && !(row->before.run && row->after.run))
            continue;
        if (!chosen || size_of(row) > size_of(chosen))
            chosen = row;
    }
    return chosen;
}

static int draw(FILE *stream, const struct picture *picture, void *context,
                struct fault *fault) {
    const struct flame_options *options = context;
    const struct diff_row *row = row_choose(picture, options->region);
    if (!row && options->region)
        return fault_set(fault, -ENODATA,
                         "no run has a region '%s' to draw (votreport list names them)",
                         options->region);
    if (!row)
        return fault_set(fault, -ENODATA, "the two stores have no benchmark in common");
    int r = flame_svg_write(stream, row, (int)options->width);
    if (r == -ENODATA)
        fault_set(fault, r, "call sites were not kept, so that there is nothing to draw");
    return r;
}

static int run(int count, char **arguments) {
    enum { REGION = COMMAND_OWN, WIDTH };
    static const struct option table[] = {
        PICTURE_OPTIONS,
        {"region", required_argument, NULL, REGION},
        {"width", required_argument, NULL, WIDTH},
        {0},
    };
    struct picture_options options = {0};
    struct flame_options flame = {.width = FLAME_SVG_WIDTH};
    int status = -1;
    int option;
    while (status < 0 && (option = getopt_long(count, arguments, ":ho:", table, NULL)) != -1) {
        if (option == REGION)
            flame.region = optarg;
        else if (option == WIDTH)
            status = command_count(&cmd_flame, "--width", optarg, FLAME_SVG_WIDTH_MOST,
                                   &flame.width);
        else
            status = picture_option(&cmd_flame, option, arguments, &options);
    }
    if (status < 0 && flame.width < FLAME_SVG_WIDTH_LEAST)
        return command_usage(&cmd_flame, "--width takes %d pixels or more",
                             FLAME_SVG_WIDTH_LEAST);
    if (status < 0)
        status = picture_stores(&cmd_flame, count, arguments, &options);
    return status < 0 ? picture_write(&options, draw, &flame) : status;
}

const struct command cmd_flame = {"flame", "draw who holds the memory, as an SVG", help, run};
