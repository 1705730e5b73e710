# SPDX-License-Identifier: BSD-3-Clause
import asyncio
import ctypes
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import votrace
from votrace import _region, _tools

HEADER = Path(__file__).resolve().parents[2] / "include" / "votrace.h"

# Since 3.12 the collector makes a string for those who want to be told of its begin and end.
COLLECTOR = sys.getsizeof("start") if sys.version_info >= (3, 12) else 0

# These run without the shim, whatever the tests themselves run under.
without_shim = pytest.mark.skipif(votrace.active(), reason="this process is measured")


def test_totals_mirror_the_header() -> None:
    text = HEADER.read_text().split("struct votrace_region_totals {")[1].split("};")[0]
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    fields = re.findall(r"(u?int64_t)\s+(\w+);", text)
    kinds = {"uint64_t": ctypes.c_uint64, "int64_t": ctypes.c_int64}
    assert [(name, kinds[kind]) for kind, name in fields] == _region.Totals._fields_
    assert ctypes.sizeof(_region.Totals) == 8 * len(fields)


@without_shim
def test_without_the_shim_regions_do_nothing() -> None:
    assert votrace.active() is False
    with votrace.region("a") as outer, votrace.region("b", thread=True):
        assert outer.stats is None
    assert outer.stats is None


def test_names_are_checked_when_they_are_given() -> None:
    for name in ["", "process", "a\0b", "x" * 64, "ä" * 32]:
        with pytest.raises(ValueError):
            votrace.region(name)
    assert votrace.region("ä" * 31).name == "ä" * 31
    with pytest.raises(TypeError, match=r"@votrace\.region\(\)"):

        @votrace.region  # type: ignore[arg-type]
        def forgotten() -> None: ...


def test_decorated_functions_keep_what_they_are() -> None:
    @votrace.region("adds")
    def add(a: int, b: int = 1) -> int:
        """Adds."""
        return a + b

    @votrace.region()
    async def wait(value: int) -> int:
        await asyncio.sleep(0)
        return value

    assert (add(1, b=2), add.__name__, add.__doc__) == (3, "add", "Adds.")
    assert asyncio.run(wait(4)) == 4


def test_generators_are_refused() -> None:
    def numbers():  # type: ignore[no-untyped-def]
        yield 1

    with pytest.raises(TypeError, match="runs in pieces"):
        votrace.region("n")(numbers)


def test_an_exception_ends_the_region(measured) -> None:  # type: ignore[no-untyped-def]
    is_open = measured(
        """
        marked = votrace.region("r")
        try:
            with marked:
                raise KeyError
        except KeyError:
            pass
        print(json.dumps(marked.stats.open))
        """
    )
    assert is_open is False


def test_stats_are_exact_while_it_runs_and_after(measured) -> None:  # type: ignore[no-untyped-def]
    running, ended = measured(
        """
        libc = ctypes.PyDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        libc.free.argtypes = [ctypes.c_void_p]
        with votrace.region("warm") as warm:
            pass
        warm.stats
        with votrace.region("r") as r:
            kept = libc.malloc(1000003)
            libc.free(libc.malloc(2000003))
            running = r.stats
        print(json.dumps([running._asdict(), r.stats._asdict()]))
        """
    )
    for stats in running, ended:
        assert 3000006 <= stats["peak_added"] < 3000006 + 2000
        assert 1000003 <= stats["net"] < 1000003 + 2000
        assert 3000006 <= stats["allocated_bytes"] < 3000006 + 10000
        assert stats["peak_added"] == stats["live_peak"] - stats["live_start"]
        assert stats["net"] == stats["live"] - stats["live_start"]
        assert stats["net"] == stats["allocated_bytes"] - stats["freed_bytes"]
    assert (running["open"], ended["open"]) == (True, False)


def test_an_empty_region_keeps_nothing(measured) -> None:  # type: ignore[no-untyped-def]
    added, net = measured(
        """
        from votrace._region import call_marked, rehearse
        rehearse()
        call_marked(votrace.region("first"), int, (), {})
        marked = votrace.region("second")
        call_marked(marked, int, (), {})
        print(json.dumps([marked.stats.peak_added, marked.stats.net]))
        """
    )
    assert net == 0
    assert 0 <= added <= COLLECTOR


def test_regions_nest_and_repeat(measured) -> None:  # type: ignore[no-untyped-def]
    seen = measured(
        """
        def keep(n):
            return bytes(n)
        with votrace.region("outer") as outer:
            a = keep(100000)
            with votrace.region("inner") as inner:
                b = keep(10000)
            first = inner.stats
            with votrace.region("inner") as again:
                c = keep(1000)
        try:
            inner.stats
            hidden = None
        except RuntimeError as error:
            hidden = str(error)
        print(json.dumps([outer.stats.net, first.net, again.stats.net,
                          first.instance, again.stats.instance, hidden]))
        """
    )
    assert 111000 < seen[0] < 114000
    assert 9800 < seen[1] < 10300
    assert 800 < seen[2] < 1300
    assert seen[3:5] == [1, 2]
    assert "younger region 'inner'" in seen[5]


def test_a_thread_region_has_its_thread_only(measured) -> None:  # type: ignore[no-untyped-def]
    own, whole = measured(
        """
        others = []
        def other():
            others.append(bytes(1000000))
        with votrace.region("whole") as whole, votrace.region("own", thread=True) as own:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            mine = bytes(100000)
        print(json.dumps([own.stats.peak_added, whole.stats.peak_added]))
        """
    )
    assert 100000 < own < 120000
    assert whole > 1100000


def test_a_forked_child_is_not_measured(measured) -> None:  # type: ignore[no-untyped-def]
    assert measured(
        """
        child = os.fork()
        if child == 0:
            os._exit(int(votrace.active()))
        status = os.waitpid(child, 0)[1]
        print(json.dumps([votrace.active(), os.WEXITSTATUS(status)]))
        """
    ) == [True, 0]


def test_the_interpreters_frames_between_two_functions_are_there_when_asked_for(
    measured: Any, tmp_path: Path
) -> None:
    measured(
        """
        def leaf(size): return bytearray(size)
        def outer(): return list(map(leaf, [100000]))
        with votrace.region("r"):
            kept = outer()
        print(0)
        """
    )
    (trace,) = tmp_path.glob("*.vtr")
    _tools.votreport(["import", "--db", str(tmp_path / "a.db"), str(trace)])
    stacks = {}
    for option in [], ["--native"]:
        command = ["show", str(tmp_path / "a.db"), "--region", "r", "--json", *option]
        shown = json.loads(_tools.votreport(command))
        sites = shown["regions"][0]["sites"]
        site = max(sites, key=lambda site: site["at_peak"] - site["live_start"])
        stacks[bool(option)] = [
            "" if frame["module"] != "[python]" else frame["function"]
            for frame in (shown["frames"][number] for number in site["stack"])
        ]
    folded, native = stacks[False], stacks[True]
    assert folded[folded.index("leaf") + 1] == "outer"
    between = native[native.index("leaf") + 1 : native.index("outer")]
    assert between and not any(between)
    assert [name for name in native if name] == [name for name in folded if name]
