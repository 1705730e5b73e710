/* SPDX-License-Identifier: BSD-3-Clause */
/* strdup (6 bytes), asprintf, getline and open_memstream reach malloc inside libc: all is freed. */
#include "victim.h"

int main(void) {
    char *line = NULL;
    char *printed = NULL;
    char *streamed = NULL;
    size_t size = 0;
    static char input[] = "one line\nanother\n";
    setvbuf(stdout, NULL, _IONBF, 0);
    votrace_region_begin("v");
    char *copy = opaque(strdup("12345"));
    int length = asprintf(&printed, "%d %s", 42, copy);
    FILE *stream = fmemopen(input, sizeof(input) - 1, "r");
    long got = getline(&line, &size, stream);
    fclose(stream);
    stream = open_memstream(&streamed, &size);
    fprintf(stream, "%s", printed);
    fclose(stream);
    printf("%d %ld %s %s", length, got, streamed, line);
    free(copy);
    free(printed);
    free(line);
    free(streamed);
    votrace_region_end("v");
    return 0;
}
