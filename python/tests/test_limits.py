# SPDX-License-Identifier: BSD-3-Clause
"""Limits, growth and the earlier run: what a test is judged by, without a pytest of its own."""

from pathlib import Path
from typing import Any, Dict

import pytest

from votrace import _base, _limits, _rerun
from votrace._sites import Frame, Site, grown_places


@pytest.mark.parametrize(
    "mark, words",
    [
        (pytest.mark.votrace(peaks=3), "it has no peaks"),
        (pytest.mark.votrace(allocs="many"), "allocs takes a number"),
        (pytest.mark.votrace(warmup=-1), "warmup takes a number"),
        (pytest.mark.votrace("1 MiB"), "it takes keywords"),
    ],
)
def test_marks_are_read_with_care(mark: pytest.MarkDecorator, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _limits.read_marks([mark.mark])


def test_the_closest_mark_has_the_last_word() -> None:
    outer, inner = pytest.mark.votrace(peak="1 MiB", net=0), pytest.mark.votrace(peak="2 MiB")
    marked = _limits.read_marks([outer.mark, inner.mark])
    assert marked.limits == {"peak": 2 << 20, "net": 0}


def test_sizes_are_read_and_written() -> None:
    for text, size in [("24 MiB", 24 << 20), ("0 B", 0), ("1.5KiB", 1536), (7, 7), ("12", 12)]:
        assert _limits.parse_bytes(text) == size
    for wrong in ["", "MiB", "1 MB", None, True, 1.5]:
        with pytest.raises(ValueError):
            _limits.parse_bytes(wrong)
    written = [(0, "0 B"), (1023, "1023 B"), (1536, "1.50 KiB"), (-109706, "-107 KiB")]
    written += [(1023500, "0.98 MiB"), (1023 << 10, "1.00 MiB"), (10235, "10.0 KiB")]
    for size, text in written:
        assert _limits.bytes_text(size) == text


def site(function: str, file: str, line: int, size: int) -> Site:
    return Site(
        function, file, line, size, 1, 0, 1, size, (Frame(function, file, line, "[python]"),)
    )


def test_growth_is_a_functions_whatever_its_line_and_folder() -> None:
    before = [
        site("parse", "/old/table.py", 10, 500),
        site("same", "/old/table.py", 20, 900),
        site("gone", "/old/table.py", 30, 700),
        site("parse", "/old/other.py", 10, 50),
    ]
    after = [
        site("parse", "/new/table.py", 17, 600),
        site("parse", "/new/table.py", 11, 200),
        site("same", "/new/table.py", 27, 900),
        site("parse", "/new/other.py", 10, 60),
    ]
    assert grown_places(before, after, lambda site: site.bytes, 5) == [
        (300, "parse (/new/table.py:17)"),
        (10, "parse (/new/other.py:10)"),
    ]
    assert len(grown_places(before, after, lambda site: site.bytes, 1)) == 1


OWN = {"architecture": "x86_64", "C library": "glibc 2.36 (Debian 2.36-9)", "allocator": ""}


def test_a_distributions_fix_makes_no_other_c_library() -> None:
    row = {**OWN, "parameters": "{}", "allocator": "libjemalloc.so.2"}  # ours is not known
    assert _base._unlike({**row, "C library": "glibc 2.36 (Debian 2.36-8)"}, {}, OWN) == ""
    assert _base._unlike({**row, "C library": "glibc 2.37"}, {}, OWN) == (
        "another C library: glibc 2.37 there, glibc 2.36 (Debian 2.36-9) here"
    )


def test_the_base_of_a_test_is_its_newest_run_that_can_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = _rerun.settings({"PYTHONMALLOC": "malloc"})["python"]

    def row(number: int, python: str) -> Dict[str, Any]:
        numbers = {"run_id": number, "peak_added": 100 * number, "net": 0, "allocations": 0}
        named = {"benchmark": "test", "region": "test", "parameters": f'{{"python": "{python}"}}'}
        return {**OWN, **numbers, **named}

    rows = [row(1, "3.8"), row(2, here), row(3, here), row(4, "3.8")]
    monkeypatch.setattr(_base, "_rows", lambda store: rows)
    monkeypatch.setattr(_base, "_own_traits", lambda: OWN)
    monkeypatch.setenv("PYTHONMALLOC", "malloc")
    (tmp_path / "base.db").touch()
    base = _base.Base(tmp_path / "base.db", "base.db")
    assert base.tests == {"test": _base.Earlier(3, "test", _limits.Numbers(300, 0, 0), "")}
