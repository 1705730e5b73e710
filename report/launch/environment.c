/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.c: an environment holds secrets. Only variables that are named here are stored:
 * those that allocators, loaders, interpreters and thread pools read.
 */
#include "environment.h"

#include "json.h"
#include "textstream.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "GLIBC_TUNABLES",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "G_SLICE",
    "LANG",
    "LD_BIND_NOW",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MKL_NUM_THREADS",
    "NPY_DISABLE_CPU_FEATURES",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "PYTHONOPTIMIZE",
    "PYTHONUTF8",
    "TZ",
};
static const char *const prefixes[] = {"LC_", "MALLOC_", "MIMALLOC_", "TCMALLOC_", "VOTRACE_"};

/* Where the trace goes and which library is preloaded are another in every run. */
static const char *const left_out[] = {"VOTRACE_LIBRARY", "VOTRACE_OUTPUT"};

static bool is_among(const char *name, size_t length, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && strncmp(name, words[i], length) == 0)
            return true;
    return false;
}

static bool matters(const char *name, size_t length) {
    if (is_among(name, length, left_out, sizeof(left_out) / sizeof(left_out[0])))
        return false;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return is_among(name, length, names, sizeof(names) / sizeof(names[0]));
}

/* The loader splits it at blanks and colons. In place: nothing grows. */
static void remove_shim(char *preload) {
    char *to = preload;
    for (const char *at = preload; *at != '\0';) {
        size_t length = strcspn(at, " :");
        const char *end = at + length;
        const char *slash = memrchr(at, '/', length);
        const char *name = slash ? slash + 1 : at;
        bool shim = (size_t)(end - name) == strlen("libvotrace.so") &&
                    strncmp(name, "libvotrace.so", strlen("libvotrace.so")) == 0;
        if (!shim && length > 0) {
            if (to > preload)
                *to++ = ':';
            memmove(to, at, length);
            to += length;
        }
        at = *end == '\0' ? end : end + 1;
    }
    *to = '\0';
}

struct variable {
    char *name; /* ended by NUL where "=" was */
    char *value;
};

static int variable_compare(const void *a, const void *b) {
    return strcmp(((const struct variable *)a)->name, ((const struct variable *)b)->name);
}

static bool variable_take(const char *entry, struct variable *ret) {
    const char *equals = strchr(entry, '=');
    if (!equals || !matters(entry, (size_t)(equals - entry)))
        return true;
    ret->name = strdup(entry);
    if (!ret->name)
        return false;
    ret->value = ret->name + (equals - entry) + 1;
    ret->value[-1] = '\0';
    if (strcmp(ret->name, "LD_PRELOAD") == 0)
        remove_shim(ret->value);
    return true;
}

static char *variables_write(struct variable *variables, size_t count, bool fixed) {
    struct textstream text;
    FILE *stream = textstream_begin(&text);
    if (!stream)
        return NULL;
    struct json json = {.stream = stream, .compact = true};
    json_begin(&json, NULL, '{');
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && strcmp(variables[i].name, variables[i - 1].name) == 0;
        bool empty = strcmp(variables[i].name, "LD_PRELOAD") == 0 && !*variables[i].value;
        if (!again && !empty)
            json_text(&json, variables[i].name, variables[i].value);
    }
    if (fixed)
        json_text(&json, "addresses", "fixed");
    json_end(&json, '}');
    return textstream_take(&text);
}

char *environment_describe(char *const *entries, bool fixed) {
    size_t count = 0;
    size_t kept = 0;
    bool whole = true;
    while (entries[count])
        count++;
    struct variable *variables = calloc(count + 1, sizeof(*variables));
    for (size_t i = 0; variables && whole && i < count; i++) {
        whole = variable_take(entries[i], &variables[kept]);
        kept += variables[kept].name != NULL;
    }
    char *text = NULL;
    if (variables && whole) {
        qsort(variables, kept, sizeof(*variables), variable_compare);
        text = variables_write(variables, kept, fixed);
    }
    for (size_t i = 0; i < kept; i++)
        free(variables[i].name);
    free(variables);
    return text;
}
