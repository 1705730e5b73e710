/* SPDX-License-Identifier: BSD-3-Clause */
/* units.c: a sorted array of the ranges of all units of a module, made when it is first asked. */
#include "units.h"

#include <errno.h>
#include <stdlib.h>

struct units_range {
    Dwarf_Addr begin; /* as the DWARF counts: [begin, end) */
    Dwarf_Addr end;
    Dwarf_Die unit;
};

static int add_range(struct units *units, const struct units_range *range) {
    if (units->count == units->room) {
        size_t room = units->room > 0 ? units->room * 2 : 64;
        struct units_range *more = reallocarray(units->ranges, room, sizeof(*more));
        if (!more)
            return -ENOMEM;
        units->ranges = more;
        units->room = room;
    }
    units->ranges[units->count++] = *range;
    return 0;
}

static int add_unit(struct units *units, Dwarf_Die *unit) {
    Dwarf_Addr base;
    Dwarf_Addr begin;
    Dwarf_Addr end;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(unit, offset, &base, &begin, &end)) > 0) {
        struct units_range range = {.begin = begin, .end = end, .unit = *unit};
        int r = begin < end ? add_range(units, &range) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static int compare_ranges(const void *a, const void *b) {
    Dwarf_Addr left = ((const struct units_range *)a)->begin;
    Dwarf_Addr right = ((const struct units_range *)b)->begin;
    return (left > right) - (left < right);
}

static int read_units(struct units *units, Dwfl_Module *module) {
    Dwarf_Die *unit = NULL;
    while ((unit = dwfl_module_nextcu(module, unit, &units->bias))) {
        int r = add_unit(units, unit);
        if (r < 0)
            return r;
    }
    if (units->count > 0)
        qsort(units->ranges, units->count, sizeof(*units->ranges), compare_ranges);
    units->read = true;
    return 0;
}

int units_find(struct units *units, Dwfl_Module *module, Dwarf_Addr address,
               Dwarf_Die *ret_unit, Dwarf_Addr *ret_address) {
    int r = units->read ? 0 : read_units(units, module);
    if (r < 0)
        return r;
    Dwarf_Addr wanted = address - units->bias;
    size_t low = 0;
    size_t high = units->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (units->ranges[middle].begin <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || wanted >= units->ranges[low - 1].end)
        return 0;
    *ret_unit = units->ranges[low - 1].unit;
    *ret_address = wanted;
    return 1;
}

void units_finish(struct units *units) {
    free(units->ranges);
    *units = (struct units){0};
}
