/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_file.h: small questions about a file that code is loaded from. */
#pragma once

#include "attributes.h"
#include "profile.h"

#include <stdbool.h>

/* Does one of the dynamic symbols of the file @fd define malloc for everybody? */
bool elf_file_defines_malloc(int fd);

/* The file's build id in hexadecimal, "" when it has none. */
void elf_file_build_id(int fd, char ret_build_id[PROFILE_BUILD_ID_BYTES]) _nonnull_;
