/* SPDX-License-Identifier: BSD-3-Clause */
/* real.c: dlsym(RTLD_NEXT), and an arena for what it allocates meanwhile. */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define BOOTSTRAP_BYTES ((size_t)64 << 10)

struct real_functions real;
bool real_is_libc;
size_t (*real_usable_size)(void *block);

static struct {
    _Alignas(4096) unsigned char memory[BOOTSTRAP_BYTES];
    _Atomic size_t used_bytes;
} bootstrap;

static bool is_same_library(const void *one, const void *other) {
    Dl_info its, others;
    return one != NULL && other != NULL && dladdr(one, &its) != 0 &&
           dladdr(other, &others) != 0 && its.dli_fbase == others.dli_fbase;
}

/* Not by name: tcmalloc and mimalloc define __libc_malloc, too. */
static bool is_libc_code(const void *function) {
    return is_same_library(function, dlsym(RTLD_NEXT, "gnu_get_libc_version"));
}

/* Of ThreadSanitizer's library, where there is one. */
extern void thread_sanitizer(void) __asm__("__tsan_init") __attribute__((weak));

bool real_is_thread_sanitizer(void) {
    void *malloc_code, *its_code;
    void (*volatile its_begin)(void) = thread_sanitizer;
    memcpy(&malloc_code, &real.malloc, sizeof(malloc_code));
    memcpy(&its_code, (void *)&its_begin, sizeof(its_code));
    return is_same_library(its_code, malloc_code);
}

bool real_resolve(void) {
    static _Atomic bool begun, done;
    if (atomic_exchange(&begun, true))
        return done;
    struct real_functions found;
#define HOOK(type, name, parameters)                                                           \
    {                                                                                          \
        void *symbol = dlsym(RTLD_NEXT, #name);                                                \
        memcpy(&found.name, &symbol, sizeof(symbol));                                          \
    }
    REAL_HOOKS(HOOK)
#undef HOOK
    real = found;
    void *code;
    memcpy(&code, &real.malloc, sizeof(code));
    real_is_libc = is_libc_code(code);
    void *usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
    if (is_same_library(code, usable_size))
        memcpy(&real_usable_size, &usable_size, sizeof(usable_size));
    done = true;
    return true;
}

bool real_find_break(void) {
    void *symbol = dlsym(RTLD_NEXT, "brk");
    memcpy(&real.brk, &symbol, sizeof(symbol));
    symbol = dlsym(RTLD_NEXT, "sbrk");
    memcpy(&real.sbrk, &symbol, sizeof(symbol));
    return real.brk != NULL && real.sbrk != NULL;
}

void *real_bootstrap_allocate(size_t bytes, size_t alignment) {
    if (alignment < 16)
        alignment = 16;
    size_t used = atomic_load(&bootstrap.used_bytes);
    size_t start;
    do {
        start = (used + alignment - 1) & ~(alignment - 1);
        if (bytes > BOOTSTRAP_BYTES || start > BOOTSTRAP_BYTES - bytes) {
            errno = ENOMEM;
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&bootstrap.used_bytes, &used, start + bytes));
    return bootstrap.memory + start;
}

bool real_bootstrap_owns(const void *block) {
    return (uintptr_t)block - (uintptr_t)bootstrap.memory < BOOTSTRAP_BYTES;
}

size_t real_bootstrap_bytes(const void *block) {
    return (size_t)(bootstrap.memory + atomic_load(&bootstrap.used_bytes) -
                    (const unsigned char *)block);
}
