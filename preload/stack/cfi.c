/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cfi.c: find the function's description in the sorted table of .eh_frame_hdr, run its call
 * frame instructions up to the address, and see whether what comes out is one of the usual
 * three.
 *
 * The tables are the linker's, mapped read-only, as trustworthy as the code beside them. All
 * that is not in the common form (four-byte relative pointers, the registers rsp and rbp) is
 * given up as unusual, never guessed.
 */
#include "cfi.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__) && defined(DLFO_STRUCT_HAS_EH_DBASE)

#define ENCODING_UDATA4         0x03
#define ENCODING_PCREL_SDATA4   0x1b
#define ENCODING_DATAREL_SDATA4 0x3b
#define ENCODING_OMIT           0xff

#define REGISTER_RBP    6
#define REGISTER_RSP    7
#define REGISTER_RETURN 16

#define STATES_MAX 8

#pragma weak _dl_find_object /* libc may be older at run time */

enum where {
    WHERE_SAME,      /* not saved */
    WHERE_OFFSET,    /* at CFA + offset */
    WHERE_UNDEFINED, /* lost; for the return address: there is no caller */
    WHERE_OTHER,
};

struct saved {
    enum where where;
    int64_t offset;
};

struct frame_state {
    uint64_t cfa_register;
    int64_t cfa_offset;
    bool cfa_by_expression;
    struct saved rbp;
    struct saved rsp;
    struct saved return_address;
};

/* Instructions still to be run. A fault ends the run: `failed`. */
struct cursor {
    const unsigned char *at;
    const unsigned char *end;
    bool failed;
};

struct description {
    uintptr_t begin; /* addresses described: [begin, end) */
    uintptr_t end;
    uint64_t code_align;
    int64_t data_align;
    struct cursor initial; /* instructions of the CIE, and of the FDE */
    struct cursor own;
};

static uint64_t read_fixed(struct cursor *cursor, size_t bytes) {
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < bytes) {
        cursor->failed = true;
        return 0;
    }
    memcpy(&value, cursor->at, bytes);
    cursor->at += bytes;
    return value;
}

static uint64_t read_uleb(struct cursor *cursor) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = read_fixed(cursor, 1);
        value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    cursor->failed = true;
    return 0;
}

static int64_t read_sleb(struct cursor *cursor) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        uint64_t byte = read_fixed(cursor, 1);
        value |= (byte & 0x7f) << shift;
        shift += 7;
        if ((byte & 0x80) != 0)
            continue;
        if (shift < 64 && (byte & 0x40) != 0)
            value |= ~UINT64_C(0) << shift;
        return (int64_t)value;
    }
    cursor->failed = true;
    return 0;
}

static uintptr_t read_pcrel(struct cursor *cursor) {
    uintptr_t here = (uintptr_t)cursor->at;
    return here + (uintptr_t)(int64_t)(int32_t)read_fixed(cursor, 4);
}

static void skip(struct cursor *cursor, uint64_t bytes) {
    if ((uint64_t)(cursor->end - cursor->at) < bytes)
        cursor->failed = true;
    else
        cursor->at += bytes;
}

/* The bytes of the entry (CIE or FDE) at @entry, after its length. */
static struct cursor entry_open(const unsigned char *entry) {
    uint32_t length;
    memcpy(&length, entry, sizeof(length));
    const unsigned char *at = entry + sizeof(length);
    /* 0 is the terminator, 0xffffffff the 64-bit form. */
    return (struct cursor){.at = at, .end = at + length, .failed = length - 1 >= 0xfffffff0u};
}

