/* SPDX-License-Identifier: BSD-3-Clause */
/* fits_data.c: a STREAM's FITS file on its way to the reader of FITS. */
#include "fits_data.h"

#include <errno.h>

int fits_data_read_memory(const unsigned char *bytes, size_t length, unsigned extnum,
                          uint64_t lineno, struct table *table, const struct consumer *consumer,
                          struct problem *problem) {
    return problem_set(problem, -ENOTSUP, lineno,
                       "DATA as FITS is not supported, convert the file to TABLEDATA, BINARY or "
                       "BINARY2 with stilts or astropy");
}

int fits_data_read_file(const char *path, unsigned extnum, uint64_t lineno, struct table *table,
                        const struct consumer *consumer, struct problem *problem) {
    return fits_data_read_memory((const unsigned char *)"", 0, extnum, lineno, table, consumer,
                                 problem);
}
