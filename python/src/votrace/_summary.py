# SPDX-License-Identifier: BSD-3-Clause
"""What a session of measured tests came to: the lines at the end of pytest's output.

@ran has for each test, by its id, what is known of its last run: pytest_plugin.Result.data(), and
whether it passed.
"""

import collections
from typing import Any, Dict, Iterator, Mapping, Sequence

from ._base import Base
from ._limits import bytes_text
from ._rerun import HOW

Ran = Mapping[str, Mapping[str, Any]]

_LISTED = 10


def write_notes(reporter: Any, ran: Ran, active: bool) -> None:
    """What was asked for and not done."""
    for line in _notes(ran, active):
        reporter.write_line(f"votrace: {line}", yellow=True)


def _notes(ran: Ran, active: bool) -> Iterator[str]:
    unmeasured = {
        test: row
        for test, row in ran.items()
        if row["passed"] and not row["failed"] and not row["numbers"]
    }
    limited = sum(row["has_limits"] for row in unmeasured.values())
    if limited and not active:
        yield f"limits of {_tests(limited)} were not checked: {HOW}"
    if unmeasured and active:
        yield (
            f"{_tests(len(unmeasured))} could not be measured, {limited} of them with limits: "
            f"{_some(list(unmeasured))}"
        )
    cold = [test for test, row in ran.items() if row["warmup_left_out"]]
    if cold:
        yield (
            f"{_tests(len(cold))} measured without a warm-up, which only functions have: "
            f"{_some(cold)}"
        )


def write_comparison(reporter: Any, ran: Ran, base: Base, judges_allocs: bool) -> None:
    """How many tests were held against @base, and how that ended; @ran is by their names there."""
    rows = {test: row for test, row in ran.items() if row["numbers"]}
    compared = sum(row["unlike"] == "" for row in rows.values())
    grown = sum(row["grown"] for row in rows.values())
    new = sum(row["unlike"] is None for row in rows.values())
    missing = len(base.tests.keys() - rows.keys())
    line = f"votrace: {_tests(compared)} compared with {base.name}, {grown} grown"
    if new:
        line += f"; not in it: {new}"
    if missing:
        line += f"; in it, but not measured now: {missing}"
    reporter.write_line(line, yellow=bool(new or missing), red=grown > 0)
    more = {test: row["more_allocs"] for test, row in rows.items() if row["more_allocs"]}
    if more and not judges_allocs:
        reporter.write_line(_more_allocations(more))
    reasons = collections.Counter(row["unlike"] for row in rows.values() if row["unlike"])
    for reason, count in sorted(reasons.items()):
        reporter.write_line(
            f"votrace: {_tests(count)} not compared with {base.name}: {reason}", yellow=True
        )


def _more_allocations(more: Dict[str, int]) -> str:
    most = sorted(more, key=lambda test: (-more[test], test))
    return (
        f"votrace: {_tests(len(more))} allocated more often than there, which is not judged "
        "without --votrace-tolerance-allocs: "
        + _some([f"{test} (+{more[test]:,})" for test in most])
    )


def write_table(reporter: Any, ran: Ran) -> None:
    """The tests with the largest peaks."""
    measured = {test: row["numbers"] for test, row in ran.items() if row["numbers"]}
    if not measured:
        return
    reporter.write_sep("-", "votrace: memory of tests")
    reporter.write_line(f"{'peak added':>12} {'kept':>12} {'allocations':>12}  test")
    ordered = sorted(measured.items(), key=lambda row: (-row[1][0], row[0]))
    for test, (peak, net, allocs) in ordered[:_LISTED]:
        reporter.write_line(f"{bytes_text(peak):>12} {bytes_text(net):>12} {allocs:>12,}  {test}")
    if len(ordered) > _LISTED:
        reporter.write_line(f"and {len(ordered) - _LISTED} more")


def _tests(count: int) -> str:
    return f"{count} test" + ("s" if count != 1 else "")


def _some(tests: Sequence[str]) -> str:
    """Three of them, and how many more."""
    more = f" and {len(tests) - 3} more" if len(tests) > 3 else ""
    return ", ".join(tests[:3]) + more
