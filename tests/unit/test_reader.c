/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Documents through libxml2 when memory runs out: at any allocation, once or for good, a parse
 * ends in a clean error or in the whole result, never in a part of it.
 *
 * Linked with --wrap, so that allocations of the driver come here; libxml2 is told to come,
 * too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checksum.h"
#include "refused_alloc.h"
#include "votable.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLES 3

static const char document[] =
    "<?xml version=\"1.0\"?>\n"
    "<VOTABLE version=\"1.4\" xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\">\n"
    "<INFO name=\"a\" value=\"b\"/><RESOURCE>\n"
    "<TABLE ID=\"one\" name=\"first\">\n"
    "<FIELD name=\"i\" datatype=\"int\"><VALUES null=\"-9\"/></FIELD>\n"
    "<FIELD name=\"s\" datatype=\"char\" arraysize=\"*\"/>\n"
    "<FIELD name=\"d\" datatype=\"double\" arraysize=\"*\"/>\n"
    "<FIELD name=\"n\" datatype=\"short\"/>\n"
    "<DATA><TABLEDATA>\n"
    "<TR><TD>1</TD><TD>a &amp; b <![CDATA[<c>]]></TD><TD>1 2 3</TD><TD/></TR>\n"
    "<TR><TD>-9</TD><TD>a text that is a little longer than the ones that fit a node, and more"
    "</TD><TD/><TD>7</TD></TR>\n"
    "</TABLEDATA></DATA></TABLE>\n"
    "<TABLE name=\"second\" ref=\"one\"><DATA><BINARY2><STREAM encoding=\"base64\">\n"
    "AAAAAAEAAAACeHkAAAABP/AAAAAAAAAAB1AAAAACAAAAAAAAAAAACA==\n"
    "</STREAM></BINARY2></DATA></TABLE>\n"
    "<TABLE name=\"third\"><FIELD name=\"s\" datatype=\"short\" arraysize=\"2\"/>"
    "<DATA><BINARY><STREAM encoding=\"base64\">AAEAAgADAAQ=</STREAM></BINARY></DATA></TABLE>\n"
    "</RESOURCE></VOTABLE>\n";

static char path[] = "/tmp/test_reader.XXXXXX";

static int write_document(void **state) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, document, sizeof(document) - 1), sizeof(document) - 1);
    close(fd);
    assert_int_equal(xmlMemSetup(free, malloc, realloc, strdup), 0);
    votable_library_init();
    return 0;
}

static int remove_document(void **state) {
    votable_library_finish();
    return unlink(path);
}

/* Read the document; its tables' checksums if all went well. */
static int read_document(enum strategy strategy, uint64_t ret_hashes[TABLES],
                         struct problem *problem) {
    struct votable votable = {0};
    int r = votable_read(path, strategy, &votable, problem);
    refused_alloc.left = 0;
    if (r == 0) {
        assert_int_equal(votable.table_count, TABLES);
        for (size_t i = 0; i < TABLES; i++) {
            const struct table *table = votable.tables[i];
            ret_hashes[i] = checksum_columns(table->columns, table->field_count, table->rows);
            assert_int_equal(table->rows, 2);
        }
    }
    votable_finish(&votable);
    return r;
}

static void check_strategy(enum strategy strategy, bool for_good) {
    uint64_t wanted[TABLES];
    struct problem problem = {0};
    refused_alloc.for_good = for_good;
    refused_alloc.left = 0;
    assert_int_equal(read_document(strategy, wanted, &problem), 0);

    unsigned long failures = 0;
    refused_alloc.happened = true;
    for (size_t nth = 1; refused_alloc.happened; nth++) {
        uint64_t hashes[TABLES];
        problem = (struct problem){0};
        refused_alloc.left = nth;
        refused_alloc.happened = false;
        int r = read_document(strategy, hashes, &problem);
        if (r == 0) {
            assert_memory_equal(hashes, wanted, sizeof(wanted));
            continue;
        }
        failures++;
        assert_true(refused_alloc.happened);
        assert_int_equal(r, problem.code);
        assert_int_equal(r, -ENOMEM);
    }
    assert_true(failures > 20);
}

static void test_stream_survives_any_failed_allocation(void **state) {
    check_strategy(STRATEGY_STREAM, false);
    check_strategy(STRATEGY_STREAM, true);
}

static void test_buffer_survives_any_failed_allocation(void **state) {
    check_strategy(STRATEGY_BUFFER, false);
    check_strategy(STRATEGY_BUFFER, true);
}

static void test_dom_survives_any_failed_allocation(void **state) {
    check_strategy(STRATEGY_DOM, false);
    check_strategy(STRATEGY_DOM, true);
}

static void test_reader_survives_any_failed_allocation(void **state) {
    check_strategy(STRATEGY_READER, false);
    check_strategy(STRATEGY_READER, true);
}

static void test_strategies_agree(void **state) {
    uint64_t hashes[STRATEGIES][TABLES];
    for (int i = 0; i < STRATEGIES; i++) {
        struct problem problem = {0};
        assert_int_equal(read_document((enum strategy)i, hashes[i], &problem), 0);
        assert_memory_equal(hashes[i], hashes[0], sizeof(hashes[0]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strategies_agree),
        cmocka_unit_test(test_stream_survives_any_failed_allocation),
        cmocka_unit_test(test_buffer_survives_any_failed_allocation),
        cmocka_unit_test(test_dom_survives_any_failed_allocation),
        cmocka_unit_test(test_reader_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, write_document, remove_document);
}
