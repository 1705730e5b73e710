# SPDX-License-Identifier: BSD-3-Clause
"""The measured process: how a benchmark gets there, and what is done with it there."""

import pickle
import signal
import sys
from contextlib import contextmanager
from typing import Any, Dict, Iterator, Optional

import votrace

# First of asv's: it is what imports the plugins, and so this package's benchmarks.
from asv_runner.discovery import get_benchmark_from_name  # type: ignore[import-untyped]
from asv_runner.benchmarks._base import Benchmark  # type: ignore[import-untyped]
from asv_runner.benchmarks.mark import SkipNotImplemented  # type: ignore[import-untyped]


class NotHere(Exception):
    """The benchmark cannot be measured, or wants not to be: why."""


class _SetupSkips(Exception):
    """The benchmark's setup raised NotImplementedError; asv has printed that."""


class BenchmarkCall:
    """Makes a benchmark's call ready, in the child, the way asv does it in a process of its own."""

    def __init__(self, root: str, name: str) -> None:
        self.root = root
        self.name = name
        self.benchmark: Optional[Benchmark] = None

    def _load(self) -> Benchmark:
        benchmark = get_benchmark_from_name(self.root, self.name)
        cache = None
        if benchmark.setup_cache_key is not None:
            with open("cache.pickle", "rb") as file:
                cache = pickle.load(file)
        benchmark.set_cache(cache)
        return benchmark

    def __call__(self) -> votrace.Call:
        if self.benchmark is None:
            self.benchmark = self._load()
        benchmark = self.benchmark
        # Not its own, which leave them to this process.
        if Benchmark.do_setup(benchmark):
            Benchmark.do_teardown(benchmark)
            raise _SetupSkips
        return votrace.Call(
            benchmark.func,
            benchmark._build_params(),
            teardown=lambda: Benchmark.do_teardown(benchmark),
        )


@contextmanager
def _end_on_sigterm() -> Iterator[None]:
    """asv ends what takes too long by SIGTERM, and more than that soon after: tidy up meanwhile."""

    def leave(*_: Any) -> None:
        sys.exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def measure_benchmark(root: str, name: str, settings: Dict[str, Any]) -> votrace.Measurement:
    """Measure the benchmark @name of the suite in the folder @root; NotHere when it is skipped.

    Anything that goes wrong is a SystemExit with the words for asv's output: what was raised in the
    child comes with its traceback there, and without ours, which says nothing.
    """
    sys.stdout.flush()  # what the child prints comes after
    sys.stderr.flush()
    try:
        with _end_on_sigterm():
            return votrace.Measurer(**settings).measure_ready(BenchmarkCall(root, name))
    except votrace.StaticPython as error:
        raise NotHere(str(error)) from None
    except _SetupSkips:
        raise NotHere("its setup is not implemented") from None
    except SkipNotImplemented as error:
        raise NotHere(str(error) or "it says so") from None
    except (votrace.NotAvailable, votrace.ChildDied) as error:
        raise SystemExit(f"asv_bench_votrace: {error}") from None
    except (Exception, SystemExit) as error:  # a benchmark may end the program, too
        if isinstance(error.__cause__, votrace.Traceback):
            raise SystemExit(error.__cause__.args[0].rstrip()) from None
        raise
