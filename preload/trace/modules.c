/* SPDX-License-Identifier: BSD-3-Clause */
/* modules.c: executable segments, their files and build-ids, from what the loader tells. */
#include "modules.h"

#include "sandbox.h"

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

static bool overlap(const struct module_seen *a, const struct module_seen *b) {
    return a->start < b->end && b->start < a->end;
}

/* The latest of the segments that overlap @segment; NULL when none does. */
static struct module_seen *find_latest(const struct modules *modules,
                                       const struct module_seen *segment) {
    struct module_seen *latest = NULL;
    for (uint32_t i = 0; i < modules->seen_count; i++) {
        struct module_seen *seen = &modules->seen[i];
        if (overlap(seen, segment) &&
            (latest == NULL || seen->generation >= latest->generation))
            latest = seen;
    }
    return latest;
}

static bool is_same(const struct module_seen *a, const struct module_seen *b) {
    return a->start == b->start && a->end == b->end && a->bias == b->bias &&
           a->name_hash == b->name_hash;
}

/*
 * Remember the segment. Returns where, if it is new and has to be written; else, and when
 * memory is refused, NULL.
 */
static struct module_seen *remember(struct modules *modules, struct module_seen segment) {
    struct module_seen *latest = find_latest(modules, &segment);
    if (latest != NULL && is_same(latest, &segment)) {
        latest->round = segment.round;
        return NULL;
    }
    if (latest != NULL && modules->generation < MODULES_GENERATION_MAX)
        modules->generation++;
    if (modules->seen_count == modules->seen_capacity) {
        uint32_t capacity = modules->seen_capacity * 2;
        struct module_seen *larger = sysmem_map(capacity * sizeof(*larger));
        if (larger == NULL)
            return NULL;
        memcpy(larger, modules->seen, modules->seen_count * sizeof(*larger));
        sysmem_unmap(modules->seen, modules->seen_capacity * sizeof(*larger));
        modules->seen = larger;
        modules->seen_capacity = capacity;
    }
    segment.generation = modules->generation;
    segment.loaded = true;
    modules->seen[modules->seen_count] = segment;
    return &modules->seen[modules->seen_count++];
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
    if (name[0] != '/' && strchr(name, '/') != NULL && !sandbox_inside()) {
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
                          const char *name, struct module_seen *seen) {
    size_t path_bytes = absolute_path(name, modules->path);
    struct trace_module *module =
        tracefile_chunk(modules->file, TRACE_CHUNK_MODULE, (struct tracefile_ids){.count = 1},
                        sizeof(*module) + path_bytes);
    if (module == NULL)
        return;
    module->start = seen->start;
    module->end = seen->end;
    module->bias = info->dlpi_addr;
    module->build_id_bytes = build_id_of(info, module->build_id);
    module->path_bytes = (uint32_t)path_bytes;
    module->generation = seen->generation;
    memcpy(module + 1, modules->path, path_bytes);
    seen->record = module;
}

uint32_t modules_begin_round(struct modules *modules) {
    return ++modules->round;
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
        if ((addresses[i] & TRACE_CODE_FRAME) == 0 && !knows(modules, addresses[i]))
            return false;
    return true;
}

void modules_note(struct modules *modules, const struct dl_phdr_info *info) {
    const char *name = info->dlpi_name != NULL ? info->dlpi_name : "";
    if (name[0] == '\0')
        name = modules->exe;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0)
            continue;
        struct module_seen segment = {
            .start = info->dlpi_addr + header->p_vaddr,
            .end = info->dlpi_addr + header->p_vaddr + header->p_memsz,
            .bias = info->dlpi_addr,
            .name_hash = hash_name(name),
            .round = modules->round,
        };
        struct module_seen *seen = remember(modules, segment);
        if (seen != NULL)
            write_segment(modules, info, name, seen);
    }
}

bool modules_next_change(struct modules *modules, struct module_seen *ret_changed) {
    for (uint32_t i = 0; i < modules->seen_count; i++) {
        struct module_seen *seen = &modules->seen[i];
        bool loaded = seen->round == modules->round;
        if (loaded == seen->loaded)
            continue;
        seen->loaded = loaded;
        *ret_changed = *seen;
        return true;
    }
    return false;
}

void modules_restart(struct modules *modules, struct tracefile *file) {
    modules->file = file;
    for (uint32_t i = 0; i < modules->seen_count; i++) {
        struct module_seen *seen = &modules->seen[i];
        if (seen->record == NULL)
            continue;
        size_t bytes = sizeof(*seen->record) + seen->record->path_bytes;
        struct trace_module *copy = tracefile_chunk(file, TRACE_CHUNK_MODULE,
                                                    (struct tracefile_ids){.count = 1}, bytes);
        if (copy != NULL)
            memcpy(copy, seen->record, bytes);
        seen->record = copy;
    }
}
