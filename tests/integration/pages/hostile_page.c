/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hostile_page.c: hostile_page html|svg: a page, or a flame graph, of a program whose names are
 * made to break out of whatever they are put into.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flame_svg.h"
#include "page.h"
#include "run_builder.h"

#include <stdlib.h>
#include <string.h>

#define LONG_NAME_BYTES 100000

static const char *const hostile_names[] = {
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\"'><svg onload=document.title='owned'>",
    "<!--<script>",
    "]]></text></svg><script>document.title='owned'</script>",
    "line\nbreak\ttab\x01\x7f",
    "\xff\xfe not UTF-8 \xed\xa0\x80",
    "left \xe2\x80\xae right \xe2\x80\xa8 separator \xef\xbf\xbf none",
    "@DATA@ @SCRIPT@ &amp; ${1} `2`",
};

#define HOSTILE_NAMES (sizeof(hostile_names) / sizeof(hostile_names[0]))

/* "std::map<int, std::map<int, ...": as C++ makes them. */
static char *long_name(struct profile *profile) {
    static const char part[] = "std::map<int, ";
    char *name = arena_array(&profile->arena, LONG_NAME_BYTES + 1, 1);
    if (!name)
        abort();
    for (size_t i = 0; i < LONG_NAME_BYTES; i++)
        name[i] = part[i % (sizeof(part) - 1)];
    return name;
}

static void make_hostile(struct run *run) {
    struct profile *profile = &run->profile;
    for (size_t i = 0; i < profile->frame_count; i++) {
        struct profile_frame *frame = (struct profile_frame *)&profile->frames[i];
        frame->function = hostile_names[i % HOSTILE_NAMES];
        frame->file = hostile_names[(i + 1) % HOSTILE_NAMES];
    }
    if (profile->frame_count > HOSTILE_NAMES)
        ((struct profile_frame *)profile->frames)[HOSTILE_NAMES].function = long_name(profile);
    for (size_t i = 0; i < profile->region_count; i++)
        ((struct profile_region *)profile->regions)[i].name = hostile_names[i];
    profile->cwd = hostile_names[0];
    run->host = hostile_names[1];
    run->kernel = hostile_names[2];
}

int main(int count, char **arguments) {
    static const struct run_work work[] = {
        {"main/a/b/c", 1000}, {"main/a/d", 5000}, {"main/e/f/g", 300}, {"h/i", 70}, {"-", 9},
    };
    struct run run;
    struct diff diff;
    if (count != 2)
        return 2;
    run_build(&run, hostile_names[0], hostile_names[1], work, sizeof(work) / sizeof(work[0]),
              "parse");
    make_hostile(&run);
    if (diff_compare(NULL, 0, &run, 1, true, &diff) < 0)
        return 1;
    int r = strcmp(arguments[1], "html") == 0
                ? page_write(stdout, &diff, false)
                : flame_svg_write(stdout, &diff.rows[0], FLAME_SVG_WIDTH);
    diff_finish(&diff);
    run_finish(&run);
    return r < 0 || fflush(stdout) != 0;
}
