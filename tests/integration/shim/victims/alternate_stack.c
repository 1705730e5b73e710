/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocate on an alternate signal stack of the least size the system names. */
#include "victim.h"

static void *block;

static void handle(int signal_number) {
    block = malloc(77);
}

int main(int argc, char **argv) {
    size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ);
    if (bytes < 2048)
        bytes = 2048;
    /* What the handler and malloc take: without any the program dies on its own. */
    bytes += argc > 1 ? strtoul(argv[1], NULL, 10) : 2048;
    size_t mapped = (bytes + 4095) & ~(size_t)4095;
    char *guarded = mmap(NULL, mapped + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(guarded + 4096, mapped, PROT_READ | PROT_WRITE);
    stack_t stack = {.ss_sp = guarded + 4096 + (mapped - bytes), .ss_size = bytes};
    memset(guarded + 4096, 0x5a, mapped - bytes);
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    free(malloc(77));
    votrace_region_begin("v");
    raise(SIGUSR1);
    free(block);
    votrace_region_end("v");
    size_t below = 0;
    for (size_t i = 0; i < mapped - bytes; i++)
        below += guarded[4096 + i] != 0x5a;
    printf("%d %zu\n", block != NULL, below);
    return 0;
}
