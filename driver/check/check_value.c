/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_value.c: the patterns of VOTable's schemas, by hand.
 *
 * Each function reads a text from its start to its end, and says no at the first character that
 * cannot be there. Units are read as far as one grammar goes for both standards in use: signs
 * between words, brackets in pairs; which words there are is not looked at.
 */
#include "check_value.h"

#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *skip_digits(const char *c) {
    while (is_digit(*c))
        c++;
    return c;
}

/* An XML name without colon; what is beyond ASCII is taken for a letter. */
static bool is_id(const char *c) {
    if (!is_letter(*c) && *c != '_' && (unsigned char)*c < 0x80)
        return false;
    for (; *c != '\0'; c++)
        if (!is_letter(*c) && !is_digit(*c) && strchr("_-.", *c) == NULL &&
            (unsigned char)*c < 0x80)
            return false;
    return true;
}

static bool is_count(const char *c) {
    if (*c == '+')
        c++;
    return is_digit(*c) && *skip_digits(c) == '\0';
}

static bool is_positive(const char *c) {
    return is_count(c) && strpbrk(c, "123456789") != NULL;
}

/* [EF]?[0-9]+; an erratum to 1.3 and 1.4 let the first digit be 0. */
static bool is_precision(const char *c, enum schema_version version) {
    if (*c == 'E' || *c == 'F')
        c++;
    if (!is_digit(*c) || (version < V1_3 && *c == '0'))
        return false;
    return *skip_digits(c) == '\0';
}

/* [JB]?[0-9]+([.][0-9]*)? */
static bool is_year(const char *c) {
    if (*c == 'J' || *c == 'B')
        c++;
    if (!is_digit(*c))
        return false;
    c = skip_digits(c);
    return *c == '\0' || (*c == '.' && *skip_digits(c + 1) == '\0');
}

static bool is_time_origin(const char *c) {
    if (strcmp(c, "MJD-origin") == 0 || strcmp(c, "JD-origin") == 0)
        return true;
    if (*c == '+' || *c == '-')
        c++;
    const char *start = c;
    c = skip_digits(c);
    bool digits = c > start;
    if (*c == '.') {
        const char *fraction = c + 1;
        c = skip_digits(fraction);
        digits = digits || c > fraction;
    }
    if (!digits)
        return false;
    if (*c != 'e' && *c != 'E')
        return *c == '\0';
    c++;
    if (*c == '+' || *c == '-')
        c++;
    return is_digit(*c) && *skip_digits(c) == '\0';
}

/* Digits where the pattern has 0; everything else must be the same. */
static const char *match(const char *c, const char *pattern) {
    for (; *pattern != '\0'; c++, pattern++)
        if (*pattern == '0' ? !is_digit(*c) : *c != *pattern)
            return NULL;
    return c;
}

/* @c is behind the seconds: a fraction, and where @zones says so a time zone. */
static bool ends_time(const char *c, bool zones) {
    if (*c == '.') {
        if (!is_digit(c[1]))
            return false;
        c = skip_digits(c + 1);
    }
    if (*c == '\0' || strcmp(c, "Z") == 0)
        return true;
    const char *end = zones && (*c == '+' || *c == '-') ? match(c + 1, "00:00") : NULL;
    return end != NULL && *end == '\0';
}

static bool is_date_time(const char *c) {
    if (*c == '-')
        c++;
    while (is_digit(*c) && is_digit(c[1]) && is_digit(c[2]) && is_digit(c[3]) && is_digit(c[4]))
        c++; /* years of more than four digits */
    c = match(c, "0000-00-00T00:00:00");
    return c != NULL && ends_time(c, true);
}

bool value_is_timestamp(const char *text) {
    const char *date = match(text, "0000-00-00");
    if (date == NULL || *date == '\0')
        return date != NULL;
    const char *time = match(date, "T00:00:00");
    return time != NULL && ends_time(time, false);
}

static bool is_arraysize(const char *c) {
    while (is_digit(*c) || *c == 'x')
        c++;
    if (*c == '*')
        c++;
    return *c == '\0';
}

static bool is_ucd(const char *c, enum schema_version version) {
    for (; *c != '\0'; c++)
        if (!is_letter(*c) && !is_digit(*c) && strchr("_.;-", *c) == NULL &&
            !(*c == ':' && version != V1_1))
            return false;
    return true;
}

