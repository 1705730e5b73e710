/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decimal_many.c: one look at each number finds its end, its point and its digits.
 *
 * With AVX2: 32 bytes from the number's start show which are digits, hence where the point and
 * the end are. 32 bytes up to its end, those in front of the point moved by one over it, are
 * then its digits in a row, put together by multiplications that add the neighbour to each:
 * pairs, fours, eights (after Mula, "Parsing series of integers with SIMD", 2018, and Lemire,
 * "Quickly parsing eight digits", 2018). There is no branch on how many digits there are, which
 * no processor could foresee.
 *
 * That needs 32 bytes behind the start and in front of the end of a number, so that the first
 * and last of an array go one by one, and so do exponents of more than three digits, infinities
 * and everything that the product with a power of ten cannot decide.
 */
#include "decimal_many.h"

#include "decimal_round.h"
#include "decimal_scan.h"

#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LOOK_BYTES 32

static inline bool is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* One number and the blanks behind it. False when there is none that is easily read. */
static bool read_one(const char **text, const char *end, unsigned char *to) {
    struct decimal_number number;
    const char *next;
    uint64_t bits;
    if (!decimal_scan(*text, end, &number, &next) || (next < end && !is_blank(*next)) ||
        !decimal_round_number(DECIMAL_DOUBLE, &number, &bits))
        return false;
    bits |= (uint64_t)number.negative << 63;
    memcpy(to, &bits, sizeof(bits));
    while (next < end && is_blank(*next))
        next++;
    *text = next;
    return true;
}

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))

/*
 * The integer that the @count digits before @end are. The last bytes, @fraction of them, begin
 * with the point; the digits in front of it are moved by one, over it. 33 bytes before @end can
 * be read. False for more than 19 digits, zeros in front not counted.
 */
WIDE static inline bool gather_digits(const char *end, int count, int fraction,
                                      uint64_t *ret_digits) {
    const __m256i places =
        _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                         20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    __m256i behind = _mm256_loadu_si256((const __m256i *)(const void *)(end - 32));
    __m256i before = _mm256_loadu_si256((const __m256i *)(const void *)(end - 33));
    __m256i is_before = _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(33 - fraction)), places);
    __m256i is_wanted = _mm256_cmpgt_epi8(places, _mm256_set1_epi8((char)(31 - count)));
    __m256i digits = _mm256_blendv_epi8(behind, before, is_before);
    digits = _mm256_and_si256(_mm256_sub_epi8(digits, _mm256_set1_epi8('0')), is_wanted);
    __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(10 | 1 << 8));
    __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(100 | 1 << 16));
    fours = _mm256_packus_epi32(fours, fours);
    __m256i eights = _mm256_madd_epi16(fours, _mm256_set1_epi32(10000 | 1 << 16));
    uint64_t first = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(eights));
    uint64_t last = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(eights, 1));
    *ret_digits = (first >> 32) * UINT64_C(10000000000000000) +
                  (last & UINT32_MAX) * UINT64_C(100000000) + (last >> 32);
    return (first & UINT32_MAX) == 0 && first >> 32 < 1000;
}

/*
 * As many numbers as lie well within the text from @start to @end: digits, point and digits,
 * perhaps with an exponent. Returns how many.
 */
WIDE static size_t read_wide(const char *start, const char **text, const char *end,
                             unsigned char *to, size_t most) {
    const __m256i nine = _mm256_set1_epi8(9);
    const __m256i zero = _mm256_set1_epi8('0');
    const char *c = *text;
    size_t count = 0;
    for (; count < most && end - c > LOOK_BYTES && c - start > LOOK_BYTES; count++) {
        struct decimal_number number = {.negative = *c == '-'};
        const char *first = c + number.negative;
        __m256i look = _mm256_loadu_si256((const __m256i *)(const void *)first);
        __m256i values = _mm256_sub_epi8(look, zero);
        unsigned others = ~(unsigned)_mm256_movemask_epi8(
            _mm256_cmpeq_epi8(_mm256_max_epu8(values, nine), nine));
        if (others == 0)
            break;
        int point = __builtin_ctz(others);
        others &= others - 1;
        if (first[point] != '.' || others == 0)
            break;
        int length = __builtin_ctz(others);
        const char *next = first + length;
        if (length < 2 || !gather_digits(next, length - 1, length - point, &number.digits))
            break;
        number.exponent = point + 1 - length;
        if ((*next == 'e' || *next == 'E') &&
            (next++, !decimal_scan_exponent(&next, end, &number)))
            break;
        uint64_t bits;
        if (!is_blank(*next) ||
            !decimal_round(DECIMAL_DOUBLE, number.digits, number.exponent, &bits))
            break;
        bits |= (uint64_t)number.negative << 63;
        memcpy(to + 8 * count, &bits, sizeof(bits));
        for (c = next + 1; is_blank(*c) && c < end;)
            c++;
    }
    *text = c;
    return count;
}

static bool has_wide(void) {
    return __builtin_cpu_supports("avx2") != 0;
}
#else
static size_t read_wide(const char *start, const char **text, const char *end,
                        unsigned char *to, size_t most) {
    return 0;
}

static bool has_wide(void) {
    return false;
}
#endif

size_t decimal_parse_doubles(const char *text, const char *end, unsigned char *to, size_t most,
                             const char **ret_next) {
    const char *start = text;
    const bool wide = has_wide();
    size_t count = 0;
    while (count < most && text < end) {
        if (wide)
            count += read_wide(start, &text, end, to + 8 * count, most - count);
        if (count == most || text == end || !read_one(&text, end, to + 8 * count))
            break;
        count++;
    }
    *ret_next = text;
    return count;
}
