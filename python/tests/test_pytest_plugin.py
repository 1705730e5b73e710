# SPDX-License-Identifier: BSD-3-Clause
"""The plugin, in a pytest of its own under the library."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

import pytest

from votrace import _rerun, _tools, pytest_plugin

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


def measured(result: pytest.RunResult) -> Dict[str, List[str]]:
    """The table at the end: peak, kept and allocations of each test, as they are written there."""
    rows = re.findall(
        r"^ +(-?[\d.]+ \w+) +(-?[\d.]+ \w+) +([\d,]+)  (\S+)$", result.stdout.str(), re.MULTILINE
    )
    return {row[3].partition("::")[2]: list(row[:3]) for row in rows}


def stored(store: Path) -> List[Any]:
    question = "SELECT benchmark, region, peak_added, net FROM v_latest WHERE ordinal > 0"
    return json.loads(_tools.votreport(["sql", "--json", str(store), question]))


def test_limits_are_checked_under_the_library(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run(pytester, "--votrace")
    result.assert_outcomes(passed=5, failed=4)
    text = result.stdout.str()
    line = TESTS.strip().splitlines().index("    block = bytearray(size)") + 1
    assert re.search(
        r"it needed 3\.00 MiB \(3,14[56],\d\d\d B\) at its peak: 2\.00 MiB .* more than its "
        r"limit of 1\.00 MiB",
        text,
    )
    assert re.search(rf"3\.00 MiB  parse \(test_it\.py:{line}\)\n", text)
    assert "region.__exit__" not in text and "entries are hidden" not in text
    for words in (
        r"it kept 9[78]\.\d KiB .*: 9[34]\.\d KiB .* more than its limit of 4\.00 KiB",
        r"it allocated [12],\d\d\d blocks: .* blocks more than its limit of 10 blocks",
    ):
        assert re.search(words, text)
    assert "FAILED test_it.py::test_fails - assert 1 == 2" in text
    assert re.search(r"1\.91 MiB +\S+ B +[\d,]+  test_it\.py::test_unmarked", text)


def test_without_the_library_tests_run_and_it_is_said(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run(pytester)
    result.assert_outcomes(passed=8, failed=1)
    result.stdout.fnmatch_lines(
        ["votrace: limits of 7 tests were not checked: run `pytest --votrace*"]
    )


def test_a_store_without_the_library_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run(pytester, "--votrace-db", "runs.db")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--votrace-db: nothing is measured here: run `pytest --votrace*"])


ARGUMENTS = """
import pytest

a, b, c, d, e, f = (pytest.fixture(name=name)(lambda: 0) for name in "abcdef")

def test_without():
    pass

def test_with(a, b, c, d, e, f):
    pass

class TestClass:
    def test_method(self, a, b, c, d, e, f):
        pass
"""


def test_to_be_given_fixtures_costs_a_test_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=ARGUMENTS)
    rows = measured(run(pytester, "--votrace", "--votrace-warmup", "1"))
    assert sorted(rows) == ["TestClass::test_method", "test_with", "test_without"]
    assert rows["TestClass::test_method"] == rows["test_with"] == rows["test_without"]


OTHERS = """
import unittest
import pytest

class Plain(unittest.TestCase):
    def setUp(self):
        self.table = bytearray(5000000)
        self.addCleanup(bytearray, 7000000)

    def tearDown(self):
        bytearray(6000000)

    def test_small(self):
        bytearray(100000)

    @pytest.mark.votrace(peak="1 MiB", warmup=1)
    def test_large(self):
        self.table = bytearray(3000000)

    @unittest.expectedFailure
    @pytest.mark.votrace(peak="10 KiB")
    def test_expected(self):
        bytearray(200000)

    def test_leaves(self):
        self.skipTest("no need")

    def test_part(self):
        with self.subTest("a part"):
            self.fail("wrong")

