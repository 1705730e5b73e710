/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stuck_loader [WAY]: a thread never comes back from dl_iterate_phdr(), whose lock it holds,
 * while the program ends: by _exit(), quick_exit() or exec. The loader must not be asked for
 * anything then.
 */
#include <link.h>

#include "victim.h"

static volatile bool inside;

static int stay(struct dl_phdr_info *info, size_t bytes, void *data) {
    inside = true;
    for (;;)
        pause();
    return 0;
}

static void *ask_loader(void *data) {
    dl_iterate_phdr(stay, NULL);
    return data;
}

int main(int argc, char **argv) {
    pthread_t thread;
    votrace_region_begin("v");
    free(opaque(malloc(77)));
    if (pthread_create(&thread, NULL, ask_loader, NULL) != 0)
        return 1;
    while (!inside)
        usleep(1000);
    puts("ends");
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "quick_exit") == 0)
        quick_exit(3);
    if (argc > 1 && strcmp(argv[1], "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    _exit(4);
}
