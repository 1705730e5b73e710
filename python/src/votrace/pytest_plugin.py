# SPDX-License-Identifier: BSD-3-Clause
"""The pytest plugin: each test is a region, with limits of its own or those of an earlier run.

    @pytest.mark.votrace(peak="24 MiB", net="0 B")
    def test_parse(): ...

Tests are measured where pytest runs under libvotrace.so: `pytest --votrace` starts it there, and so
does `votreport run --python --db runs.db -- python -m pytest`. Without either, tests run as ever.
"""

import functools
import hashlib
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Generator, List, Optional, Tuple

import pytest

from . import _limits, _region, _tools
from ._sites import sites_of

_FOLDER = "VOTRACE_PYTEST"  # set by the pytest that started this one under the library
_HOW = (
    "run `pytest --votrace ...`, or `votreport run --python --db runs.db -- python -m pytest ...`"
)
_KEY: "pytest.StashKey[_limits.Marked]" = pytest.StashKey()
_NUMBERS: "pytest.StashKey[_limits.Numbers]" = pytest.StashKey()
_LISTED = 10
_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("votrace", "exact memory of tests (votrace)")
    group.addoption(
        "--votrace",
        action="store_true",
        help="measure tests: run pytest again, under libvotrace.so, unless it is there already",
    )
    group.addoption(
        "--votrace-db",
        metavar="STORE",
        help="store each test as a benchmark of its own, named by its id",
    )
    group.addoption(
        "--votrace-compare",
        metavar="STORE",
        help="a test fails when its peak, or what it keeps, has grown since the run in this store",
    )
    group.addoption(
        "--votrace-tolerance",
        metavar="SIZE",
        default="1 KiB",
        help="growth that is let pass (default: 1 KiB)",
    )
    group.addoption(
        "--votrace-warmup",
        metavar="N",
        type=int,
        default=0,
        help="call each measured test N times before, so that caches are not counted (default: 0)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "votrace(peak, net, allocs, thread, warmup): limits of the memory that the test needs at its "
        "peak, keeps, and of its allocations; thread=True: of its own thread only",
    )
    if not config.option.votrace and not _region.active():
        for option in ("votrace_db", "votrace_compare"):
            if getattr(config.option, option):
                name = "--" + option.replace("_", "-")
                raise pytest.UsageError(f"{name}: nothing is measured here: {_HOW}")
    try:
        plugin = Plugin(config)
    except (ValueError, _tools.NotAvailable) as error:
        raise pytest.UsageError(f"votrace: {error}") from None
    config.pluginmanager.register(plugin, "votrace-session")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Optional[int]:
    """Start pytest again under the library, when --votrace asks for it."""
    if not config.option.votrace or _region.active() or config.option.help:
        return None
    if _FOLDER in os.environ:
        raise pytest.UsageError(
            f"--votrace: libvotrace.so records nothing in {sys.executable}: it has to be dynamically "
            "linked, without privileges of its own, and for the same machine"
        )
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    try:
        with _tools.work_folder() as name:
            return _run_again(config, Path(name))
    except _tools.NotAvailable as error:
        raise pytest.UsageError(f"--votrace: {error}") from None


def _run_again(config: pytest.Config, folder: Path) -> int:
    environment = _tools.measured_environment(folder)
    environment.setdefault("PYTHONMALLOC", "malloc")
    environment.setdefault("PYTHONHASHSEED", "0")
    environment[_FOLDER] = str(folder)
    command = [sys.executable, *subprocess._args_from_interpreter_flags()]  # type: ignore
    command += ["-m", "pytest", *map(str, config.invocation_params.args)]
    child = subprocess.Popen(command, env=environment, cwd=config.invocation_params.dir)
    while True:
        try:
            status = child.wait()
            break
        except KeyboardInterrupt:  # it has the terminal's as well, and ends as it sees fit
            continue
    if config.option.votrace_db:
        _store(config, folder, sorted(folder.glob("*.vtr")), [])
    return status if status >= 0 else 128 - status


def _store(config: pytest.Config, folder: Path, traces: List[Path], options: List[str]) -> None:
    """Put the tests that were listed in @folder into the store."""
    lists = [path.read_bytes() for path in sorted(folder.glob("*.tests"))]
    pids = {path.stem for path in folder.glob("*.tests")}
    measured = [str(trace) for trace in traces if trace.stem in pids or options]
    if not lists or not measured:
        return
    names = folder / "tests.list"
    names.write_bytes(b"".join(lists))
    store = str(Path(config.invocation_params.dir, config.option.votrace_db))
    _tools.votreport(["import", "--db", store, "--regions", str(names), *options, *measured])


def region_name(test: str) -> str:
    """The test's id, shortened to what a region's name can hold, and yet its own."""
    encoded = test.encode()
    if len(encoded) <= 63 and test != "process":
        return test
    digest = hashlib.sha256(encoded).hexdigest()[:16]
    return encoded[-46:].decode(errors="ignore") + "#" + digest


def _positional(
    function: Callable[..., Any], kwargs: Dict[str, Any]
) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """As many of @kwargs by position as can be: keywords cost the call a dictionary."""
    rest = dict(kwargs)
    args = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD or name not in rest:
            break
        args.append(rest.pop(name))
    return tuple(args), rest


def _base_of(path: Path) -> Dict[str, _limits.Numbers]:
    """What each benchmark of a store needed in its newest run."""
    if not path.is_file():
        raise ValueError(f"--votrace-compare: {path}: there is no such store")
    question = "SELECT benchmark, peak_added, net, allocations FROM v_latest WHERE ordinal > 0"
    rows = json.loads(_tools.votreport(["sql", "--json", str(path), question]) or "[]")
    return {
        row["benchmark"]: _limits.Numbers(row["peak_added"], row["net"], row["allocations"])
        for row in rows
    }


