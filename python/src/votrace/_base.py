# SPDX-License-Identifier: BSD-3-Clause
"""What tests needed in an earlier run: a store that pytest wrote, to compare with."""

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from . import _rerun, _tools
from ._limits import Numbers
from ._sites import Site, sites_of

_QUESTION = """
SELECT run_id, benchmark, v_latest.parameters, region, peak_added, net, allocations,
       machine AS "architecture", libc AS "C library", allocator AS "allocator"
FROM v_latest JOIN run ON run.id = run_id WHERE ordinal > 0 ORDER BY run_id
"""
#: As `votreport gate` has them: what the numbers of two runs must have in common.
_TRAITS = ("architecture", "C library", "allocator")


class Earlier(NamedTuple):
    """The newest run of one test."""

    run: int  #: its number in the store
    region: str
    numbers: Numbers
    unlike: str  #: why it cannot be compared with a run of here; "" when it can


def _rows(store: Path) -> List[Dict[str, Any]]:
    rows: List[Dict[str, Any]] = _tools.votreport_json(
        ["sql", "--json", str(store), _QUESTION], if_nothing="[]"
    )
    return rows


def _own_traits() -> Dict[str, Any]:
    """This process's, by the rules by which they were found for what is stored."""
    with _tools.work_folder() as folder:
        store = Path(folder, "own.db")
        _tools.votreport(["import", "--db", str(store), "--force", str(_tools.own_trace())])
        question = 'SELECT machine AS "architecture", libc AS "C library", allocator FROM run'
        rows: List[Dict[str, Any]] = _tools.votreport_json(["sql", "--json", str(store), question])
        return rows[0]


def _plain(value: str) -> str:
    """Without what a distribution adds: "glibc 2.36" of "glibc 2.36 (Debian GLIBC 2.36-9)"."""
    return value.partition("(")[0].rstrip()


def _unlike(row: Mapping[str, Any], settings: Mapping[str, str], own: Mapping[str, Any]) -> str:
    """What of @row is another here, in words. What is not known is not taken for different."""
    parameters = json.loads(row["parameters"])
    for key, word in (("python", "Python"), ("malloc", "PYTHONMALLOC")):
        here, there = settings.get(key, "malloc"), parameters.get(key, "malloc")
        if "python" in parameters and here != there:
            return f"another {word}: {there} there, {here} here"
    for trait in _TRAITS:
        here, there = _plain(own[trait]), _plain(row[trait])
        if here and there and here != there:
            return f"another {trait}: {row[trait]} there, {own[trait]} here"
    return ""


class Base:
    """The tests of a store, each in its newest run that can be compared with one of here."""

    def __init__(self, store: Path, name: str) -> None:
        """ValueError when @store, which the user calls @name, has nothing that can be compared."""
        if not store.is_file():
            raise ValueError(f"--votrace-compare: {name}: there is no such store")
        self.store = store
        self.name = name
        self.tests: Dict[str, Earlier] = {}
        settings, own = _rerun.settings(os.environ), _own_traits()
        for row in _rows(store):
            numbers = Numbers(row["peak_added"], row["net"], row["allocations"])
            unlike = _unlike(row, settings, own)
            earlier = self.tests.get(row["benchmark"])
            if earlier is None or earlier.unlike or not unlike:
                self.tests[row["benchmark"]] = Earlier(
                    row["run_id"], row["region"], numbers, unlike
                )
        if not self.tests:
            raise ValueError(f"--votrace-compare: {name}: there are no tests in it")
        reasons = {earlier.unlike for earlier in self.tests.values()}
        if "" not in reasons:
            raise ValueError(
                f"--votrace-compare: {name}: nothing in it can be compared: {sorted(reasons)[0]}"
            )

    def sites(self, test: str) -> List[Site]:
        """Of the earlier run of @test; none where the store has dropped them. NotAvailable."""
        earlier = self.tests[test]
        command = ["show", str(self.store), "--run", str(earlier.run), "--region", earlier.region]
        shown = _tools.votreport_json([*command, "--json"])
        return sites_of(shown, shown["regions"][-1])


def read_base(config: Any) -> Optional[Base]:
    """The one that --votrace-compare names, if it does."""
    name = config.option.votrace_compare
    return Base(Path(config.invocation_params.dir, name), name) if name else None
