/* SPDX-License-Identifier: BSD-3-Clause */
/* What the public header gives a program that links nothing: its own numbers, or -ENOSYS. */
#include "victim.h"

static int check(const char *name, int64_t added, int64_t net, uint64_t allocations) {
    struct votrace_region_totals totals = {.open = 99};
    int r = votrace_region_query(name, &totals, sizeof(totals));
    if (r == -ENOSYS)
        return totals.open == 99 ? 0 : 1;
    return r != 0 || totals.peak_added_bytes != added || totals.net_bytes != net ||
           totals.allocations != allocations;
}

int main(void) {
    void *before = opaque(malloc(1000));
    votrace_region_begin("v");
    void *a = opaque(malloc(100));
    votrace_region_begin("inner");
    free(before);
    void *b = opaque(malloc(300));
    int wrong = check("inner", 0, -700, 1);
    votrace_region_begin("inner");
    void *c = opaque(malloc(5000));
    free(c);
    wrong += check("inner", 5000, 0, 1);
    votrace_region_end("inner");
    votrace_region_end("inner");
    votrace_region_end("v");
    wrong += check("v", 4400, -600, 3);
    struct {
        uint64_t instance, open;
        char guard[8];
    } old = {.guard = "guarded"};
    if (votrace_region_query("v", (struct votrace_region_totals *)(void *)&old, 16) == 0)
        wrong += old.instance != 1 || old.open != 0;
    wrong += strcmp(old.guard, "guarded") != 0;
    free(a);
    free(b);
    printf("%d\n", wrong);
    return wrong;
}
