# SPDX-License-Identifier: BSD-3-Clause
"""Regions of libvotrace.so, which is preloaded: include/votrace.h by ctypes, for the examples."""
import contextlib
import ctypes


class Totals(ctypes.Structure):
    """struct votrace_region_totals."""

    _fields_ = [
        ("instance", ctypes.c_uint64),
        ("open", ctypes.c_uint64),
        ("live_start_bytes", ctypes.c_int64),
        ("live_bytes", ctypes.c_int64),
        ("live_peak_bytes", ctypes.c_int64),
        ("peak_added_bytes", ctypes.c_int64),
        ("net_bytes", ctypes.c_int64),
        ("owned_peak_bytes", ctypes.c_int64),
        ("allocations", ctypes.c_uint64),
        ("frees", ctypes.c_uint64),
        ("allocated_bytes", ctypes.c_uint64),
        ("freed_bytes", ctypes.c_uint64),
        ("map_anon_peak_added_bytes", ctypes.c_int64),
        ("combined_peak_added_bytes", ctypes.c_int64),
    ]


_library = ctypes.CDLL(None)


def is_preloaded():
    return hasattr(_library, "votrace_region_begin")


@contextlib.contextmanager
def region(name):
    encoded = name.encode()
    _library.votrace_region_begin(encoded)
    try:
        yield
    finally:
        _library.votrace_region_end(encoded)


def totals(name):
    """Of the youngest region of that name. Raises OSError if there is none."""
    result = Totals()
    size = ctypes.c_uint64(ctypes.sizeof(result))
    error = _library.votrace_region_query(name.encode(), ctypes.byref(result), size)
    if error < 0:
        raise OSError(-error, f"votrace_region_query({name!r})")
    return result
