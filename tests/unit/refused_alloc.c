/* SPDX-License-Identifier: BSD-3-Clause */
/* refused_alloc.c: the wrappers that the linker's --wrap leads to. */
#include "refused_alloc.h"

struct refused_alloc refused_alloc;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_reallocarray(void *block, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);

static bool refuse(void) {
    if (refused_alloc.left == 0)
        return false;
    if (refused_alloc.left > 1) {
        refused_alloc.left--;
        return false;
    }
    if (!refused_alloc.for_good)
        refused_alloc.left = 0;
    refused_alloc.happened = true;
    return true;
}

void *__wrap_malloc(size_t size) {
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
    return refuse() ? NULL : __real_realloc(block, size);
}

void *__wrap_reallocarray(void *block, size_t count, size_t size) {
    return refuse() ? NULL : __real_reallocarray(block, count, size);
}

char *__wrap_strdup(const char *text) {
    return refuse() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t length) {
    return refuse() ? NULL : __real_strndup(text, length);
}