class Awaited(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.table = bytearray(5000000)

    @pytest.mark.votrace(peak="1 MiB")
    async def test_awaited(self):
        bytearray(4000000)

def documented():
    '''
    >>> len(bytearray(2000000))
    2000000
    '''
"""


def test_methods_of_unittest_and_doctests_are_measured(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=OTHERS)
    result = run(pytester, "--votrace", "--doctest-modules", "--votrace-warmup", "1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    rows = measured(result)  # not test_leaves; not test_part, which pytest 9 counts three times
    assert sorted(rows) == [
        "Awaited::test_awaited",
        "Plain::test_expected",
        "Plain::test_large",
        "Plain::test_small",
        "test_it.documented",
    ]
    assert rows["Plain::test_small"][0] == "97.7 KiB"
    # Its warm-up had replaced what setUp made: 3,000,000 B are there, and as many come.
    assert rows["Plain::test_large"][0] == "2.86 MiB"
    assert rows["Awaited::test_awaited"][0].startswith("3.8")
    assert rows["test_it.documented"][0].startswith(("1.9", "2."))  # what doctest imports, too
    lines = OTHERS.strip().splitlines()
    for method, code in [
        ("Plain.test_large", "        self.table = bytearray(3000000)"),
        ("Awaited.test_awaited", "        bytearray(4000000)"),
    ]:
        function = method if sys.version_info >= (3, 11) else method.partition(".")[2]
        place = re.escape(f"{function} (test_it.py:{lines.index(code) + 1})")
        assert re.search(rf"most of its peak:\n +[23]\.\d+ MiB  {place}", result.stdout.str())
    result.stdout.fnmatch_lines(
        ["votrace: 1 test measured without a warm-up, which only functions have: *documented"]
    )


def test_what_could_not_be_measured_is_said(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        class Odd(pytest.Function):
            def runtest(self):
                self.obj()

        def pytest_pycollect_makeitem(collector, name, obj):
            if name.startswith("odd"):
                return Odd.from_parent(collector, name=name)
        """
    )
    pytester.makepyfile(
        """
        import pytest

        def odd_one(): pass

        @pytest.mark.votrace(net=0)
        def odd_two(): pass
        """
    )
    run(pytester, "--votrace").stdout.fnmatch_lines(
        ["votrace: 2 tests could not be measured, 1 of them with limits: *::odd_one, *::odd_two"]
    )


ENDS = """
import pytest

@pytest.mark.parametrize("text", ["plain", "[a-b]", "long " * 10, "t\\tab\\n", "ä"])
def test_ids(text):
    pass

@pytest.mark.xfail
@pytest.mark.votrace(peak=10)
def test_over_as_expected():
    bytearray(1000)

@pytest.mark.xfail
def test_passes_unexpectedly():
    pass

@pytest.mark.xfail
def test_fails_as_expected():
    assert 0

def test_leaves():
    pytest.skip("no need")

def test_fails():
    assert 0
"""


