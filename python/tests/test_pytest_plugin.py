# SPDX-License-Identifier: BSD-3-Clause
"""The plugin, in a pytest of its own under the library."""

import json
import re
import sys
from pathlib import Path
from typing import Any, List

import pytest

from votrace import _limits, _tools, pytest_plugin

TESTS = """
import threading
import pytest

cache = []

def parse(size):
    block = bytearray(size)
    return bytes(10)

@pytest.mark.votrace(peak="1 MiB", net="0 B", warmup=1)
def test_good():
    parse(1000000)

@pytest.mark.votrace(peak="1 MiB")
def test_too_much():
    parse(3 * 1024 * 1024)

@pytest.mark.votrace(net="4 KiB")
def test_leak():
    cache.append(bytes(100000))

@pytest.mark.votrace(allocs=10)
def test_many():
    [bytearray(100) for _ in range(1000)]

@pytest.mark.votrace(net="1 KiB", warmup=1)
def test_cache_is_no_leak():
    if not cache:
        cache.append(bytes(100000))

@pytest.mark.votrace(peak="200 KiB", thread=True)
def test_own_thread():
    thread = threading.Thread(target=parse, args=(5000000,))
    thread.start()
    thread.join()

@pytest.fixture
def table():
    return bytearray(5000000)

@pytest.mark.votrace(peak="10 KiB")
def test_fixtures_are_left_out(table):
    assert table

def test_unmarked():
    parse(2000000)

def test_fails():
    assert 1 == 2
"""


@pytest.fixture(autouse=True)
def tool_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def run(pytester: pytest.Pytester, *arguments: Any) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def stored(store: Path) -> List[Any]:
    question = "SELECT benchmark, region, peak_added, net FROM v_latest WHERE ordinal > 0"
    return json.loads(_tools.votreport(["sql", "--json", str(store), question]))


def test_limits_are_checked_under_the_library(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run(pytester, "--votrace")
    result.assert_outcomes(passed=5, failed=4)
    text = result.stdout.str()
    line = TESTS.strip().splitlines().index("    block = bytearray(size)") + 1
    assert re.search(r"it needed 3\.00 MiB \(3,14[56],\d\d\d B\) at its peak: 2\.00 MiB .* more than its "
                     r"limit of 1\.00 MiB", text)
    assert re.search(rf"3\.00 MiB  parse \(test_it\.py:{line}\)\n", text)
    assert "region.__exit__" not in text and "entries are hidden" not in text
    assert re.search(r"it kept 9[78]\.\d KiB .*: 9[34]\.\d KiB .* more than its limit of 4\.00 KiB", text)
    assert re.search(r"it allocated [12],\d\d\d blocks: .* blocks more than its limit of 10 blocks", text)
    assert "FAILED test_it.py::test_fails - assert 1 == 2" in text
    assert re.search(r"1\.91 MiB +\S+ B +[\d,]+  test_it\.py::test_unmarked", text)


def test_without_the_library_tests_run_and_it_is_said(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run(pytester)
    result.assert_outcomes(passed=8, failed=1)
    result.stdout.fnmatch_lines(["votrace: limits of 7 tests were not checked: run `pytest --votrace*"])


def test_a_store_without_the_library_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run(pytester, "--votrace-db", "runs.db")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--votrace-db: nothing is measured here: run `pytest --votrace*"])


GROWS = """
import os

def test_parse():
    parsed = bytearray(int(os.environ["SIZE"]))

def test_same():
    bytearray(50000)
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_growth_since_a_stored_run_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: List[str]
) -> None:
    if workers:
        pytest.importorskip("xdist")
    pytester.makepyfile(test_it=GROWS)
    monkeypatch.setenv("SIZE", "100000")
    run(pytester, "--votrace", "--votrace-db", "base.db", *workers).assert_outcomes(passed=2)
    rows = {row["benchmark"]: row for row in stored(pytester.path / "base.db")}
    assert sorted(rows) == ["test_it.py::test_parse", "test_it.py::test_same"]
    assert 100000 <= rows["test_it.py::test_parse"]["peak_added"] < 102000

    compare = ["--votrace", "--votrace-compare", "base.db", *workers]
    run(pytester, *compare).assert_outcomes(passed=2)
    monkeypatch.setenv("SIZE", "103000")
    result = run(pytester, *compare)
    result.assert_outcomes(passed=1, failed=1)
    assert re.search(r"at its peak: 2\.\d\d KiB .* more than in base\.db, where it was", result.stdout.str())
    if not workers:
        run(pytester, *compare, "--votrace-tolerance", "10 KiB").assert_outcomes(passed=2)


def test_under_votreport_run_the_tests_are_stored(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_it=GROWS)
    monkeypatch.setenv("SIZE", "100000")
    monkeypatch.setenv("VOTRACE_LIBRARY", str(_tools.find_library()))
    result = pytester.run(
        _tools.find_votreport(), "run", "--python", "--db", "suite.db", "--",
        sys.executable, "-m", "pytest", "--votrace-db", "tests.db",
    )  # fmt: skip
    assert result.ret == 0
    assert len(stored(pytester.path / "tests.db")) == 2
    assert "test_it.py::test_parse" in {row["region"] for row in stored(pytester.path / "suite.db")}


def test_coroutines_of_another_plugin_are_measured(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import asyncio, inspect, pytest

        @pytest.hookimpl(tryfirst=True)
        def pytest_pyfunc_call(pyfuncitem):
            if inspect.iscoroutinefunction(pyfuncitem.obj):
                asyncio.run(pyfuncitem.obj())
                return True
        """
    )
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.votrace(peak="1 MiB")
        async def test_it():
            bytearray(3000000)
        """
    )
    result = run(pytester, "--votrace")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*it needed 2.8* MiB*more than its limit of 1.00 MiB"])


def test_a_mark_that_means_nothing_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest\n@pytest.mark.votrace(peak='1 parsec')\ndef test_it():\n    pass\n"
    )
    result = run(pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_it*: its mark votrace: '1 parsec' is no size*"])


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
    for size, text in [(0, "0 B"), (1023, "1023 B"), (1536, "1.50 KiB"), (-109706, "-107 KiB")]:
        assert _limits.bytes_text(size) == text


def test_long_names_stay_apart() -> None:
    names = [pytest_plugin.region_name("a" * 100 + "ä" * 30 + suffix) for suffix in ("x", "y")]
    assert names[0] != names[1]
    assert all(len(name.encode()) <= 63 for name in names)
    assert pytest_plugin.region_name("test_a.py::test_b") == "test_a.py::test_b"
