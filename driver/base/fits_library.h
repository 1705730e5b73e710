/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fits_library.h: cfitsio, loaded when a document has FITS or is to become one.
 *
 * It brings some thirty libraries, of networks and encryption among them, which take longer to
 * load than a table of thousands of rows takes to parse. What loading allocates lies in the
 * region of the first document that needs it, as it does for whoever reads such a document. The
 * functions have the types of fitsio.h, and its names: library->fits_open_diskfile(...).
 */
#pragma once

#include "attributes.h"
#include "problem.h"

#include <fitsio.h>
#include <stdint.h>

#define FITS_LIBRARY_FUNCTIONS(X)                                                              \
    X(fits_clear_errmsg)                                                                       \
    X(fits_close_file)                                                                         \
    X(fits_create_file)                                                                        \
    X(fits_create_img)                                                                         \
    X(fits_create_tbl)                                                                         \
    X(fits_delete_file)                                                                        \
    X(fits_free_memory)                                                                        \
    X(fits_get_errstatus)                                                                      \
    X(fits_get_hduaddrll)                                                                      \
    X(fits_get_num_cols)                                                                       \
    X(fits_hdr2str)                                                                            \
    X(fits_make_keyn)                                                                          \
    X(fits_movabs_hdu)                                                                         \
    X(fits_movrel_hdu)                                                                         \
    X(fits_open_diskfile)                                                                      \
    X(fits_open_memfile)                                                                       \
    X(fits_read_key)                                                                           \
    X(fits_write_key)

struct fits_library {
#define X(name) __typeof__(name) *name;
    FITS_LIBRARY_FUNCTIONS(X)
#undef X
};

/* An open file of the library's; all zero at first. */
struct fits_session {
    const struct fits_library *library;
    fitsfile *file;
};

/*
 * Load it, once in the life of the program: it stays. Returns 0, or -ENOTSUP with a problem at
 * line @lineno when it is not installed.
 */
int fits_library_load(uint64_t lineno, const struct fits_library **ret_library,
                      struct problem *problem) _must_check_ _nonnull_;
