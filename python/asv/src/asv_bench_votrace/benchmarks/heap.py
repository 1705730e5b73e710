# SPDX-License-Identifier: BSD-3-Clause
"""peakheap_, netheap_ and allocs_: what one call of the benchmark asked of the allocator.

asv's process is not measured, and so the call is made in a fresh child. Everything of the benchmark
is there: setup and teardown are not run in asv's process, as they need not bear to be run twice at
the same time.
"""

import hashlib
import os
import re
import sys
from typing import Any, Dict, Optional, Sequence

from asv_runner.benchmarks._base import Benchmark, _get_first_attr  # type: ignore[import-untyped]
from asv_runner.benchmarks.mark import SkipNotImplemented  # type: ignore[import-untyped]

_TOP_PLACES = 3
_DEFAULTS: Dict[str, Any] = {"warmup": 1, "malloc": "malloc", "env": {}}


def _checked(name: str, settings: Dict[str, Any]) -> Dict[str, Any]:
    """@settings, or a ValueError with the benchmark's @name."""
    warmup, malloc, env = (settings[setting] for setting in _DEFAULTS)
    if not isinstance(warmup, int) or warmup < 0:
        raise ValueError(f"{name}: warmup is a number of calls, not {warmup!r}")
    if not isinstance(malloc, str):
        raise ValueError(f"{name}: malloc is a value of PYTHONMALLOC, not {malloc!r}")
    if not isinstance(env, dict) or not all(isinstance(v, str) for kv in env.items() for v in kv):
        raise ValueError(f"{name}: env is a dict of strings")
    return settings


class _HeapBenchmark(Benchmark):  # type: ignore[misc]
    """A call that is measured in a process of its own. Attributes, beside those of all benchmarks:

    warmup: calls before the one that is measured, each with its setup and teardown (1);
    malloc: PYTHONMALLOC of the process ("malloc");
    env: more variables of its environment.
    """

    kind = ""  # in asv's list of benchmarks
    field = ""  # of votrace.Measurement: the result
    by = ""  # of votrace.Site: whose places are shown
    unit = "bytes"
    version: str  # of the benchmark, by which asv tells what can be compared

    def __init__(self, name: str, func: Any, attr_sources: Sequence[Any]) -> None:
        Benchmark.__init__(self, name, func, attr_sources)
        self.type = self.kind
        self.unit = type(self).unit
        self._module = attr_sources[-1].__name__
        self._param_idx: Optional[int] = None
        self._settings = {
            setting: _get_first_attr(attr_sources, setting, default)
            for setting, default in _DEFAULTS.items()
        }
        if self._settings != _DEFAULTS and _get_first_attr(attr_sources, "version", None) is None:
            # Other settings, other figures: not to be compared with those of before.
            settings = repr(sorted(self._settings.items()))
            self.version = hashlib.sha256(f"{self.version}{settings}".encode()).hexdigest()
            self.version_alts = ()

    def set_param_idx(self, param_idx: int) -> None:
        Benchmark.set_param_idx(self, param_idx)
        self._param_idx = param_idx

    def _skips_parameters(self) -> bool:
        return tuple(self._current_params) in self._skip_tuples

    def do_setup(self) -> bool:
        """Nothing, here: True where asv need not go on."""
        return self._skips_parameters()

    def do_teardown(self) -> None:
        """Nothing, here."""

    def do_run(self) -> Any:
        if self._skips_parameters():
            return None
        if not sys.platform.startswith("linux"):
            return _skip(f"libvotrace.so cannot be preloaded on {sys.platform}")
        try:
            from .. import measured
        except ImportError as error:
            sys.exit(f"asv_bench_votrace: {error}: is votrace installed in {sys.prefix}?")
        settings = _checked(self.name, self._settings)
        root = list(sys.modules[self._module.partition(".")[0]].__path__)[0]
        name = self.name if self._param_idx is None else f"{self.name}-{self._param_idx}"
        try:
            measurement = measured.measure_benchmark(root, name, settings)
        except measured.NotHere as error:
            return _skip(str(error))
        self._tell(measurement, os.path.dirname(root))
        return self._result(measurement)

    def _tell(self, measurement: Any, suite: str) -> None:
        """What asv shows beside the figure, when it is asked to."""
        for amount, place in measurement.top(self.by, _TOP_PLACES):
            print(f"votrace: {amount:>14,} {self.unit}  {_short(place, suite)}")
        if not measurement.complete:
            print("votrace: the recorder missed something: the figure is not all of it")
        if not measurement.addresses_fixed:
            print("votrace: addresses could not be fixed: the figure may move by some bytes")

    def _result(self, measurement: Any) -> int:
        return int(getattr(measurement, self.field))

    def do_profile(self, filename: Optional[str] = None) -> None:
        """The profile is asv's: of a call in this process, with a setup of its own."""
        if Benchmark.do_setup(self):
            return
        try:
            Benchmark.do_profile(self, filename)
        finally:
            Benchmark.do_teardown(self)


def _short(place: str, suite: str) -> str:
    """@place with its file as Python would import it, from the folder of the @suite or others."""
    for folder in sorted({suite, *filter(None, sys.path)}, key=len, reverse=True):
        place = place.replace(f"({folder}{os.sep}", "(", 1)
    return place


def _skip(reason: str) -> Any:
    print(f"votrace: skipped: {reason}")
    raise SkipNotImplemented(reason)


class PeakHeapBenchmark(_HeapBenchmark):
    """What the call needed at its peak, on top of what was live when it began."""

    name_regex = re.compile("^(PeakHeap[A-Z_].+)|(peakheap_.+)$")
    kind = "peakheap"
    field = "peak_added"
    by = "bytes"


class NetHeapBenchmark(_HeapBenchmark):
    """What is live after the call that was not before it, its result included."""

    name_regex = re.compile("^(NetHeap[A-Z_].+)|(netheap_.+)$")
    kind = "netheap"
    field = "net"
    by = "kept"


class AllocsBenchmark(_HeapBenchmark):
    """How many blocks the call was handed out."""

    name_regex = re.compile("^(Allocs[A-Z_].+)|(allocs_.+)$")
    kind = "allocs"
    field = "blocks"
    by = "allocations"
    unit = "blocks"

    def _result(self, measurement: Any) -> int:
        return int(measurement.blocks - measurement.own_blocks)


export_as_benchmark = [PeakHeapBenchmark, NetHeapBenchmark, AllocsBenchmark]
