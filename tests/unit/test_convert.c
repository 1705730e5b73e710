/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions and generated tables when memory runs out: an error and no file, or all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "convert.h"
#include "generate.h"
#include "refused_alloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_convert.XXXXXX";
static char input[64];
static char output[64];

static void ignore(void *context, const struct warning *warning) {
}

static int generate(const char *path, enum serialization format, struct problem *problem) {
    const struct generate_options options = {.preset = "all-types",
                                             .rows = 5,
                                             .format = format,
                                             .seed = 3,
                                             .null_fraction = 0.25,
                                             .line_characters = 64,
                                             .path = path};
    const char *bad_path;
    return generate_run(&options, &bad_path, problem);
}

static int make_folder(void **state) {
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(input, sizeof(input), "%s/input.vot", folder);
    snprintf(output, sizeof(output), "%s/output.vot.gz", folder);
    votable_library_init();
    return 0;
}

static int remove_folder(void **state) {
    votable_library_finish();
    unlink(input);
    return rmdir(folder);
}

static int convert(enum serialization to, struct problem *problem) {
    const struct convert_options options = {.path = input,
                                            .output_path = output,
                                            .format = to,
                                            .limits = READ_LIMITS,
                                            .warn = ignore};
    const char *bad_path;
    return convert_run(&options, &bad_path, problem);
}

/* @work(format) with one allocation after the other refused, until none is. */
static void refuse_each(int (*work)(enum serialization format, struct problem *problem),
                        enum serialization format) {
    unsigned long failures = 0;
    refused_alloc.happened = true;
    for (size_t nth = 1; refused_alloc.happened; nth++) {
        struct problem problem = {0};
        refused_alloc.left = nth;
        refused_alloc.happened = false;
        int r = work(format, &problem);
        refused_alloc.left = 0;
        if (r == 0) {
            assert_int_equal(unlink(output), 0);
            continue;
        }
        failures++;
        assert_int_equal(r, -ENOMEM);
        assert_int_equal(problem.code, -ENOMEM);
        assert_int_equal(access(output, F_OK), -1);
    }
    assert_true(failures > 10);
}

static void test_convert_survives_any_failed_allocation(void **state) {
    static const enum serialization formats[] = {SERIALIZATION_TABLEDATA, SERIALIZATION_BINARY2,
                                                 SERIALIZATION_FITS};
    for (int from = 0; from < 3; from++) {
        struct problem problem = {0};
        assert_int_equal(generate(input, formats[from], &problem), 0);
        for (int to = 0; to < 3; to++)
            refuse_each(convert, formats[to]);
    }
}

static int generate_output(enum serialization format, struct problem *problem) {
    return generate(output, format, problem);
}

static void test_generate_survives_any_failed_allocation(void **state) {
    refuse_each(generate_output, SERIALIZATION_TABLEDATA);
    refuse_each(generate_output, SERIALIZATION_FITS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convert_survives_any_failed_allocation),
        cmocka_unit_test(test_generate_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
