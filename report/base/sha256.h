/* SPDX-License-Identifier: BSD-3-Clause */
/* sha256.h: SHA-256 (FIPS 180-4) of a text, in base64: what a Content-Security-Policy names. */
#pragma once

#include "attributes.h"

#include <stddef.h>

#define SHA256_BASE64_BYTES 45 /* with its NUL */

/* Write the digest of @length bytes at @data to @ret_text, with its padding. Returns @ret_text. */
char *sha256_base64(char ret_text[SHA256_BASE64_BYTES], const void *data,
                    size_t length) _nonnull_;