def test_what_came_to_its_end_is_stored_by_its_id(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_it=ENDS)
    run(pytester, "--votrace", "--votrace-db", "runs.db").assert_outcomes(
        passed=5, failed=1, skipped=1, xfailed=2, xpassed=1
    )
    rows = {row["benchmark"].partition("::")[2] for row in stored(pytester.path / "runs.db")}
    ids = ["plain", "[a-b]", "long " * 10, "t\\tab\\n", "\\xe4"]
    assert rows == {
        "test_over_as_expected", "test_passes_unexpectedly", *[f"test_ids[{text}]" for text in ids],
    }  # fmt: skip
    assert run(pytester, "--votrace", "-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_an_interrupted_session_stores_what_was_done(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        test_it="""
        import pathlib, time

        def test_done():
            bytearray(1000)

        def test_waits():
            pathlib.Path("ready").touch()
            time.sleep(60)
        """
    )
    folder = pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    child = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--votrace",
            "--votrace-db",
            "a.db",
        ],
        stdout=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not Path("ready").exists() and child.poll() is None:
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does it
    child.communicate()
    assert child.returncode == pytest.ExitCode.INTERRUPTED
    assert [row["benchmark"] for row in stored(Path("a.db"))] == ["test_it.py::test_done"]
    assert not list(folder.glob("votrace.*"))


def test_a_session_that_dies_stores_what_was_done_and_says_so(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import os, signal

        def test_done():
            pass

        def test_dies():
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    result = run(pytester, "--votrace", "--votrace-db", "a.db")
    assert result.ret == 128 + signal.SIGKILL
    assert [row["benchmark"] for row in stored(Path("a.db"))] == ["test_it.py::test_done"]
    result.stderr.re_match_lines([r"votreport: \d+\.vtr: note: the program's end was not seen"])


def test_a_pytest_that_a_test_starts_is_on_its_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_outer="""
        import subprocess, sys

        def test_outer():
            command = [sys.executable, "-m", "pytest", "--votrace", "--votrace-db", "inner.db"]
            assert subprocess.run([*command, "inner.py"]).returncode == 0
        """,
        inner="def test_inner(): pass",
    )
    run(pytester, "--votrace", "--votrace-db", "outer.db").assert_outcomes(passed=1)
    for store in ("inner", "outer"):
        rows = stored(pytester.path / f"{store}.db")
        assert [row["region"].partition("::")[2] for row in rows] == [f"test_{store}"]


@pytest.mark.parametrize(
    "argv, start",
    [
        ("/lib/pytest/__main__.py", ["-m", "pytest"]),
        ("/opt/bin/pytest", [_rerun._START, "/opt/bin"]),
    ],
)
def test_pytest_is_started_again_as_it_was_started(
    monkeypatch: pytest.MonkeyPatch, argv: str, start: List[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [argv, "-x"])
    command = _rerun._command(["-x"])
    assert command[0] == sys.executable and command[-3:] == [*start, "-x"]


def test_pytest_begins_as_its_own_script_does(tmp_path: Path) -> None:
    package = tmp_path / "pytest"
    package.mkdir()
    (package / "__init__.py").touch()  # of its names, none is needed that one version has
    (package / "__main__.py").write_text("import sys; print(sys.argv, sys.path[0]); sys.exit(3)")
    command = [sys.executable, "-c", _rerun._START, "/opt/bin", "-x"]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": "."}, stdout=subprocess.PIPE)
    assert (done.stdout.decode(), done.returncode) == ("['pytest', '-x'] /opt/bin\n", 3)


GROWS = """
import os

def make(size):
    return [bytearray(size)]

def keep(size):
    return bytearray(size)

def test_parse():
    kept = keep(1000000)
    parsed = make(int(os.environ["SIZE"]))

def test_same():
    bytearray(50000)

if os.environ["SIZE"] == "100000":
    def test_before(): pass
else:
    def test_after(): pass
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_growth_since_a_stored_run_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: List[str]
) -> None:
    if workers:
        pytest.importorskip("xdist")
    pytester.makepyfile(test_it=GROWS)
    monkeypatch.setenv("SIZE", "100000")
    run(pytester, "--votrace", "--votrace-db", "base.db", *workers).assert_outcomes(passed=3)
    rows = {row["benchmark"]: row for row in stored(pytester.path / "base.db")}
    names = ["test_before", "test_parse", "test_same"]
    assert sorted(rows) == [f"test_it.py::{name}" for name in names]
    assert 1100000 <= rows["test_it.py::test_parse"]["peak_added"] < 1102000

    compare = ["--votrace", "--votrace-compare", "base.db", *workers]
    result = run(pytester, *compare)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["votrace: 3 tests compared with base.db, 0 grown"])
    monkeypatch.setenv("SIZE", "103000")
    result = run(pytester, *compare)
    result.assert_outcomes(passed=2, failed=1)
    line = GROWS.strip().splitlines().index("    return [bytearray(size)]") + 1
    assert re.search(
        r"at its peak: 2\.\d\d KiB .* more than in base\.db, where it was .*\n"
        r"most of the growth of its peak since base\.db:\n"
        rf" +\+2\.[89]\d KiB  make \(test_it\.py:{line}\)\n(?! +\+.* keep)",
        result.stdout.str(),
    )
    result.stdout.fnmatch_lines(
        [
            "votrace: 2 tests compared with base.db, 1 grown; not in it: 1; "
            "in it, but not measured now: 1"
        ]
    )
    if not workers:
        run(pytester, *compare, "--votrace-tolerance", "10 KiB").assert_outcomes(passed=3)


