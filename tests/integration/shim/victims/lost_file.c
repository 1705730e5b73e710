/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost_file unlink|replace: the trace is removed while it is written, or another file takes its
 * place; then 20,000 stacks more.
 */
#include "victim.h"

/* The trace's path, by the mappings; nothing without the library. */
static void find_trace(char ret_path[PATH_MAX]) {
    char line[PATH_MAX + 128];
    FILE *file = fopen("/proc/self/maps", "re");
    ret_path[0] = '\0';
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        char *path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (path != NULL && strstr(path, ".vtr") != NULL)
            strcpy(ret_path, path);
    }
    if (file != NULL)
        fclose(file);
}

static void replace(const char *path) {
    char moved[PATH_MAX + 8];
    snprintf(moved, sizeof(moved), "%s.moved", path);
    if (rename(path, moved) != 0)
        _exit(97);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        _exit(98);
    fputs("not a trace\n", file);
    fclose(file);
}

int main(int argc, char **argv) {
    char path[PATH_MAX];
    find_trace(path);
    if (path[0] != '\0' && argc > 1 && strcmp(argv[1], "replace") == 0)
        replace(path);
    else if (path[0] != '\0')
        unlink(path);
    votrace_region_begin("v");
    for (unsigned i = 0; i < 20000; i++)
        descend(i, 15, 20);
    votrace_region_end("v");
    puts("done");
    return 0;
}
