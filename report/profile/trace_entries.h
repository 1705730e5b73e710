/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_entries.h: what trace_reader.c asks of trace_entries.c; nobody else includes it. */
#pragma once

#include "trace_reader.h"

/* Can every entry of the tables be? 0, or -EBADMSG and @fault. */
int trace_entries_check(const struct trace *trace, struct fault *fault) _must_check_ _nonnull_;