bool value_is_of_kind(enum schema_kind kind, const char *text, enum schema_version version) {
    switch (kind) {
    case KIND_ID:
    case KIND_REF:
        return is_id(text);
    case KIND_COUNT:
        return is_count(text);
    case KIND_POSITIVE:
        return is_positive(text);
    case KIND_PRECISION:
        return is_precision(text, version);
    case KIND_YEAR:
        return is_year(text);
    case KIND_TIME_ORIGIN:
        return is_time_origin(text);
    case KIND_DATE_TIME:
        return is_date_time(text);
    case KIND_ARRAYSIZE:
        return is_arraysize(text);
    case KIND_UCD:
        return version == V1_0 || is_ucd(text, version);
    case KIND_TEXT:
    case KIND_CHOICE:
    case KIND_TERM:
    case KIND_VERSION:
    case KIND_DATATYPE:
    case KIND_UNIT:
        break;
    }
    return true;
}

const char *value_kind_text(enum schema_kind kind) {
    switch (kind) {
    case KIND_ID:
        return "a name that begins with a letter and has no blanks";
    case KIND_REF:
        return "the ID of an element";
    case KIND_COUNT:
        return "a number from 0";
    case KIND_POSITIVE:
        return "a number from 1";
    case KIND_PRECISION:
        return "a number, E and a number, or F and a number";
    case KIND_YEAR:
        return "a year like J2000 or 1950.0";
    case KIND_TIME_ORIGIN:
        return "a number, MJD-origin or JD-origin";
    case KIND_DATE_TIME:
        return "a time like 2004-08-11T12:00:00";
    case KIND_ARRAYSIZE:
        return "numbers with x between and perhaps a * at the end";
    case KIND_UCD:
        return "letters, digits and . ; : - _";
    case KIND_TEXT:
    case KIND_CHOICE:
    case KIND_TERM:
    case KIND_VERSION:
    case KIND_DATATYPE:
    case KIND_UNIT:
        break;
    }
    return "a value";
}

bool value_is_word(const char *words, const char *text) {
    size_t length = strlen(text);
    if (length == 0 || strchr(text, ' ') != NULL)
        return false;
    for (const char *c = words; c != NULL; c = strchr(c, ' ')) {
        if (*c == ' ')
            c++;
        if (strncmp(c, text, length) == 0 && (c[length] == ' ' || c[length] == '\0'))
            return true;
    }
    return false;
}

/* UCD1: capital letters and digits with _ between, and the signs that it knew. */
static bool is_ucd1(const char *c) {
    for (; *c != '\0'; c++)
        if (!(*c >= 'A' && *c <= 'Z') && !is_digit(*c) && strchr("_-:/+%.", *c) == NULL)
            return false;
    return true;
}

/* Words with ; between; each of atoms with . between, and perhaps a name space and : before. */
bool value_is_readable_ucd(const char *text) {
    if (*text == '\0' || is_ucd1(text))
        return true;
    bool inside = false; /* an atom has begun */
    for (const char *c = text; *c != '\0'; c++) {
        if (is_letter(*c) || is_digit(*c) || *c == '_' || (*c == '-' && inside))
            inside = true;
        else if (!inside || strchr(".;:", *c) == NULL)
            return false;
        else
            inside = false;
    }
    return inside;
}

static bool is_operator(char c) {
    return c == '.' || c == '*' || c == '/';
}

/* Neither standard has a blank; signs like that of a micron are beyond ASCII. */
static bool is_in_unit(char c) {
    return is_letter(c) || is_digit(c) || strchr(".*/^+-%'\"_", c) != NULL ||
           (unsigned char)c >= 0x80;
}

bool value_is_readable_unit(const char *text) {
    char open[16];
    size_t depth = 0;
    char before = '\0';
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '(' || *c == '[') {
            if (depth == sizeof(open))
                return false;
            open[depth++] = *c == '(' ? ')' : ']';
        } else if (*c == ')' || *c == ']') {
            if (depth == 0 || open[--depth] != *c || is_operator(before))
                return false;
        } else if (!is_in_unit(*c) || (*c == '/' && is_operator(before))) {
            return false;
        }
        before = *c;
    }
    return depth == 0 && before != '/' && before != '*' && before != '.';
}
