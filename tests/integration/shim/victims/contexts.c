/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hand-switched stacks: 40 contexts hold a block each, of 1 to 40 times 10 bytes, while each
 * other runs, in 50 rounds: 2000 blocks, 8200 bytes at the peak.
 */
#include "victim.h"

#include <ucontext.h>

#define CONTEXTS 40
#define ROUNDS   50

static ucontext_t home, contexts[CONTEXTS];
static char stacks[CONTEXTS][64 << 10];

static void run(int context) {
    for (unsigned round = 0; round < ROUNDS; round++) {
        void *block = opaque(descend_to(round, 3, 10 * ((size_t)context + 1)));
        swapcontext(&contexts[context], &home);
        free(block);
    }
}

int main(void) {
    for (int i = 0; i < CONTEXTS; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i];
        contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
        contexts[i].uc_link = &home;
        makecontext(&contexts[i], (void (*)(void))run, 1, i);
    }
    votrace_region_begin("v");
    for (int round = 0; round <= ROUNDS; round++)
        for (int i = 0; i < CONTEXTS; i++)
            swapcontext(&home, &contexts[i]);
    votrace_region_end("v");
    puts("done");
    return 0;
}
