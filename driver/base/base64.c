/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * base64.c: a decoder that keeps its place between pieces.
 *
 * Whole groups of four digits take the short way: 32 characters at once where the processor has
 * AVX2 (after Mula and Lemire, "Faster base64 encoding and decoding using AVX2 instructions",
 * 2018), and four loads from one table, one test for all four, where it has not. The encoder has
 * the same two ways. All else in a text (white space, the piece's edges, padding, errors) goes one
 * character at a time. A truncated text is an error: the bytes that are missing were rows.
 */
#include "base64.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    BLANK = 0x40,
    PADDING = 0x41,
    NEWLINE = 0x42,
    ILLEGAL = 0x80,
    NO_DIGIT = 0xc0, /* the bits that no digit has */
};

// clang-format off
#define X ILLEGAL
#define X16 X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X
static const unsigned char values[256] = {
    X, X, X, X, X, X, X, X, X, BLANK, NEWLINE, X, BLANK, BLANK, X, X,
    X16,
    BLANK, X, X, X, X, X, X, X, X, X, X, 62, X, X, X, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, X, X, X, PADDING, X, X,
    X,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, X, X, X, X, X,
    X, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, X, X, X, X, X,
    X16, X16, X16, X16, X16, X16, X16, X16,
};
#undef X16
#undef X
// clang-format on

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_decoder_init(struct base64_decoder *decoder, uint64_t lineno) {
    *decoder = (struct base64_decoder){.lineno = lineno};
}

static int complain_illegal(const struct base64_decoder *decoder, unsigned char c,
                            struct problem *problem) {
    static const char advice[] = "the stream is damaged, fetch or write it again";
    if (c > 0x20 && c < 0x7f)
        return problem_set(problem, -EBADMSG, decoder->lineno, "'%c' is not base64, %s", c,
                           advice);
    return problem_set(problem, -EBADMSG, decoder->lineno, "byte 0x%02x is not base64, %s", c,
                       advice);
}

/* One character that is not a digit in the middle of the text. */
static int take_other(struct base64_decoder *decoder, unsigned char c,
                      struct problem *problem) {
    switch (values[c]) {
    case NEWLINE:
        decoder->lineno++;
        return 0;
    case BLANK:
        return 0;
    case PADDING:
        if (decoder->digits + decoder->padding < 2 || decoder->digits + decoder->padding > 3)
            return problem_set(problem, -EBADMSG, decoder->lineno,
                               "base64 padding '=' where none belongs, the stream is damaged, "
                               "fetch or write it again");
        decoder->padding++;
        return 0;
    default:
        return complain_illegal(decoder, c, problem);
    }
}

static int take_digit(struct base64_decoder *decoder, unsigned char value, unsigned char **out,
                      struct problem *problem) {
    if (decoder->padding > 0)
        return problem_set(problem, -EBADMSG, decoder->lineno,
                           "base64 goes on after its padding '=', the stream is damaged or two "
                           "were joined, write it again as one");
    decoder->carry = decoder->carry << 6 | value;
    if (++decoder->digits < 4)
        return 0;
    *(*out)++ = (unsigned char)(decoder->carry >> 16);
    *(*out)++ = (unsigned char)(decoder->carry >> 8);
    *(*out)++ = (unsigned char)decoder->carry;
    decoder->carry = 0;
    decoder->digits = 0;
    return 0;
}

#if defined(__x86_64__)
/*
 * 32 characters become 24 bytes; 8 more are written behind them, which BASE64_DECODED_BYTES has
 * room for. Stops before the first 32 that are not all digits, with nothing of them taken.
 *
 * A character is a digit when the bits that its two nibbles stand for have none in common; its
 * value is the character plus an offset that the high nibble decides, '/' apart.
 */
