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
import os
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, Generator, List, Optional, Tuple

import pytest

from . import _base, _limits, _region, _rerun, _summary, _tools
from ._sites import Site, sites_of

_KEY: "pytest.StashKey[_limits.Marked]" = pytest.StashKey()
_RESULT: "pytest.StashKey[Result]" = pytest.StashKey()


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
        help="a test fails when its peak, or what it keeps, has grown since its newest run in this "
        "store; allocations: see --votrace-tolerance-allocs",
    )
    group.addoption(
        "--votrace-tolerance",
        metavar="SIZE",
        default="1 KiB",
        help="growth of the peak, and of what is kept, that is let pass (default: 1 KiB)",
    )
    group.addoption(
        "--votrace-tolerance-allocs",
        metavar="N",
        type=int,
        help="fail on growth of the number of allocations, too, by more than N blocks (otherwise "
        "it is listed: tests that wait, or have threads, need not allocate as often each time)",
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
        "votrace(peak, net, allocs, thread, warmup): limits of the memory that the test needs at "
        "its peak, keeps, and of its allocations; thread=True: of its own thread only",
    )
    if not config.option.votrace and not _region.active():
        for option in ("votrace_db", "votrace_compare"):
            if getattr(config.option, option):
                name = "--" + option.replace("_", "-")
                raise pytest.UsageError(f"{name}: nothing is measured here: {_rerun.HOW}")
    try:
        plugin = Plugin(config)
    except (ValueError, _tools.NotAvailable) as error:
        raise pytest.UsageError(f"votrace: {error}") from None
    config.pluginmanager.register(plugin, "votrace-session")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Optional[int]:
    """Start pytest again under the library, when --votrace asks for it."""
    if not _rerun.is_wanted(config):
        return None
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)
    try:
        with _tools.work_folder() as name:
            return _rerun.run_again(config, Path(name))
    except _tools.NotAvailable as error:
        raise pytest.UsageError(f"--votrace: {error}") from None


def benchmark_name(test: str) -> str:
    """The test's id as text of one line that can be stored anywhere."""
    line = test.replace("\t", " ").replace("\r", " ").replace("\n", " ")
    return line.encode(errors="backslashreplace").decode()


def region_name(test: str) -> str:
    """Its benchmark's name, shortened to what a region's name can hold, and yet its own."""
    encoded = benchmark_name(test).encode()
    if len(encoded) <= _region.NAME_BYTES_MAX and test != "process":
        return benchmark_name(test)
    end = "#" + hashlib.sha256(encoded).hexdigest()[:16]
    return encoded[len(end) - _region.NAME_BYTES_MAX :].decode(errors="ignore") + end


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


class Result:
    """What is known of one test that ran: all of it is plain data, to travel in its report."""

    def __init__(self, marked: _limits.Marked) -> None:
        self.numbers: Optional[_limits.Numbers] = None  #: None: not measured to its end
        self.has_limits = bool(marked.limits)
        self.failed = False  #: for another reason; a part of it (a subtest) may have
        self.over = False  #: a limit was not kept, or it has grown
        self.grown = False
        self.unlike: Optional[str] = None  #: why its earlier run cannot be compared; "": it was
        self.more_allocs = 0  #: than in that run
        self.warmup_left_out = False

    def data(self) -> Dict[str, Any]:
        numbers = None if self.numbers is None else list(self.numbers)
        return {**vars(self), "numbers": numbers}


def _own_sites(region: _region.region) -> List[Site]:
    """Of the newest instance of @region in this process, but for our own. NotAvailable."""
    with _tools.work_folder() as folder:
        shown = _tools.show_region(_tools.own_trace(), region.name, Path(folder, "sites.db"))
        sites = sites_of(shown, shown["regions"][-1])
        return [site for site in sites if not _tools.is_own(site.file)]


