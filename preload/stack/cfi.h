/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cfi.h: how to leave one frame, read from a module's .eh_frame (DWARF 5, section 6.4; LSB
 * core, "Exception Frames"). x86-64 only: elsewhere every frame is unusual.
 *
 * No locks, no allocation, no state: glibc's _dl_find_object() leads to the module's table, and
 * may be called from signal handlers. Where libc has none (before 2.35) every frame is unusual.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum cfi_kind {
    CFI_UNUSUAL,   /* no table, expressions, other registers, a signal frame: ask libunwind */
    CFI_FROM_RSP,  /* CFA = rsp + cfa_offset; return address at CFA - 8 */
    CFI_FROM_RBP,  /* CFA = rbp + cfa_offset; likewise */
    CFI_OUTERMOST, /* nobody called this */
};

struct cfi_rule {
    enum cfi_kind kind;
    int32_t cfa_offset;
    int16_t rbp_offset; /* the caller's rbp is at CFA + rbp_offset; 0: it still is in rbp */
};

/* The rule for the frame that will be returned into at @return_address. */
struct cfi_rule cfi_find_rule(uintptr_t return_address);
