# SPDX-License-Identifier: BSD-3-Clause
"""Call sites as `votreport show --json` has them, and in words."""

import os
from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple

_PYTHON = "[python]"  # the module of all Python code


class Frame(NamedTuple):
    """A place in a stack; what is not known is '' or 0."""

    function: str
    file: str
    line: int
    module: str  #: file its code was loaded from; "[python]" for Python's functions

    @property
    def is_python(self) -> bool:
        """Is it a function of Python's? Else it is a frame of the machine's stack."""
        return self.module == _PYTHON

    def __str__(self) -> str:
        where = self.file or self.module
        if self.file and self.line:
            where += f":{self.line}"
        return f"{self.function or '?'} ({where})"


class Site(NamedTuple):
    """One call stack that allocated: its share of the region's numbers.

    Over all sites of a region, `bytes` add up to peak_added, `kept` to net, `allocations` and
    `total` to those of the region. Function, file and line are those of the innermost Python
    function, else of the innermost frame that is the program's own.
    """

    function: str
    file: str
    line: int
    bytes: int  #: live at the region's peak, less what was live at its start
    blocks: int  #: likewise
    kept: int  #: bytes live at its end, less what was live at its start
    allocations: int  #: blocks handed out in the region
    total: int  #: the sum of their sizes
    stack: Tuple[Frame, ...]  #: innermost first

    @property
    def place(self) -> str:
        """Function, file and line in words: "parse (table.py:174)"."""
        if not self.stack:
            return "[no stack]"
        return str(Frame(self.function, self.file, self.line, self.stack[0].module))


def _site(row: Dict[str, Any], frames: Sequence[Frame]) -> Site:
    stack = tuple(frames[number] for number in row["stack"])
    own = next((frame for frame in stack if frame.is_python), None)
    return Site(
        own.function if own else row["function"],
        own.file if own else row["file"],
        own.line if own else row["line"],
        row["at_peak"] - row["live_start"],
        row["blocks_at_peak"] - row["blocks_start"],
        row["live_end"] - row["live_start"],
        row["allocations"],
        row["allocated_bytes"],
        stack,
    )


def sites_of(shown: Dict[str, Any], region: Dict[str, Any]) -> List[Site]:
    """The heap's sites of @region, one of those in @shown, that did anything: most bytes first."""
    frames = [
        Frame(frame["function"], frame["file"], frame["line"], frame["module"])
        for frame in shown["frames"]
    ]
    sites = [_site(row, frames) for row in region["sites"] or () if row["space"] == "heap"]
    sites = [site for site in sites if any((site.bytes, site.blocks, site.kept, site.allocations))]
    sites.sort(key=lambda site: (-site.bytes, -site.total, site.file, site.line))
    return sites


def _sums(
    sites: Sequence[Site], key: Callable[[Site], Any], amount: Callable[[Site], int]
) -> Dict[Any, int]:
    sums: Dict[Any, int] = {}
    for site in sites:
        sums[key(site)] = sums.get(key(site), 0) + amount(site)
    return sums


def _most(sums: Dict[Any, int], count: int) -> List[Tuple[int, Any]]:
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return [(value, place) for place, value in ordered[:count] if value > 0]


def top_places(
    sites: Sequence[Site], amount: Callable[[Site], int], count: int
) -> List[Tuple[int, str]]:
    """The places with most, sites of one place added up: at most @count, none without any."""
    return _most(_sums(sites, lambda site: site.place, amount), count)


def _function(site: Site) -> Tuple[str, str]:
    """What is still the same when lines have moved, and the folder is another."""
    return site.function, os.path.basename(site.file)


def grown_places(
    before: Sequence[Site], after: Sequence[Site], amount: Callable[[Site], int], count: int
) -> List[Tuple[int, str]]:
    """The functions with more of it than @before, named by the place that has most of theirs."""
    sums = _sums(after, _function, amount)
    for function, value in _sums(before, _function, amount).items():
        sums[function] = sums.get(function, 0) - value
    places = {_function(site): site.place for site in sorted(after, key=amount)}
    return [(value, places.get(function, "")) for value, function in _most(sums, count)]
