/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * demangle.c: the C++ library demangles (Itanium C++ ABI, abi::__cxa_demangle); what is left to
 * do is to take the function's own name out of "Result<int> app::load<int>(app::Name const&)".
 */
#include "demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *ret_status);

static const char anonymous[] = "(anonymous namespace)";

static bool begins_with(const char *text, const char *begin) {
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* What follows "operator" at @c, up to what may be its parameters: "()", "<<", "new[]", a type. */
static const char *skip_operator(const char *c) {
    static const char *const signs[] = {"()", "<=>", "<<=", ">>=", "->*", "<<",
                                        ">>", "<=",  ">=",  "->",  "<",   ">"};
    c += strlen("operator");
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (begins_with(c, signs[i]))
            return c + strlen(signs[i]);
    for (; *c != '\0' && *c != '('; c++)
        if (*c == '<') /* of a type that is converted to, or of the operator's own template */
            return c;
    return c;
}

static bool is_operator(const char *name, const char *c) {
    bool begins = c == name || c[-1] == ' ' || c[-1] == ':';
    char after = begins_with(c, "operator") ? c[strlen("operator")] : 'x';
    return begins && after != '_' && !(after >= '0' && after <= '9') &&
           !((after | 0x20) >= 'a' && (after | 0x20) <= 'z');
}

/* Behind the bracket that closes the one at @c. */
static const char *skip_parameters(const char *c) {
    int depth = 0;
    do
        depth += (*c == '(') - (*c == ')');
    while (*c++ != '\0' && depth > 0);
    return depth > 0 ? c - 1 : c;
}

/* Where the function's own name begins and ends in @name. */
static void find_own_name(const char *name, const char **ret_begin, const char **ret_end) {
    const char *begin = name;
    int depth = 0; /* of brackets */
    const char *c = name;
    while (*c != '\0') {
        if (depth == 0 && is_operator(name, c)) {
            c = skip_operator(c);
            continue;
        }
        if (begins_with(c, anonymous)) {
            c += strlen(anonymous);
            continue;
        }
        if (depth == 0 && *c == '(' && c > begin) {
            const char *behind = skip_parameters(c);
            if (!begins_with(behind, "::"))
                break;
            c = behind; /* what follows is within that function */
            continue;
        }
        depth += (*c == '<' || *c == '(' || *c == '[' || *c == '{') -
                 (*c == '>' || *c == ')' || *c == ']' || *c == '}');
        if (depth == 0 && *c == ' ')
            begin = c + 1;
        c++;
    }
    *ret_begin = begin;
    *ret_end = c;
}

char *demangle(const char *symbol) {
    int status;
    if (!begins_with(symbol, "_Z"))
        return NULL;
    char *name = __cxa_demangle(symbol, NULL, NULL, &status);
    if (name == NULL)
        return NULL;
    const char *begin;
    const char *end;
    find_own_name(name, &begin, &end);
    size_t length = (size_t)(end - begin);
    /* "vtable for app::Reader", "guard variable for ...": no function, and whole as it is. */
    if (length > 0 && strstr(name, " for ") == NULL) {
        memmove(name, begin, length);
        name[length] = '\0';
    }
    return name;
}
