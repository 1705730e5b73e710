/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * origin.c: which allocator and C library a program used, on what machine.
 *
 * The loader takes malloc from the first file that has it, in the order in which files were
 * loaded; libvotrace.so passes on to the next, so it is left out.
 */
#include "origin.h"

#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const struct origin origin_unknown = {
    .commit = "",
    .branch = "",
    .libc = "",
    .allocator = "",
    .environment = "",
    .cpu_model = "",
};

/* The file of a module, if it is still the same. -1 when it is not. */
static int module_open(const struct profile_module *module) {
    char build_id[PROFILE_BUILD_ID_BYTES];
    if (module->path[0] != '/' || module->build_id[0] == '\0')
        return -1;
    int fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    elf_file_build_id(fd, build_id);
    if (strcmp(build_id, module->build_id) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool is_libc(const char *path) {
    const char *name = basename(path);
    return strncmp(name, "libc.so.", 8) == 0 || strncmp(name, "libc-2.", 7) == 0;
}

/* From "GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36." in the library. */
static void banner_read(const char *bytes, size_t size, char *ret_text, size_t room) {
    static const char begin[] = "GNU C Library (";
    static const char middle[] = "release version ";
    const char *at = memmem(bytes, size, begin, sizeof(begin) - 1);
    ret_text[0] = '\0';
    if (!at)
        return;
    at += sizeof(begin) - 1;
    size_t left = size - (size_t)(at - bytes);
    const char *end = memchr(at, '\n', left < 256 ? left : 256);
    const char *close = end ? memchr(at, ')', (size_t)(end - at)) : NULL;
    const char *version =
        close ? memmem(close, (size_t)(end - close), middle, sizeof(middle) - 1) : NULL;
    if (!version)
        return;
    version += sizeof(middle) - 1;
    size_t digits = strspn(version, "0123456789.");
    while (digits > 0 && version[digits - 1] == '.')
        digits--;
    snprintf(ret_text, room, "glibc %.*s (%.*s)", (int)digits, version, (int)(close - at), at);
}

static void libc_look_up(int fd, char *ret_text, size_t room) {
    struct stat status;
    ret_text[0] = '\0';
    if (fstat(fd, &status) < 0 || status.st_size <= 0)
        return;
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return;
    banner_read(bytes, (size_t)status.st_size, ret_text, room);
    munmap(bytes, (size_t)status.st_size);
}

static const char *keep(struct profile *profile, const char *text) {
    return arena_text(&profile->arena, text, strlen(text));
}

static int program_look_up(struct origin *origin, struct profile *profile) {
    for (size_t i = 0; i < profile->module_count; i++) {
        const struct profile_module *module = &profile->modules[i];
        char text[256];
        int fd =
            strcmp(basename(module->path), "libvotrace.so") == 0 ? -1 : module_open(module);
        if (fd < 0)
            continue;
        bool libc = is_libc(module->path);
        if (libc && origin->libc[0] == '\0') {
            libc_look_up(fd, text, sizeof(text));
            origin->libc = keep(profile, text);
        }
        if (origin->allocator[0] == '\0' && elf_file_defines_malloc(fd))
            origin->allocator = libc ? "glibc" : keep(profile, basename(module->path));
        close(fd);
        if (!origin->libc || !origin->allocator)
            return -ENOMEM;
    }
    return 0;
}

/* The first line of /proc/cpuinfo that names the processor; machines differ in its name. */
static int machine_look_up(struct origin *origin, struct profile *profile) {
    static const char *const keys[] = {"model name", "cpu model", "Model", "cpu"};
    char *line = NULL;
    size_t room = 0;
    const char *model = "";
    FILE *stream = fopen("/proc/cpuinfo", "re");
    while (stream && model && model[0] == '\0' && getline(&line, &room, stream) > 0) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        size_t length = strcspn(line, "\t:");
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            if (strlen(keys[i]) == length && strncmp(line, keys[i], length) == 0) {
                char *text = colon + 1 + strspn(colon + 1, " \t");
                text[strcspn(text, "\n")] = '\0';
                model = keep(profile, text);
                break;
            }
    }
    free(line);
    if (stream)
        fclose(stream);
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    origin->cpu_model = model;
    origin->cpu_count = count > 0 ? (uint32_t)count : 0;
    return model ? 0 : -ENOMEM;
}

int origin_look_up(struct origin *origin, struct profile *profile) {
    int r = program_look_up(origin, profile);
    return r < 0 ? r : machine_look_up(origin, profile);
}