__attribute__((target("avx2"))) static const unsigned char *
take_blocks(const unsigned char *c, const unsigned char *end, unsigned char **out) {
    const __m256i low_bits = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1a,
                      0x1b, 0x1b, 0x1b, 0x1a));
    const __m256i high_bits = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10,
                      0x10, 0x10, 0x10, 0x10));
    const __m256i offsets = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
    const __m256i together = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7);
    const __m256i slash = _mm256_set1_epi8('/');
    unsigned char *to = *out;
    for (; end - c >= 32; c += 32, to += 24) {
        __m256i text = _mm256_loadu_si256((const __m256i *)(const void *)c);
        __m256i high = _mm256_and_si256(_mm256_srli_epi32(text, 4), slash);
        __m256i low = _mm256_and_si256(text, slash);
        if (!_mm256_testz_si256(_mm256_shuffle_epi8(low_bits, low),
                                _mm256_shuffle_epi8(high_bits, high)))
            break;
        __m256i at = _mm256_add_epi8(_mm256_cmpeq_epi8(text, slash), high);
        text = _mm256_add_epi8(text, _mm256_shuffle_epi8(offsets, at));
        __m256i pairs = _mm256_maddubs_epi16(text, _mm256_set1_epi32(0x01400140));
        __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
        __m256i bytes =
            _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(groups, order), together);
        _mm256_storeu_si256((__m256i *)(void *)to, bytes);
    }
    *out = to;
    return c;
}

/*
 * 24 bytes become 32 characters, as often as there are so many. A lane takes 12 of the 16 bytes
 * that it loads, the first from the start of its bytes, the second from the end. What is added to
 * a digit to make it a character is looked up: by 0 for the digits of small letters, 1 to 10 for
 * those of '0' to '9', 11 and 12 for '+' and '/', 13 for capitals.
 */
__attribute__((target("avx2"))) static const unsigned char *
give_blocks(const unsigned char *c, const unsigned char *end, char **out) {
    const __m256i order = _mm256_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10, 5,
                                           4, 6, 5, 8, 7, 9, 8, 11, 10, 12, 11, 14, 13, 15, 14);
    const __m256i offsets = _mm256_broadcastsi128_si256(
        _mm_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                      '0' - 52, '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0));
    char *to = *out;
    for (; end - c >= 24; c += 24, to += 32) {
        __m128i first = _mm_loadu_si128((const __m128i *)(const void *)c);
        __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(c + 8));
        __m256i bytes = _mm256_shuffle_epi8(_mm256_set_m128i(second, first), order);
        __m256i upper =
            _mm256_mulhi_epu16(_mm256_and_si256(bytes, _mm256_set1_epi32(0x0fc0fc00)),
                               _mm256_set1_epi32(0x04000040));
        __m256i lower =
            _mm256_mullo_epi16(_mm256_and_si256(bytes, _mm256_set1_epi32(0x003f03f0)),
                               _mm256_set1_epi32(0x01000010));
        __m256i sextets = _mm256_or_si256(upper, lower);
        __m256i at = _mm256_subs_epu8(sextets, _mm256_set1_epi8(51));
        __m256i capital = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), sextets);
        at = _mm256_or_si256(at, _mm256_and_si256(capital, _mm256_set1_epi8(13)));
        _mm256_storeu_si256((__m256i *)(void *)to,
                            _mm256_add_epi8(sextets, _mm256_shuffle_epi8(offsets, at)));
    }
    *out = to;
    return c;
}

static bool has_blocks(void) {
    return __builtin_cpu_supports("avx2") != 0;
}
#else
static const unsigned char *take_blocks(const unsigned char *c, const unsigned char *end,
                                        unsigned char **out) {
    return c;
}

static const unsigned char *give_blocks(const unsigned char *c, const unsigned char *end,
                                        char **out) {
    return c;
}

static bool has_blocks(void) {
    return false;
}
#endif