/* The FDE whose function may hold @address: the last that does not begin after it. */
static const unsigned char *find_fde(uintptr_t address) {
    struct dl_find_object object;
    if (_dl_find_object == NULL || _dl_find_object((void *)address, &object) != 0)
        return NULL;
    const unsigned char *header = object.dlfo_eh_frame;
    if (header == NULL || header[0] != 1 || header[1] != ENCODING_PCREL_SDATA4 ||
        header[2] != ENCODING_UDATA4 || header[3] != ENCODING_DATAREL_SDATA4)
        return NULL;
    uint32_t count;
    memcpy(&count, header + 8, sizeof(count));

    /* Pairs of (begin of the function, its FDE), both relative to the header. */
    const unsigned char *table = header + 12;
    int64_t wanted = (int64_t)(address - (uintptr_t)header);
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int32_t begin;
        memcpy(&begin, table + (size_t)middle * 8, sizeof(begin));
        if (begin <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    int32_t offset;
    memcpy(&offset, table + (size_t)(low - 1) * 8 + 4, sizeof(offset));
    return header + offset;
}

/* Read the augmentation data that "zPLR" and the like announce. False for a signal frame. */
static bool read_augmentation(struct cursor *cursor, const char *letters) {
    uint64_t bytes = read_uleb(cursor);
    const unsigned char *instructions = cursor->at + bytes;
    bool pointers_usual = false;
    for (const char *letter = letters + 1; *letter != '\0' && !cursor->failed; letter++) {
        if (*letter == 'R') {
            pointers_usual = read_fixed(cursor, 1) == ENCODING_PCREL_SDATA4;
        } else if (*letter == 'L') {
            skip(cursor, 1);
        } else if (*letter == 'P') {
            uint64_t encoding = read_fixed(cursor, 1);
            skip(cursor, (encoding & 0x0f) == 0x0b || (encoding & 0x0f) == 0x03 ? 4 : 8);
        } else {
            return false;
        }
    }
    if (cursor->failed || !pointers_usual || instructions > cursor->end)
        return false;
    cursor->at = instructions;
    return true;
}

static bool read_cie(const unsigned char *entry, struct description *ret) {
    struct cursor cursor = entry_open(entry);
    if (read_fixed(&cursor, 4) != 0)
        return false;
    uint64_t version = read_fixed(&cursor, 1);
    const char *letters = (const char *)cursor.at;
    skip(&cursor, strnlen(letters, (size_t)(cursor.end - cursor.at)) + 1);
    ret->code_align = read_uleb(&cursor);
    ret->data_align = read_sleb(&cursor);
    uint64_t return_register = version == 1 ? read_fixed(&cursor, 1) : read_uleb(&cursor);
    if (cursor.failed || (version != 1 && version != 3) || letters[0] != 'z' ||
        return_register != REGISTER_RETURN || !read_augmentation(&cursor, letters))
        return false;
    ret->initial = cursor;
    return true;
}

static bool find_description(uintptr_t address, struct description *ret) {
    const unsigned char *fde = find_fde(address);
    if (fde == NULL)
        return false;
    struct cursor cursor = entry_open(fde);
    const unsigned char *here = cursor.at;
    uint32_t back = (uint32_t)read_fixed(&cursor, 4);
    if (cursor.failed || back == 0 || !read_cie(here - back, ret))
        return false;
    ret->begin = read_pcrel(&cursor);
    ret->end = ret->begin + read_fixed(&cursor, 4);
    skip(&cursor, read_uleb(&cursor));
    ret->own = cursor;
    return !cursor.failed && address >= ret->begin && address < ret->end;
}

static struct saved *saved_of(struct frame_state *state, uint64_t number) {
    switch (number) {
    case REGISTER_RBP:
        return &state->rbp;
    case REGISTER_RSP:
        return &state->rsp;
    case REGISTER_RETURN:
        return &state->return_address;
    default:
        return NULL;
    }
}

static void set_saved(struct frame_state *state, uint64_t number, enum where where,
                      int64_t offset) {
    struct saved *saved = saved_of(state, number);
    if (saved != NULL)
        *saved = (struct saved){.where = where, .offset = offset};
}

static void restore(struct frame_state *state, const struct frame_state *initial,
                    uint64_t number) {
    struct frame_state copy = *initial;
    struct saved *saved = saved_of(state, number);
    if (saved != NULL)
        *saved = *saved_of(&copy, number);
}

struct run {
    const struct description *description;
    const struct frame_state *initial; /* NULL while the CIE's own instructions run */
    struct frame_state state;
    struct frame_state remembered[STATES_MAX];
    unsigned remembered_count;
    uintptr_t location;
};

/* The instructions that have their operand in their low six bits. */
static void run_short(struct run *run, struct cursor *cursor, unsigned code) {
    unsigned operand = code & 0x3f;
    switch (code >> 6) {
    case 1:
        run->location += operand * run->description->code_align;
        break;
    case 2:
        set_saved(&run->state, operand, WHERE_OFFSET,
                  (int64_t)read_uleb(cursor) * run->description->data_align);
        break;
    default:
        if (run->initial == NULL)
            cursor->failed = true;
        else
            restore(&run->state, run->initial, operand);
    }
}

static void run_remember(struct run *run, struct cursor *cursor) {
    if (run->remembered_count == STATES_MAX)
        cursor->failed = true;
    else
        run->remembered[run->remembered_count++] = run->state;
}

static void run_recall(struct run *run, struct cursor *cursor) {
    if (run->remembered_count == 0)
        cursor->failed = true;
    else
        run->state = run->remembered[--run->remembered_count];
}

static void set_cfa(struct run *run, uint64_t number, int64_t offset) {
    run->state.cfa_register = number;
    run->state.cfa_offset = offset;
    run->state.cfa_by_expression = false;
}

static void run_long(struct run *run, struct cursor *cursor, unsigned code) {
    const struct description *description = run->description;
    struct frame_state *state = &run->state;
    uint64_t number;

    switch (code) {
    case 0x00: /* nop */
        break;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        run->location +=
            read_fixed(cursor, (size_t)1 << (code - 0x02)) * description->code_align;
        break;
    case 0x05: /* offset_extended */
        number = read_uleb(cursor);
        set_saved(state, number, WHERE_OFFSET,
                  (int64_t)read_uleb(cursor) * description->data_align);
        break;
    case 0x06: /* restore_extended */
        number = read_uleb(cursor);
        if (run->initial == NULL)
            cursor->failed = true;
        else
            restore(state, run->initial, number);
        break;
    case 0x07: /* undefined */
        set_saved(state, read_uleb(cursor), WHERE_UNDEFINED, 0);
        break;
    case 0x08: /* same_value */
        set_saved(state, read_uleb(cursor), WHERE_SAME, 0);
        break;
    case 0x09: /* register */
        set_saved(state, read_uleb(cursor), WHERE_OTHER, 0);
        read_uleb(cursor);
        break;
    case 0x0a: /* remember_state */
        run_remember(run, cursor);
        break;
    case 0x0b: /* restore_state */
        run_recall(run, cursor);
        break;
    case 0x0c: /* def_cfa */
        number = read_uleb(cursor);
        set_cfa(run, number, (int64_t)read_uleb(cursor));
        break;
    case 0x0d: /* def_cfa_register */
        state->cfa_register = read_uleb(cursor);
        break;
    case 0x0e: /* def_cfa_offset */
        state->cfa_offset = (int64_t)read_uleb(cursor);
        break;
    case 0x0f: /* def_cfa_expression */
        state->cfa_by_expression = true;
        skip(cursor, read_uleb(cursor));
        break;
    case 0x10: /* expression, val_expression */
    case 0x16:
        set_saved(state, read_uleb(cursor), WHERE_OTHER, 0);
        skip(cursor, read_uleb(cursor));
        break;
    case 0x11: /* offset_extended_sf */
        number = read_uleb(cursor);
        set_saved(state, number, WHERE_OFFSET, read_sleb(cursor) * description->data_align);
        break;
    case 0x12: /* def_cfa_sf */
        number = read_uleb(cursor);
        set_cfa(run, number, read_sleb(cursor) * description->data_align);
        break;
    case 0x13: /* def_cfa_offset_sf */
        state->cfa_offset = read_sleb(cursor) * description->data_align;
        break;
    case 0x14: /* val_offset, val_offset_sf: same operand sizes */
    case 0x15:
        set_saved(state, read_uleb(cursor), WHERE_OTHER, 0);
        read_uleb(cursor);
        break;
    case 0x2e: /* GNU_args_size */
        read_uleb(cursor);
        break;
    default:
        cursor->failed = true;
    }
}

/* Run @cursor's instructions for all locations up to @address. */
static bool run_until(struct run *run, struct cursor cursor, uintptr_t address) {
    while (cursor.at < cursor.end && !cursor.failed) {
        struct frame_state before = run->state;
        unsigned code = (unsigned)read_fixed(&cursor, 1);
        if (code >> 6 != 0)
            run_short(run, &cursor, code);
        else
            run_long(run, &cursor, code);
        if (run->location > address) {
            run->state = before;
            break;
        }
    }
    return !cursor.failed;
}

static struct cfi_rule classify(const struct frame_state *state) {
    struct cfi_rule rule = {.kind = CFI_UNUSUAL};
    if (state->return_address.where == WHERE_UNDEFINED) {
        rule.kind = CFI_OUTERMOST;
        return rule;
    }
    bool rbp_usual = state->rbp.where != WHERE_OTHER && state->rbp.offset < 0 &&
                     state->rbp.offset >= INT16_MIN;
    if (state->rbp.where == WHERE_SAME || state->rbp.where == WHERE_UNDEFINED)
        rbp_usual = true;
    bool usual = state->return_address.where == WHERE_OFFSET &&
                 state->return_address.offset == -8 && state->rsp.where == WHERE_SAME &&
                 !state->cfa_by_expression && state->cfa_offset > 0 &&
                 state->cfa_offset <= INT32_MAX && rbp_usual;
    if (!usual || (state->cfa_register != REGISTER_RSP && state->cfa_register != REGISTER_RBP))
        return rule;
    rule.kind = state->cfa_register == REGISTER_RSP ? CFI_FROM_RSP : CFI_FROM_RBP;
    rule.cfa_offset = (int32_t)state->cfa_offset;
    rule.rbp_offset = state->rbp.where == WHERE_OFFSET ? (int16_t)state->rbp.offset : 0;
    return rule;
}

struct cfi_rule cfi_find_rule(uintptr_t return_address) {
    /* The call is before the address it returns to, which may belong to the next function. */
    uintptr_t address = return_address - 1;
    struct description description;
    struct run run = {.description = &description};
    struct frame_state initial;

    if (!find_description(address, &description))
        return (struct cfi_rule){.kind = CFI_UNUSUAL};
    run.location = description.begin;
    if (!run_until(&run, description.initial, UINTPTR_MAX))
        return (struct cfi_rule){.kind = CFI_UNUSUAL};
    initial = run.state;
    run.initial = &initial;
    if (!run_until(&run, description.own, address))
        return (struct cfi_rule){.kind = CFI_UNUSUAL};
    return classify(&run.state);
}

#else

struct cfi_rule cfi_find_rule(uintptr_t return_address) {
    return (struct cfi_rule){.kind = CFI_UNUSUAL};
}

#endif
