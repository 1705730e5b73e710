/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * demangle.h: names of C++ functions from a table of symbols, as DWARF would give them: with
 * namespaces and classes, without a return type and parameters.
 */
#pragma once

#include "attributes.h"

/*
 * "_ZN3app6Reader4loadEi" -> "app::Reader::load". NULL when @symbol is no such name, is longer than
 * the library takes (1 KiB), or there is no memory for it: it is shown as it is then. free() the
 * result.
 */
char *demangle(const char *symbol) _must_check_ _nonnull_;
