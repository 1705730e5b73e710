/* SPDX-License-Identifier: BSD-3-Clause */
/* modules.c: executable segments, their files and build-ids, from what the loader tells. */
#include "modules.h"

#include "sysmem.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULES_AT_FIRST 256u

int modules_init(struct modules *modules, struct tracefile *file, const char *exe) {
    modules->file = file;
    size_t length = strnlen(exe, sizeof(modules->exe) - 1);
    memcpy(modules->exe, exe, length);
    modules->exe[length] = '\0';
    modules->seen_count = 0;
    modules->seen_capacity = MODULES_AT_FIRST;
    modules->seen = sysmem_map(MODULES_AT_FIRST * sizeof(*modules->seen));
    return modules->seen != NULL ? 0 : -ENOMEM;
}

static uint64_t hash_name(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/* Remember the segment. Returns whether it is new. */
static bool remember(struct modules *modules, struct module_seen segment) {
    for (uint32_t i = 0; i < modules->seen_count; i++) {
        struct module_seen *seen = &modules->seen[i];
        if (seen->start == segment.start && seen->bias == segment.bias &&
            seen->name_hash == segment.name_hash) {
            seen->round = segment.round;
            return false;
        }
    }
    if (modules->seen_count == modules->seen_capacity) {
        uint32_t capacity = modules->seen_capacity * 2;
        struct module_seen *larger = sysmem_map(capacity * sizeof(*larger));
        if (larger == NULL)
            return true;
        memcpy(larger, modules->seen, modules->seen_count * sizeof(*larger));
        sysmem_unmap(modules->seen, modules->seen_capacity * sizeof(*larger));
        modules->seen = larger;
        modules->seen_capacity = capacity;
    }
    modules->seen[modules->seen_count++] = segment;
    return true;
}

/* Copy the GNU build-id among the notes [note, end) to @ret; returns its bytes, 0: none. */
static uint32_t find_build_id(const unsigned char *note, const unsigned char *end,
                              uint8_t ret[TRACE_BUILD_ID_MAX]) {
    while ((size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header;
        memcpy(&header, note, sizeof(header));
        size_t name_bytes = (header.n_namesz + 3u) & ~(size_t)3;
        size_t content_bytes = (header.n_descsz + 3u) & ~(size_t)3;
        const unsigned char *name = note + sizeof(header);
        if (name_bytes + content_bytes > (size_t)(end - name))
            return 0;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof("GNU") &&
            memcmp(name, "GNU", sizeof("GNU")) == 0 && header.n_descsz <= TRACE_BUILD_ID_MAX) {
            memcpy(ret, name + name_bytes, header.n_descsz);
            return header.n_descsz;
        }
        note = name + name_bytes + content_bytes;
    }
    return 0;
}

static uint32_t build_id_of(const struct dl_phdr_info *info, uint8_t ret[TRACE_BUILD_ID_MAX]) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE)
            continue;
        const unsigned char *note = (const unsigned char *)(info->dlpi_addr + segment->p_vaddr);
        uint32_t bytes = find_build_id(note, note + segment->p_memsz, ret);
        if (bytes > 0)
            return bytes;
    }
    return 0;
}

/*
 * The loader keeps the name that dlopen() was given: make it absolute while the folder holds.
 */
static size_t absolute_path(const char *name, char ret_path[PATH_MAX]) {
    size_t length = 0;
    if (name[0] != '/' && strchr(name, '/') != NULL) {
        long got = syscall(SYS_getcwd, ret_path, PATH_MAX - 1);
        if (got > 1) {
            length = (size_t)got - 1;
            ret_path[length++] = '/';
        }
    }
    size_t name_length = strnlen(name, PATH_MAX - 1 - length);
    memcpy(ret_path + length, name, name_length);
    return length + name_length;
}

static void write_segment(struct modules *modules, const struct dl_phdr_info *info,
                          const char *name, uint64_t start, uint64_t end) {
    size_t path_bytes = absolute_path(name, modules->path);
    struct trace_module *module =
        tracefile_chunk(modules->file, TRACE_CHUNK_MODULE, (struct tracefile_ids){.count = 1},
                        sizeof(*module) + path_bytes);
    if (module == NULL)
        return;
    module->start = start;
    module->end = end;
    module->bias = info->dlpi_addr;
    module->build_id_bytes = build_id_of(info, module->build_id);
    module->path_bytes = (uint32_t)path_bytes;
    memcpy(module + 1, modules->path, path_bytes);
}

void modules_begin_round(struct modules *modules) {
    modules->round++;
}

static bool knows(const struct modules *modules, uintptr_t address) {
    for (uint32_t i = 0; i < modules->seen_count; i++) {
        const struct module_seen *seen = &modules->seen[i];
        if (address >= seen->start && address < seen->end && seen->round == modules->round)
            return true;
    }
    return false;
}

bool modules_know(const struct modules *modules, const uintptr_t *addresses, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!knows(modules, addresses[i]))
            return false;
    return true;
}

void modules_note(struct modules *modules, const struct dl_phdr_info *info) {
    const char *name = info->dlpi_name != NULL ? info->dlpi_name : "";
    if (name[0] == '\0')
        name = modules->exe;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
            continue;
        struct module_seen seen = {
            .start = info->dlpi_addr + segment->p_vaddr,
            .end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz,
            .bias = info->dlpi_addr,
            .name_hash = hash_name(name),
            .round = modules->round,
        };
        if (remember(modules, seen))
            write_segment(modules, info, name, seen.start, seen.end);
    }
}