def test_growth_of_allocations_fails_when_it_is_asked_for(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        test_it="""
        import os

        def test_many():
            for _ in range(int(os.environ["SIZE"])):
                bytearray(1000)
        """
    )
    monkeypatch.setenv("SIZE", "20")
    run(pytester, "--votrace", "--votrace-db", "base.db")
    monkeypatch.setenv("SIZE", "30")
    compare = ["--votrace", "--votrace-compare", "base.db"]
    result = run(pytester, *compare)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 test allocated more often*: test_it.py::test_many (+20)"])
    run(pytester, *compare, "--votrace-tolerance-allocs", "20").assert_outcomes(passed=1)
    result = run(pytester, *compare, "--votrace-tolerance-allocs", "19")
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            r"votrace: it allocated \d+ blocks: 20 blocks more than in base\.db",
            r"most of the growth of its allocations since base\.db:",
            r" +\+20 blocks  test_many \(test_it\.py:5\)",
        ]
    )


def test_a_base_that_is_unlike_is_not_judged_by(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="def test_a(): pass\ndef test_b(): pass\n")
    run(pytester, "--votrace", "--votrace-db", "base.db")
    compare = ["--votrace", "--votrace-compare", "base.db"]
    with sqlite3.connect("base.db") as base:
        base.execute(
            "UPDATE benchmark SET parameters = json_set(parameters, '$.python', '3.8') "
            "WHERE name LIKE '%test_a'"
        )
    result = run(pytester, *compare)
    result.assert_outcomes(passed=2)
    here = ".".join(map(str, sys.version_info[:2]))
    result.stdout.fnmatch_lines(
        [
            "votrace: 1 test compared with base.db, 0 grown",
            f"votrace: 1 test not compared with base.db: another Python: 3.8 there, {here} here",
        ]
    )
    with sqlite3.connect("base.db") as base:
        base.execute("UPDATE run SET allocator = 'libjemalloc.so.2'")
    result = run(pytester, *compare)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--votrace-compare: base.db: nothing in it can be compared: another *"]
    )


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
    assert len(stored(pytester.path / "tests.db")) == 3
    assert "test_it.py::test_parse" in {row["region"] for row in stored(pytester.path / "suite.db")}


def test_a_store_that_cannot_be_is_refused_before_the_tests(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_it="def test_it(): open('ran', 'w').close()")
    Path("runs.db").write_text("something else " * 100)
    for store, words in [("runs.db", "this is not a votrace store"), ("no/a.db", "cannot be made")]:
        result = run(pytester, "--votrace", "--votrace-db", store)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: *{words}*"])
    monkeypatch.setenv("VOTRACE_VOTREPORT", str(pytester.path / "test_it.py"))
    result = run(pytester, "--votrace", "--votrace-db", "runs.db")
    result.stderr.fnmatch_lines(["ERROR: *test_it.py cannot be run: Permission denied"])
    monkeypatch.setenv("VOTRACE_VOTREPORT", "/nowhere/votreport")
    result = run(pytester, "--votrace", "--votrace-db", "new.db")
    result.stderr.fnmatch_lines(["ERROR: *VOTRACE_VOTREPORT is /nowhere/votreport*"])
    assert not Path("ran").exists()