def _marks(item: pytest.Item) -> List[Any]:
    """Those of @item, the closest last: a set of parameters is closer than its function, which pytest
    has the other way around."""
    of_parameters = getattr(getattr(item, "callspec", None), "marks", ())
    marks = list(item.iter_markers("votrace"))[::-1]
    return sorted(marks, key=lambda mark: mark in of_parameters)


def _is_unittest(item: pytest.Item) -> bool:
    cls = getattr(item, "cls", None)
    return isinstance(cls, type) and issubclass(cls, unittest.TestCase)


class Plugin:
    """What one pytest process measures: all that it runs, or the tests with a mark."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.option
        self.config = config
        self.active = _region.active() and not _rerun.is_wanted(config)
        size = _limits.parse_bytes(option.votrace_tolerance)
        blocks = option.votrace_tolerance_allocs
        self.tolerance = _limits.Tolerance(size, size, blocks)
        self.all = bool(option.votrace or option.votrace_db or option.votrace_compare)
        self.base: Optional[_base.Base] = None
        self.ran: Dict[str, Dict[str, Any]] = {}  # by id; the last, where a test was repeated
        if option.votrace_warmup < 0:
            raise ValueError("--votrace-warmup takes a number that is not negative")
        if min(size, blocks or 0) < 0:
            raise ValueError("the growth that is let pass is not negative")
        self.folder: Optional[str] = None  # where to list what was measured
        self.own: Optional[Any] = None  # that folder, when nobody else wants it
        self.store = _rerun.store_of(config)
        self.store_fault = ""
        if not self.active:
            return
        self.base = _base.read_base(config)
        _region.rehearse()
        self.folder = _rerun.folder_of(config)
        if self.folder is None and self.store:
            self.own = _tools.work_folder()
            self.folder = self.own.name

    def pytest_collection_modifyitems(self, items: List[pytest.Item]) -> None:
        for item in items:
            marks = _marks(item)
            if not marks and not self.all:
                continue
            try:
                item.stash[_KEY] = _limits.read_marks(marks)
            except ValueError as error:
                raise pytest.UsageError(f"{item.nodeid}: its mark votrace: {error}") from None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Measure what is no function of pytest's own: methods of unittest's, doctests, others."""
        marked = item.stash.get(_KEY, None)
        if marked is None:
            yield
            return
        result = item.stash[_RESULT] = Result(marked)
        if not self.active or (isinstance(item, pytest.Function) and not _is_unittest(item)):
            yield
            return
        # setUp and tearDown are called by what calls the method, so they are left out.
        method = item.obj if isinstance(item, pytest.Function) else None
        if method is not None:
            holder, name = method.__self__, item.name
            replacement = self._in_region(item, method, marked)
        else:
            # What its first call leaves behind, a second might stumble over.
            result.warmup_left_out = self._warmup(marked) > 0
            holder, name = item, "runtest"
            replacement = self._in_region(item, item.runtest, marked._replace(warmup=0))
        setattr(holder, name, replacement)
        if isinstance(item, pytest.Function):
            item.obj = replacement
        try:
            yield
        finally:
            vars(holder).pop(name, None)
            if isinstance(item, pytest.Function):
                item.obj = method

    @pytest.hookimpl(hookwrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
        marked = pyfuncitem.stash.get(_KEY, None)
        if marked is None or not self.active:
            yield
            return
        function = pyfuncitem.obj
        pyfuncitem.obj = self._in_region(pyfuncitem, function, marked)
        try:
            yield
        finally:
            pyfuncitem.obj = function

    def _warmup(self, marked: _limits.Marked) -> int:
        if marked.warmup is None:
            return int(self.config.option.votrace_warmup)
        return marked.warmup

    def _in_region(
        self, item: pytest.Item, function: Callable[..., Any], marked: _limits.Marked
    ) -> Callable[..., Any]:
        """The test's function, measured and judged by whoever calls it."""
        region = _region.region(region_name(item.nodeid), thread=marked.thread)
        warmup = self._warmup(marked)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def coroutine_in_region(*args: Any, **kwargs: Any) -> Any:
                __tracebackhide__ = True
                for _ in range(warmup):
                    await function(*args, **kwargs)
                result = await _region.await_marked(region, function, args, kwargs)
                self._judge(item, region, marked)
                return result

            return coroutine_in_region

        @functools.wraps(function)
        def in_region(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            by_position, rest = _positional(function, kwargs)
            by_position, plain = args + by_position, function
            if inspect.ismethod(function):  # a call of which copies many arguments
                by_position, plain = (function.__self__, *by_position), function.__func__
            for _ in range(warmup):
                plain(*by_position, **rest)
            result = _region.call_marked(region, plain, by_position, rest)
            self._judge(item, region, marked)
            return result

        return in_region

    def _judge(self, item: pytest.Item, region: _region.region, marked: _limits.Marked) -> None:
        stats, result = region.stats, item.stash[_RESULT]
        if stats is None or result.failed:
            return
        result.numbers = _limits.Numbers(stats.peak_added, stats.net, stats.allocations)
        base, test = self.base, benchmark_name(item.nodeid)
        earlier = base.tests.get(test) if base else None
        result.unlike = earlier.unlike if earlier else None
        before = earlier.numbers if earlier and not earlier.unlike else None
        if before:
            result.more_allocs = max(0, result.numbers.allocs - before.allocs)
        over = _limits.excesses(result.numbers, marked.limits, before, self.tolerance)
        if not over:
            return
        result.over, result.grown = True, any(excess.grown for excess in over)
        sites, sites_before = self._sites(lambda: _own_sites(region)), []
        if base and result.grown:
            sites_before = self._sites(functools.partial(base.sites, test))
        words = _limits.explain(over, sites, sites_before, base.name if base else "")
        pytest.fail(words, pytrace=False)

    def _sites(self, find: Callable[[], List[Site]]) -> List[Site]:
        """What @find finds; none, with a warning, when that cannot be read. A test may have put
        anything in place of what that takes, open() say, and has to have its own verdict."""
        try:
            return find()
        except Exception as error:
            words = f"votrace: no places: {type(error).__name__}: {error}"
            self.config.issue_config_time_warning(pytest.PytestWarning(words), 2)
            return []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: "pytest.CallInfo[None]"
    ) -> Generator[None, Any, None]:
        outcome = yield
        result = item.stash.get(_RESULT, None)
        if result is None:
            return
        if call.when == "teardown":  # not before: a fixture may have put another open() in place
            self._list(item, result)
        if call.when != "call":
            return
        report = outcome.get_result()
        if not report.passed and not result.over:
            result.numbers = None  # it did not come to its end: no number to compare with
            result.failed = result.failed or report.failed
        report.votrace = result.data()

    def _list(self, item: pytest.Item, result: Result) -> None:
        if result.numbers is not None and self.folder is not None:
            test = benchmark_name(item.nodeid)
            _rerun.append_to_list(self.folder, region_name(item.nodeid), test)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        result = getattr(report, "votrace", None)
        if result is not None:
            self.ran[report.nodeid] = {**result, "passed": report.passed}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self.active or self.own is None or self.store is None:
            return
        # Somebody else's recording: it goes on, so that a snapshot has to do.
        with self.own as name:
            try:
                trace, lists = _tools.own_trace(), _rerun.lists_in(Path(name))
                _rerun.store_tests(self.store, lists, [trace], os.environ, ["--force"])
            except _tools.NotAvailable as error:
                self.store_fault = str(error)
                session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.store_fault:
            line = f"votrace: nothing was stored: {self.store_fault}"
            terminalreporter.write_line(line, red=True)
        _summary.write_notes(terminalreporter, self.ran, self.active)
        if self.base and not self.config.option.collectonly:
            by_name = {benchmark_name(test): row for test, row in self.ran.items()}
            judges_allocs = self.tolerance.allocs is not None
            _summary.write_comparison(terminalreporter, by_name, self.base, judges_allocs)
        if self.all:
            _summary.write_table(terminalreporter, self.ran)
