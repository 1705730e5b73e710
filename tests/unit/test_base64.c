/* SPDX-License-Identifier: BSD-3-Clause */
/* Base64 in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Decode @text in pieces of @step and end it. Returns the first error. */
static int decode(const char *text, size_t step, unsigned char *out, size_t *ret_bytes,
                  struct problem *problem) {
    struct base64_decoder decoder;
    size_t length = strlen(text);
    *ret_bytes = 0;
    base64_decoder_init(&decoder, 10);
    for (size_t at = 0; at < length; at += step) {
        size_t piece = length - at < step ? length - at : step;
        size_t bytes = 0;
        unsigned char decoded[4096];
        assert_true(BASE64_DECODED_BYTES(piece) <= sizeof(decoded));
        int r = base64_decode(&decoder, text + at, piece, decoded, &bytes, problem);
        if (r < 0)
            return r;
        memcpy(out + *ret_bytes, decoded, bytes);
        *ret_bytes += bytes;
    }
    return base64_decoder_end(&decoder, problem);
}

static void test_any_split_gives_the_same_bytes(void **state) {
    static const struct {
        const char *text;
        const char *bytes;
    } cases[] = {
        {"", ""},
        {"Zg==", "f"},
        {"Zm8=", "fo"},
        {"Zm9v", "foo"},
        {"Zm9vYg==", "foob"},
        {"Zm9vYmE=", "fooba"},
        {"Zm9vYmFy", "foobar"},
        {" Z\nm9\tv\r\nYm\n\nFy \n", "foobar"},
        {"Zm9vYg=\n=\n", "foob"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t step = 1; step < 20; step++) {
            unsigned char out[64];
            size_t bytes;
            struct problem problem = {0};
            assert_int_equal(decode(cases[i].text, step, out, &bytes, &problem), 0);
            assert_int_equal(bytes, strlen(cases[i].bytes));
            assert_memory_equal(out, cases[i].bytes, bytes);
        }
    }
}

static void test_what_was_encoded_comes_back(void **state) {
    unsigned char bytes[300];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 167 + 13);
    for (size_t length = 0; length <= sizeof(bytes); length++) {
        char text[BASE64_ENCODED_BYTES(sizeof(bytes)) + 1];
        size_t characters = base64_encode(bytes, length, text);
        assert_int_equal(characters, BASE64_ENCODED_BYTES(length));
        text[characters] = '\0';
        unsigned char out[sizeof(bytes)];
        size_t decoded;
        struct problem problem = {0};
        assert_int_equal(decode(text, 7, out, &decoded, &problem), 0);
        assert_int_equal(decoded, length);
        assert_memory_equal(out, bytes, length);
    }
}

/* Each of the 64 at each place of a text that is long enough to be made in blocks. */
static void test_every_digit_is_written_wherever_it_stands(void **state) {
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (unsigned value = 0; value < 64; value++)
        for (size_t place = 0; place < 64; place++) {
            unsigned char bytes[48] = {0};
            char text[64];
            char wanted[64];
            const unsigned bits = value << (18 - 6 * (place % 4));
            bytes[place / 4 * 3] = (unsigned char)(bits >> 16);
            bytes[place / 4 * 3 + 1] = (unsigned char)(bits >> 8);
            bytes[place / 4 * 3 + 2] = (unsigned char)bits;
            memset(wanted, 'A', sizeof(wanted));
            wanted[place] = digits[value];
            assert_int_equal(base64_encode(bytes, sizeof(bytes), text), sizeof(text));
            assert_memory_equal(text, wanted, sizeof(text));
        }
}

static void test_damage_is_told_with_its_line(void **state) {
    static const struct {
        const char *text;
        uint64_t lineno;
        const char *words;
    } cases[] = {
        {"Zm9v\n*m9v", 11, "'*' is not base64"},
        {"Zm\n\n9v-", 12, "'-' is not base64"},
        {"Zm9v\x01", 10, "byte 0x01 is not base64"},
        {"Zm9v\xff", 10, "byte 0xff is not base64"},
        {"Zg==Zg==", 10, "goes on after its padding"},
        {"Zg==\nZ", 11, "goes on after its padding"},
        {"Zg=A", 10, "goes on after its padding"},
        {"=", 10, "where none belongs"},
        {"Z===", 10, "where none belongs"},
        {"Zm9v=", 10, "where none belongs"},
        {"Zm8==", 10, "where none belongs"},
        {"Zg===", 10, "where none belongs"},
        {"Zm9vZ", 10, "ends inside a group of four after 5 characters"},
        {"Zm9vZm\n", 11, "ends inside a group of four after 7 characters"},
        {"Zm8", 10, "ends inside a group of four after 3 characters"},
        {"Zg=", 10, "ends inside a group of four after 3 characters"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t step = 1; step < 10; step++) {
            unsigned char out[64];
            size_t bytes;
            struct problem problem = {0};
            assert_int_equal(decode(cases[i].text, step, out, &bytes, &problem), -EBADMSG);
            assert_int_equal(problem.lineno, cases[i].lineno);
            assert_non_null(strstr(problem.text, cases[i].words));
        }
    }
}

/* Any byte at any place of a text that is long enough to be taken in blocks. */
static void test_every_wrong_byte_is_found_wherever_it_stands(void **state) {
    char text[97];
    unsigned char out[128];
    for (size_t i = 0; i < 96; i++)
        text[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[i % 64];
    text[96] = '\0';
    for (size_t at = 0; at < 96; at++) {
        char kept = text[at];
        for (int byte = 1; byte < 256; byte++) {
            struct problem problem = {0};
            size_t bytes;
            bool digit = byte == '+' || (byte == '=' && at == 95) || byte == '/' ||
                         (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                         (byte >= 'a' && byte <= 'z');
            text[at] = (char)byte;
            assert_int_equal(decode(text, 96, out, &bytes, &problem) == 0, digit);
        }
        text[at] = kept;
    }
}

static void test_what_lacks_only_its_padding_is_whole(void **state) {
    static const struct {
        const char *text;
        size_t bytes; /* 0: it is not whole */
    } cases[] = {{"Zg", 1}, {"Zm8", 2},  {"Zh", 0}, {"Zm9", 0},
                 {"Z", 0},  {"Zm9v", 0}, {"Zg=", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct base64_decoder decoder;
        struct problem problem = {0};
        unsigned char out[32];
        size_t bytes;
        size_t rest;
        base64_decoder_init(&decoder, 1);
        assert_int_equal(base64_decode(&decoder, cases[i].text, strlen(cases[i].text), out,
                                       &bytes, &problem),
                         0);
        assert_int_equal(base64_decoder_rest(&decoder, out, &rest), cases[i].bytes > 0);
        assert_int_equal(rest, cases[i].bytes);
        assert_memory_equal(out, "fo", rest);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_wrong_byte_is_found_wherever_it_stands),
        cmocka_unit_test(test_what_lacks_only_its_padding_is_whole),
        cmocka_unit_test(test_any_split_gives_the_same_bytes),
        cmocka_unit_test(test_what_was_encoded_comes_back),
        cmocka_unit_test(test_every_digit_is_written_wherever_it_stands),
        cmocka_unit_test(test_damage_is_told_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