def test_the_mark_of_a_set_of_parameters_has_the_last_word(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import os
        import pytest

        more = pytest.mark.votrace(peak="1 MiB")

        @pytest.mark.votrace(peak="1 KiB")
        @pytest.mark.parametrize("size", [5000, pytest.param(6000, marks=more)])
        def test_it(size, tmp_path):
            os.chdir(tmp_path)
            tmp_path.rmdir()  # no folder to name files from
            bytearray(size)
        """
    )
    result = run(pytester, "--votrace")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["most of its peak:", "*test_it (/*/test_it.py:11)"])


def test_a_test_may_replace_what_measuring_takes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import json, subprocess
        import pytest

        def replace(monkeypatch):
            monkeypatch.setattr("builtins.open", None)
            monkeypatch.setattr(subprocess, "run", None)

        def test_replaced(monkeypatch):
            replace(monkeypatch)

        @pytest.mark.votrace(peak=10)
        def test_over(monkeypatch):
            replace(monkeypatch)
            bytearray(1000)

        def test_after():
            pass
        """
    )
    result = run(pytester, "--votrace", "--votrace-db", "runs.db")
    result.assert_outcomes(passed=2, failed=1, warnings=1)
    result.stdout.fnmatch_lines(
        ["votrace: it needed * more than its limit of 10 B", "*votrace: no places: TypeError: *"]
    )
    assert len(stored(Path("runs.db"))) == 3


def test_what_cannot_be_stored_in_the_end_is_kept(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_it="def test_it(): open('runs.db', 'w').write('x' * 1000)")
    folder = pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    result = run(pytester, "--votrace", "--votrace-db", "runs.db")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --votrace: *not a votrace store; what was measured is in *"]
    )
    (kept,) = folder.glob("votrace.*.kept")
    traces = [str(trace) for trace in kept.glob("*.vtr")]
    (regions,) = kept.glob("*.tests")
    _tools.votreport(["import", "--db", "a.db", "--regions", str(regions), *traces])
    assert [row["benchmark"] for row in stored(Path("a.db"))] == ["test_it.py::test_it"]


def test_a_trace_that_found_no_room_is_told(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="def test_it(): pass")
    script = 'ulimit -f 4; exec "$@"'  # some KiB for each file, which a list of tests needs
    result = pytester.run(
        "sh", "-c", script, "sh", sys.executable, "-m", "pytest", "-p", "no:cacheprovider",
        "--votrace", "--votrace-db", "runs.db",
    )  # fmt: skip
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*1 passed*"])
    result.stderr.fnmatch_lines(["ERROR: --votrace: 1 of 1 processes could write no trace to *"])


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


def test_long_names_stay_apart() -> None:
    names = [pytest_plugin.region_name("a" * 100 + "ä" * 30 + suffix) for suffix in ("x", "\udce4")]
    assert names[0] != names[1]
    assert all(len(name.encode()) <= 63 for name in names)
    assert pytest_plugin.region_name("test_a.py::test_b") == "test_a.py::test_b"


SAME = """
import votrace._tools

def look_up():
    for number in range(3000):
        getattr(votrace, f"name_{number:04}", None)

def test_addresses_are_fixed():
    assert votrace._tools.addresses_are_fixed()

def test_look_up():
    look_up()

def test_by_address():
    bytes((id(object()) >> 12) % 4096)
"""


def test_the_same_tests_need_the_same_bytes(tmp_path: Path) -> None:
    with _tools.addresses(fixed=True):
        if not _tools.addresses_are_fixed():
            pytest.skip("the kernel does not let addresses be fixed")
    # What is in a folder of sys.path is in memory, and so is where in a file the output goes:
    # nothing is written there, and nothing to a file.
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_same.py").write_text(SAME)
    stores = [tmp_path / f"{number}.db" for number in range(2)]
    for store in stores:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--votrace"]
        # pytest-asyncio, where it is installed, has other memory in each run (docs/python.md).
        command += ["-p", "no:asyncio", f"--votrace-db={store}"]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    first, second = (stored(store) for store in stores)
    assert len(first) == 3 and first == second
