# SPDX-License-Identifier: BSD-3-Clause
"""Regions: the functions of votrace.h, found by name in the process.

What happens between a begin and its end is counted, so both sides of a region do the least that
they can: names are bytes before, and whatever the call of a C function allocates (its arguments)
is there at the begin as it is at the end, and cancels out to the byte.
"""

import ctypes
import functools
import gc
import inspect
import sys
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])

NAME_BYTES_MAX = 63
# Since Python 3.14 the older name warns whenever it is called.
_older: Callable[[], None] = getattr(sys, "_clear_type_cache", lambda: None)
_clear_caches: Callable[[], None] = getattr(sys, "_clear_internal_caches", _older)


class Totals(ctypes.Structure):
    """struct votrace_region_totals of include/votrace.h, field by field."""

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


class Stats(NamedTuple):
    """The running totals of a region: bytes of the heap as they were requested, and blocks."""

    instance: int  #: 1 for the first region of this name, 2 for the second ...
    open: bool  #: between begin and end
    live_start: int  #: live when it began
    live: int  #: live now, or when it ended
    live_peak: int  #: largest live since it began
    peak_added: int  #: live_peak - live_start: what it needed on top
    net: int  #: live - live_start: what it kept, negative when it freed more
    owned_peak: int  #: largest sum of blocks that were allocated inside
    allocations: int  #: blocks handed out
    frees: int  #: blocks given back
    allocated_bytes: int  #: the sum of their sizes
    freed_bytes: int  #: likewise
    map_anon_peak_added: int  #: anonymous mappings that the program made itself
    combined_peak_added: int  #: heap and those mappings, a peak of their sum


def stats_from(totals: Totals) -> Stats:
    """What the library has filled in, as numbers with names."""
    values = [getattr(totals, field[0]) for field in Totals._fields_]
    values[1] = bool(values[1])
    return Stats(*values)


class _Shim:
    """libvotrace.so in this process, if it was preloaded: nothing is loaded here."""

    def __init__(self) -> None:
        # PyDLL keeps the interpreter's lock: no other thread runs between begin and region.
        process = ctypes.PyDLL(None)
        self.begin = self._find(process, "votrace_region_begin")
        self.end = self._find(process, "votrace_region_end")
        self.thread_begin = self._find(process, "votrace_thread_region_begin")
        self.thread_end = self._find(process, "votrace_thread_region_end")
        self.query = self._find(process, "votrace_region_query")
        if self.query is not None:
            self.query.restype = ctypes.c_int
            self.query.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64]

    @staticmethod
    def _find(process: ctypes.CDLL, name: str) -> Any:
        try:
            function = getattr(process, name)
        except AttributeError:
            return None
        function.restype = None
        return function


_shim = _Shim()

#: The region object that began last under each name, by this package.
_youngest: Dict[bytes, "region"] = {}


def query(name: bytes, totals: Totals) -> bool:
    """Fill @totals with those of the youngest instance; False when there is none to ask."""
    if _shim.query is None:
        return False
    return bool(_shim.query(name, ctypes.addressof(totals), ctypes.sizeof(totals)) == 0)


def active() -> bool:
    """Is this process measured? Without that, regions do nothing and know nothing."""
    return query(b"process", Totals())


def _name_bytes(name: str) -> bytes:
    if not isinstance(name, str):
        raise TypeError(
            f"a region's name is a str, not {name!r} (to mark a function: @votrace.region())"
        )
    encoded = name.encode()
    if not encoded or b"\0" in encoded or len(encoded) > NAME_BYTES_MAX:
        raise ValueError(f"a region's name has 1 to {NAME_BYTES_MAX} bytes, and no NUL: {name!r}")
    if encoded == b"process":
        raise ValueError("'process' is the region that every program has: choose another name")
    return encoded


class region:
    """A region of the program, as a context manager or a decorator.

    @name is its name; without one a decorated function's own, and "region" in a `with`. With
    @thread, only what the thread that begins it allocates and frees is in it. Regions nest and
    repeat; each begin makes a new instance of its name. One object is one region: to nest the same
    name, make two.
    """

    __slots__ = ("name", "thread", "_raw", "_begin", "_end", "_named", "_begun")

    def __init__(self, name: Optional[str] = None, *, thread: bool = False) -> None:
        self._named = name is not None
        self.name: str = "region" if name is None else name
        self.thread = thread
        self._raw = _name_bytes(self.name)
        self._begin = _shim.thread_begin if thread else _shim.begin
        self._end = _shim.thread_end if thread else _shim.end
        self._begun = False

    def __enter__(self) -> "region":
        if self._begin is not None:
            self._begun = True
            _youngest[self._raw] = self
            self._begin(self._raw)
        return self

    def __exit__(self, *_: object) -> None:
        if self._end is not None:
            self._end(self._raw)

    @property
    def stats(self) -> Optional[Stats]:
        """Its exact running numbers; after its end, those at the end. None without the shim, and
        before a region of that name has begun.

        The library knows the youngest instance of each name: the numbers of one that another of
        its name came after cannot be told any more, which is a RuntimeError.
        """
        totals = Totals()
        if not query(self._raw, totals):
            return None
        if self._begun and _youngest.get(self._raw) is not self:
            raise RuntimeError(
                f"a younger region '{self.name}' has begun: its numbers hide those of this one"
            )
        return stats_from(totals)

    def __call__(self, function: _Function) -> _Function:
        """Make every call of @function a region."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{function.__qualname__} is a generator, which runs in pieces: mark the loop "
                "over it with `with votrace.region(...)`"
            )
        name = self.name if self._named else _short(function)
        thread = self.thread
        _name_bytes(name)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def measured_coroutine(*args: Any, **kwargs: Any) -> Any:
                with region(name, thread=thread):
                    return await function(*args, **kwargs)

            return cast(_Function, measured_coroutine)

        @functools.wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            with region(name, thread=thread):
                return function(*args, **kwargs)

        return cast(_Function, measured)


def _short(function: Callable[..., Any]) -> str:
    """A function's qualified name, or as much of its end as a region's name can hold."""
    name = getattr(function, "__qualname__", "region")
    return name.encode()[-NAME_BYTES_MAX:].decode(errors="ignore")


def _settle() -> None:
    """Free what the collector can free, the interpreter's own lists of free objects with it, and
    names that only its cache of methods has: their places go by address, so that it is chance
    which ones it has let go of."""
    _clear_caches()
    gc.collect()


def call_marked(
    marked: region, function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call @function in the region @marked, with nothing but its own doing in it.

    The collector runs, and caches are emptied, before the begin and before the end: what is kept is
    what is reachable. The result is alive at the end.
    """
    __tracebackhide__ = True  # of no interest in pytest
    _settle()
    marked.__enter__()
    try:
        # With keywords the call copies their dictionary.
        result = function(*args, **kwargs) if kwargs else function(*args)
        _settle()
    finally:
        marked.__exit__()
    return result


async def await_marked(
    marked: region, function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """call_marked() for a function that has to be awaited: what else its loop does meanwhile is in
    the region, too."""
    __tracebackhide__ = True
    _settle()
    marked.__enter__()
    try:
        result = await function(*args, **kwargs)
        _settle()
    finally:
        marked.__exit__()
    return result


def rehearse() -> None:
    """Do all that a call in a region does once, so that the interpreter has what it keeps for the
    functions of this module (frames, in Python 3.9 and 3.10)."""
    mute = region("rehearsal")
    mute._begin = mute._end = None
    call_marked(mute, int, (), {})
