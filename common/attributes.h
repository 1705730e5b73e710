/* SPDX-License-Identifier: BSD-3-Clause */
/* attributes.h: contracts that the compiler checks. */
#pragma once

#define _must_check_        __attribute__((warn_unused_result))
#define _nonnull_           __attribute__((nonnull))
#define _printf_(at, first) __attribute__((format(printf, at, first)))
#define _noreturn_          __attribute__((noreturn))
