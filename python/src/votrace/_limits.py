# SPDX-License-Identifier: BSD-3-Clause
"""Limits of a test: how they are written, whether they hold, and the words when they do not."""

import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ._sites import Site, grown_places, top_places

_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4}
_SIZE = re.compile(r"(-?\d+(?:\.\d+)?)\s*(B|KiB|MiB|GiB|TiB)?")
_TOP_PLACES = 5


def parse_bytes(value: Any) -> int:
    """24 or "24 B", "24 MiB", "1.5 GiB"; ValueError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if not found:
        raise ValueError(f"{value!r} is no size: write it like '24 MiB', or as a number of bytes")
    return round(float(found[1]) * float(1024 ** _UNITS[found[2] or "B"]))


def bytes_text(size: int) -> str:
    """Three digits and a unit, as votreport writes it."""
    if abs(size) < 1024:
        return f"{size} B"
    value, unit = float(size), "B"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if abs(value) < 999.5:
            break
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{decimals}f} {unit}"


class Numbers(NamedTuple):
    """What a test was measured to need."""

    peak: int  #: bytes on top of what was live
    net: int  #: bytes it kept
    allocs: int  #: blocks handed out


class Marked(NamedTuple):
    """What the marks of a test say."""

    limits: Dict[str, int]  #: by field of Numbers
    thread: bool  #: only the test's own thread counts
    warmup: Optional[int]  #: calls before the one that is measured; None: as the option says


def read_marks(marks: Sequence[Any]) -> Marked:
    """Of `pytest.mark.votrace(...)`, the closest last; ValueError when one says it wrongly."""
    said: Dict[str, Any] = {}
    for mark in marks:
        if mark.args:
            raise ValueError("it takes keywords: peak, net, allocs, thread, warmup")
        said.update(mark.kwargs)
    limits: Dict[str, int] = {}
    for name in Numbers._fields:
        if said.get(name) is not None:
            limits[name] = parse_bytes(said[name]) if name != "allocs" else said[name]
        said.pop(name, None)
    thread, warmup = said.pop("thread", False), said.pop("warmup", None)
    if said:
        raise ValueError(f"it has no {', '.join(sorted(said))}: peak, net, allocs, thread, warmup")
    for name, value in (("allocs", limits.get("allocs", 0)), ("warmup", warmup or 0)):
        if not isinstance(value, int) or value < 0:
            raise ValueError(f"{name} takes a number, not {value!r}")
    return Marked(limits, bool(thread), warmup)


class Tolerance(NamedTuple):
    """Growth since an earlier run that is let pass."""

    peak: int  #: bytes
    net: int  #: bytes
    allocs: Optional[int]  #: blocks; None: any number


class Excess(NamedTuple):
    """One limit that was not kept."""

    field: str
    measured: int
    limit: int
    grown: bool  #: the limit is what an earlier run needed


def excesses(
    numbers: Numbers, limits: Mapping[str, int], base: Optional[Numbers], tolerance: Tolerance
) -> List[Excess]:
    """What is over its limit, and what has grown by more than @tolerance since @base."""
    over = [
        Excess(name, getattr(numbers, name), limit, False)
        for name, limit in limits.items()
        if getattr(numbers, name) > limit
    ]
    if base is not None:
        for name, now, before, passes in zip(Numbers._fields, numbers, base, tolerance):
            if passes is not None and now > before + passes:
                over.append(Excess(name, now, before, True))
    return over


_WORDS = {"peak": "needed {} at its peak", "net": "kept {}", "allocs": "allocated {}"}
_NAMES = {"peak": "its peak", "net": "what it kept", "allocs": "its allocations"}
_AMOUNTS = {
    "peak": lambda site: site.bytes,
    "net": lambda site: site.kept,
    "allocs": lambda site: site.allocations,
}


def _amount(field: str, value: int) -> str:
    return bytes_text(value) if field != "allocs" else f"{value:,} blocks"


def _exactly(field: str, value: int) -> str:
    exact = abs(value) >= 1024 and field != "allocs"
    return _amount(field, value) + (f" ({value:,} B)" if exact else "")


def _shorter(place: str) -> str:
    """A place with its file as seen from here, as long as the test has left that in place."""
    try:
        return place.replace(f"({os.getcwd()}{os.sep}", "(", 1)
    except OSError:
        return place


def _places(
    field: str, grown: bool, sites: Sequence[Site], base: Sequence[Site], base_name: str
) -> List[str]:
    amount = _AMOUNTS[field]
    grown = grown and bool(base)
    if grown:
        places, of = grown_places(base, sites, amount, _TOP_PLACES), "the growth of "
    else:
        places, of = top_places(sites, amount, _TOP_PLACES), ""
    lines = []
    for value, place in places:
        sign = "+" if grown else ""
        lines.append(f"  {sign + _amount(field, value):>14}  {_shorter(place)}")
    since = f" since {base_name}" if grown else ""
    return [f"most of {of}{_NAMES[field]}{since}:", *lines] if lines else []


def explain(
    over: Sequence[Excess], sites: Sequence[Site], base: Sequence[Site], base_name: str
) -> str:
    """What was over, by how much, and the places that did most of it: @sites are those of the
    test, @base those of the earlier run, none where they are not known."""
    lines: List[str] = []
    for field, measured, limit, grown in over:
        words = _WORDS[field].format(_exactly(field, measured))
        more = _exactly(field, measured - limit)
        source = f"in {base_name}, where it was" if grown else "its limit of"
        lines.append(f"it {words}: {more} more than {source} {_amount(field, limit)}")
    for field, grown in dict.fromkeys((excess.field, excess.grown) for excess in over):
        lines += _places(field, grown, sites, base, base_name)
    return "votrace: " + "\n".join(lines)
