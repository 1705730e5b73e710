/* SPDX-License-Identifier: BSD-3-Clause */
/* href.h: where the data are that a STREAM only names. VOTable 1.4, section 5.5. */
#pragma once

#include "attributes.h"
#include "problem.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The file that @href means, seen from the document at @document ("-": from the working
 * directory): file:///a/b, file:b, /a/b, or b beside the document; %20 and the like are
 * resolved. Returns 0 and a path that the caller frees; -ENOTSUP with a problem for anything on
 * a network, which is never asked; -EBADMSG with a problem for no path at all; -ENOMEM.
 */
int href_resolve(const char *document, const char *href, size_t length, uint64_t lineno,
                 char **ret_path, struct problem *problem) _must_check_ _nonnull_;
