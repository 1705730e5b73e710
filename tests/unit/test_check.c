/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The validator when memory runs out, at any allocation, once or for good: a clean error or all
 * findings, never a part of them. And its tables, which no compiler checks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check_document.h"
#include "refused_alloc.h"
#include "votable.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] =
    "<VOTABLE version=\"1.4\" xmlns=\"http://www.ivoa.net/xml/VOTable/v1.3\">\n"
    "<RESOURCE><TABLE ID=\"t\" nrows=\"3\">\n"
    "<FIELD name=\"i\" datatype=\"int\" ref=\"nowhere\"><VALUES null=\"-9\"/></FIELD>\n"
    "<FIELD name=\"i\" datatype=\"char\"/>\n"
    "<PARAM ID=\"t\" name=\"p\" datatype=\"int\" value=\"one\"/>\n"
    "<DATA><TABLEDATA><TR><TD>x</TD><TD>long</TD></TR></TABLEDATA></DATA>\n"
    "</TABLE><TABLE ref=\"t\"><DATA><BINARY2>\n"
    "<STREAM encoding=\"base64\">AAAAAAFh*</STREAM></BINARY2></DATA></TABLE>\n"
    "</RESOURCE></VOTABLE>\n";

#define FINDINGS 9 /* one each of R02 R04 T01 F03 F07 R01 C01 C06 B01 */

static char path[] = "/tmp/test_check.XXXXXX";

static int write_document(void **state) {
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)(sizeof(text) - 1))
        return -1;
    close(fd);
    /* Called before the library is set up, so that the wrappers are what it calls. */
    xmlMemSetup(free, malloc, realloc, strdup);
    votable_library_init();
    return 0;
}

static int remove_document(void **state) {
    votable_library_finish();
    return unlink(path);
}

/* Returns the problem's code; all findings must be there when it is 0. */
static int check_once(void) {
    struct problem problem = {0};
    struct check_document *document = calloc(1, sizeof(*document));
    if (document == NULL)
        return -ENOMEM;
    check_document_init(document, &READ_LIMITS, &problem);
    check_xml_read(path, document);
    findings_sort(&document->findings);
    if (problem.code == 0)
        assert_int_equal(FINDINGS, document->findings.count);
    for (size_t i = 1; i < document->findings.count; i++)
        assert_true(document->findings.items[i - 1].lineno <=
                    document->findings.items[i].lineno);
    check_document_finish(document);
    free(document);
    return problem.code;
}

static void refuse_one_after_the_other(bool for_good) {
    size_t refused = 0;
    for (size_t n = 1; n < 100000; n++) {
        refused_alloc.for_good = for_good;
        refused_alloc.happened = false;
        refused_alloc.left = n;
        int r = check_once();
        refused_alloc.left = 0;
        if (!refused_alloc.happened) {
            assert_int_equal(0, r);
            assert_true(refused > 20);
            return;
        }
        refused++;
        assert_true(r == 0 || r == -ENOMEM);
    }
    fail();
}

static void test_all_findings_are_there_with_enough_memory(void **state) {
    assert_int_equal(0, check_once());
}

static void test_an_allocation_that_fails_is_a_clean_error(void **state) {
    refuse_one_after_the_other(false);
}

static void test_allocations_that_go_on_failing_are_a_clean_error(void **state) {
    refuse_one_after_the_other(true);
}

/* A child that has no row of its own parent, or an attribute of no element, is a slip. */
static void test_every_element_can_stand_somewhere(void **state) {
    for (int i = SCHEMA_VOTABLE + 1; i < SCHEMA_ELEMENTS; i++) {
        bool found = false;
        for (size_t j = 0; j < schema_child_count; j++)
            found = found || (schema_children[j].children & SCHEMA_BIT(i)) != 0;
        assert_true(found);
        assert_int_equal(i, schema_element_find(schema_element_name((enum schema_element)i)));
    }
}

static void test_no_two_attributes_are_the_same_in_one_version(void **state) {
    for (size_t i = 0; i < schema_attribute_count; i++)
        for (size_t j = i + 1; j < schema_attribute_count; j++) {
            const struct schema_attribute *one = &schema_attributes[i];
            const struct schema_attribute *other = &schema_attributes[j];
            bool same =
                (one->elements & other->elements) != 0 && strcmp(one->name, other->name) == 0;
            assert_false(same && one->since < other->until && other->since < one->until);
        }
}

static void test_every_code_has_a_name_of_its_own(void **state) {
    for (int i = 0; i < FINDING_CODES; i++) {
        assert_non_null(finding_name((enum finding_code)i));
        assert_non_null(finding_summary((enum finding_code)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(finding_name((enum finding_code)j),
                                    finding_name((enum finding_code)i));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_findings_are_there_with_enough_memory),
        cmocka_unit_test(test_an_allocation_that_fails_is_a_clean_error),
        cmocka_unit_test(test_allocations_that_go_on_failing_are_a_clean_error),
        cmocka_unit_test(test_every_element_can_stand_somewhere),
        cmocka_unit_test(test_no_two_attributes_are_the_same_in_one_version),
        cmocka_unit_test(test_every_code_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, write_document, remove_document);
}