class Plugin:
    """What one pytest process measures: all that it runs, or the tests with a mark."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.option
        self.config = config
        self.active = _region.active()
        self.slack = _limits.parse_bytes(option.votrace_tolerance)
        self.all = bool(option.votrace or option.votrace_db or option.votrace_compare)
        self.base: Dict[str, _limits.Numbers] = {}
        self.base_name = option.votrace_compare or ""
        self.unchecked = 0
        self.seen: List[Tuple[str, List[int]]] = []
        if option.votrace_warmup < 0:
            raise ValueError("--votrace-warmup takes a number that is not negative")
        if not self.active:
            return
        if option.votrace_compare:
            self.base = _base_of(Path(config.invocation_params.dir, option.votrace_compare))
        _region.rehearse()
        self.folder = os.environ.get(_FOLDER)
        self.own: Optional[Any] = None
        if self.folder is None and option.votrace_db:
            self.own = _tools.work_folder()
            self.folder = self.own.name

    def pytest_collection_modifyitems(self, items: List[pytest.Item]) -> None:
        for item in items:
            marks = list(item.iter_markers("votrace"))[::-1]
            if not marks and not self.all:
                continue
            try:
                item.stash[_KEY] = _limits.read_marks(marks)
            except ValueError as error:
                raise pytest.UsageError(f"{item.nodeid}: its mark votrace: {error}") from None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
        marked = pyfuncitem.stash.get(_KEY, None)
        if marked is None:
            yield
            return
        if not self.active:
            self.unchecked += bool(marked.limits)
            yield
            return
        function = pyfuncitem.obj
        pyfuncitem.obj = self._in_region(pyfuncitem, function, marked)
        try:
            yield
        finally:
            pyfuncitem.obj = function

    def _in_region(
        self, item: pytest.Function, function: Callable[..., Any], marked: _limits.Marked
    ) -> Callable[..., Any]:
        """The test's function, measured and judged by whoever calls it."""
        region = _region.region(region_name(item.nodeid), thread=marked.thread)
        warmup = self.config.option.votrace_warmup if marked.warmup is None else marked.warmup
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def coroutine_in_region(*args: Any, **kwargs: Any) -> Any:
                __tracebackhide__ = True
                for _ in range(warmup):
                    await function(*args, **kwargs)
                with region:
                    result = await function(*args, **kwargs)
                self._judge(item, region, marked)
                return result

            return coroutine_in_region

        @functools.wraps(function)
        def in_region(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            by_position, rest = _positional(function, kwargs)
            for _ in range(warmup):
                function(*args, *by_position, **rest)
            result = _region.call_marked(region, function, args + by_position, rest)
            self._judge(item, region, marked)
            return result

        return in_region

    def _judge(
        self, item: pytest.Function, region: _region.region, marked: _limits.Marked
    ) -> None:
        stats = region.stats
        if stats is None:
            return
        numbers = _limits.Numbers(stats.peak_added, stats.net, stats.allocations)
        item.stash[_NUMBERS] = numbers
        self._list(item.nodeid, region.name)
        base = self.base.get(item.nodeid)
        over = _limits.excesses(numbers, marked.limits, base, self.slack, self.base_name)
        if over:
            pytest.fail(_limits.explain(over, self._sites(region)), pytrace=False)

    def _list(self, test: str, name: str) -> None:
        if self.folder is None:
            return
        test = test.replace("\t", " ").replace("\n", " ")
        with open(Path(self.folder, f"{os.getpid()}.tests"), "a", encoding="utf-8") as file:
            file.write(f"{name}\t{test}\n")

    def _sites(self, region: _region.region) -> List[Any]:
        """The newest instance's, but our own; none, with a warning, when the trace cannot be read."""
        try:
            with _tools.work_folder() as folder:
                store = Path(folder, "sites.db")
                shown = _tools.show_region(_tools.own_trace(), region.name, store)
                sites = sites_of(shown, shown["regions"][-1])
                return [site for site in sites if not site.file.startswith(_OWN)]
        except _tools.NotAvailable as error:
            self.config.issue_config_time_warning(pytest.PytestWarning(f"votrace: {error}"), 2)
            return []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: "pytest.CallInfo[None]"
    ) -> Generator[None, Any, None]:
        outcome = yield
        numbers = item.stash.get(_NUMBERS, None)
        if numbers is not None and call.when == "call":
            outcome.get_result().votrace = list(numbers)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        numbers = getattr(report, "votrace", None)
        if numbers is not None:
            self.seen.append((report.nodeid, numbers))

    def pytest_sessionfinish(self) -> None:
        if self.active and self.own is not None:
            # Somebody else's recording: it goes on, so that a snapshot has to do.
            with self.own:
                if list(Path(self.folder or "").glob("*.tests")):
                    _store(self.config, Path(self.own.name), [_tools.own_trace()], ["--force"])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.unchecked:
            terminalreporter.write_line(
                f"votrace: limits of {self.unchecked} tests were not checked: {_HOW}", yellow=True
            )
        if not self.seen or not self.all:
            return
        terminalreporter.write_sep("-", "votrace: memory of tests")
        terminalreporter.write_line(f"{'peak added':>12} {'kept':>12} {'allocations':>12}  test")
        ordered = sorted(self.seen, key=lambda row: (-row[1][0], row[0]))
        for test, (peak, net, allocs) in ordered[:_LISTED]:
            sizes = f"{_limits.bytes_text(peak):>12} {_limits.bytes_text(net):>12}"
            terminalreporter.write_line(f"{sizes} {allocs:>12,}  {test}")
        if len(ordered) > _LISTED:
            terminalreporter.write_line(f"and {len(ordered) - _LISTED} more")
