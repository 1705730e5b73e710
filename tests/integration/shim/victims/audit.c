/* SPDX-License-Identifier: BSD-3-Clause */
/* audit.c: a library for LD_AUDIT that looks at every binding, and allocates in its own libc. */
#include <link.h>
#include <stdlib.h>

/* libc's own parameter names are reserved. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

unsigned la_version(unsigned version) {
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie) {
    *cookie = (uintptr_t)malloc(10);
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                       unsigned *flags, const char *name) {
    free(malloc(20));
    return symbol->st_value;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
