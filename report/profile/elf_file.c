/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_file.c: by libelf; what is no ELF file answers no to everything. */
#include "elf_file.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

static bool symbols_define_malloc(Elf *elf, Elf_Scn *section, const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = header->sh_entsize > 0 ? header->sh_size / header->sh_entsize : 0;
    for (size_t i = 0; data && i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return false;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name && symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
            strcmp(name, "malloc") == 0)
            return true;
    }
    return false;
}

bool elf_file_defines_malloc(int fd) {
    bool found = false;
    if (elf_version(EV_CURRENT) == EV_NONE)
        return false;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    Elf_Scn *section = NULL;
    while (elf && !found && (section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
            found = symbols_define_malloc(elf, section, &header);
    }
    elf_end(elf);
    return found;
}

void elf_file_build_id(int fd, char ret_build_id[PROFILE_BUILD_ID_BYTES]) {
    const void *bits = NULL;
    ret_build_id[0] = '\0';
    if (elf_version(EV_CURRENT) == EV_NONE)
        return;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    ssize_t bytes = elf ? dwelf_elf_gnu_build_id(elf, &bits) : -1;
    for (ssize_t i = 0; i < bytes && bytes <= TRACE_BUILD_ID_MAX; i++)
        snprintf(ret_build_id + 2 * i, 3, "%02x", ((const unsigned char *)bits)[i]);
    elf_end(elf);
}