/* As many whole groups as follow one another without a break. Returns where it stopped. */
static const unsigned char *take_groups(const unsigned char *c, const unsigned char *end,
                                        unsigned char **out) {
    unsigned char *to = *out;
    for (; end - c >= 4; c += 4) {
        unsigned char v0 = values[c[0]];
        unsigned char v1 = values[c[1]];
        unsigned char v2 = values[c[2]];
        unsigned char v3 = values[c[3]];
        if (((v0 | v1 | v2 | v3) & NO_DIGIT) != 0)
            break;
        uint32_t group = (uint32_t)v0 << 18 | (uint32_t)v1 << 12 | (uint32_t)v2 << 6 | v3;
        to[0] = (unsigned char)(group >> 16);
        to[1] = (unsigned char)(group >> 8);
        to[2] = (unsigned char)group;
        to += 3;
    }
    *out = to;
    return c;
}

int base64_decode(struct base64_decoder *decoder, const char *text, size_t length,
                  unsigned char *out, size_t *ret_bytes, struct problem *problem) {
    const unsigned char *c = (const unsigned char *)text;
    const unsigned char *end = c + length;
    unsigned char *to = out;
    const bool blocks = has_blocks();

    while (c < end) {
        if (decoder->digits == 0 && decoder->padding == 0) {
            /* Lines end between groups, and nearly nowhere else. */
            if (*c == '\n') {
                decoder->lineno++;
                if (++c == end)
                    break;
            }
            if (blocks)
                c = take_blocks(c, end, &to);
            c = take_groups(c, end, &to);
            if (c == end)
                break;
        }
        unsigned char value = values[*c];
        int r = (value & NO_DIGIT) == 0 ? take_digit(decoder, value, &to, problem)
                                        : take_other(decoder, *c, problem);
        if (r < 0)
            return r;
        c++;
    }
    decoder->text_bytes += length;
    *ret_bytes = (size_t)(to - out);
    /* Padding closes the group that it fills: its bytes are all there now. */
    if (decoder->digits > 0 && decoder->digits + decoder->padding == 4) {
        uint32_t group = decoder->carry << (6 * decoder->padding);
        out[(*ret_bytes)++] = (unsigned char)(group >> 16);
        if (decoder->padding == 1)
            out[(*ret_bytes)++] = (unsigned char)(group >> 8);
        decoder->digits = 0;
        decoder->padding = 4;
    }
    return 0;
}

bool base64_decoder_rest(struct base64_decoder *decoder, unsigned char *out,
                         size_t *ret_bytes) {
    *ret_bytes = 0;
    if (decoder->digits == 0 || decoder->padding > 0)
        return false;
    /* A text that was cut would leave bits that fill no byte, three times out of four or more. */
    uint32_t group = decoder->carry << (6 * (4 - decoder->digits));
    bool whole = (decoder->digits == 2 && (group & 0xffff) == 0) ||
                 (decoder->digits == 3 && (group & 0xff) == 0);
    if (!whole)
        return false;
    out[(*ret_bytes)++] = (unsigned char)(group >> 16);
    if (decoder->digits == 3)
        out[(*ret_bytes)++] = (unsigned char)(group >> 8);
    decoder->digits = 0;
    return true;
}

int base64_decoder_end(struct base64_decoder *decoder, struct problem *problem) {
    if (decoder->digits == 0)
        return 0;
    return problem_set(problem, -EBADMSG, decoder->lineno,
                       "base64 ends inside a group of four after %" PRIu64
                       " characters, the stream is cut short, fetch or write it again",
                       decoder->text_bytes);
}

size_t base64_encode(const unsigned char *bytes, size_t length, char *out) {
    const unsigned char *c = bytes;
    const unsigned char *end = bytes + length;
    char *to = out;
    if (has_blocks())
        c = give_blocks(c, end, &to);
    for (; end - c >= 3; c += 3) {
        uint32_t group = (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2];
        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = digits[group >> 6 & 63];
        *to++ = digits[group & 63];
    }
    if (c == end)
        return (size_t)(to - out);
    bool two = end - c == 2;
    uint32_t group = (uint32_t)c[0] << 16 | (two ? (uint32_t)c[1] << 8 : 0);
    *to++ = digits[group >> 18];
    *to++ = digits[group >> 12 & 63];
    *to++ = two ? digits[group >> 6 & 63] : '=';
    *to++ = '=';
    return (size_t)(to - out);
}
