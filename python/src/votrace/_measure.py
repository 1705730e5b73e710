# SPDX-License-Identifier: BSD-3-Clause
"""Measure one call, in a fresh process that does nothing else.

The child is started as `multiprocessing` starts one with "spawn", and finds functions of the main
program in the same way; but it is a plain process, so that what it pickles back is its exception
only. The measured numbers come out of its trace, after its end.
"""

import dataclasses
import io
import os
import pickle
import signal
import subprocess
from multiprocessing import spawn
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional, Tuple

from . import _child
from ._child import Call
from ._sites import Frame, Site, sites_of, top_places
from ._tools import (
    PACKAGE,
    NotAvailable,
    addresses,
    interpreter_again,
    is_own,
    measured_environment,
    not_recorded,
    pid_text,
    show_region,
    work_folder,
)

__all__ = ["Call", "ChildDied", "Frame", "Measurement", "Measurer", "Site", "measure"]


class ChildDied(RuntimeError):
    """The child ended without a result: by @signal, or else with exit status @status."""

    def __init__(self, message: str, signal: Optional[int], status: Optional[int]) -> None:
        super().__init__(message)
        self.signal = signal
        self.status = status


@dataclasses.dataclass(frozen=True)
class Measurement:
    """What one call asked of the allocator: bytes of the heap as requested, and blocks."""

    peak_added: int  #: what it needed on top of what was live
    live_start: int  #: live when it was called
    live_peak: int  #: largest live meanwhile
    live_end: int  #: live when it had returned, its result included
    net: int  #: live_end - live_start
    blocks: int  #: blocks handed out
    frees: int  #: blocks given back
    total: int  #: the sum of the sizes of those handed out
    map_anon_peak_added: int  #: anonymous mappings that it made itself
    complete: bool  #: False: the recorder missed something
    addresses_fixed: bool  #: False: the kernel chose them anew, which may move a figure a little
    sites: List[Site] = dataclasses.field(repr=False)  #: most bytes at the peak first

    def top(self, by: str = "bytes", count: int = 5) -> List[Tuple[int, str]]:
        """The places in the code with most of it, sites of one place added up: at most @count, as
        (amount, place). @by is one of a site's numbers. What ends the region is none of them."""
        if by not in ("bytes", "kept", "blocks", "allocations", "total"):
            raise ValueError(f"by={by!r}: sites have bytes, blocks, kept, allocations and total")
        sites = [site for site in self.sites if not _ends_the_region(site)]
        return top_places(sites, lambda site: int(getattr(site, by)), count)

    @property
    def own_blocks(self) -> int:
        """How many of `blocks` ending the region took: a tuple, and what the collector makes."""
        return sum(site.allocations for site in self.sites if _ends_the_region(site))


def _ends_the_region(site: Site) -> bool:
    """Is it what happens after the call? A call of a C function is made from the same file."""
    name = site.function.rpartition(".")[2]
    return is_own(site.file) and name in ("__exit__", "_settle")


def _measurement(shown: Dict[str, Any], addresses_fixed: bool) -> Measurement:
    region = shown["regions"][0]
    return Measurement(
        peak_added=region["peak_added"],
        live_start=region["live_start"],
        live_peak=region["live_peak"],
        live_end=region["live_end"],
        net=region["net"],
        blocks=region["allocations"],
        frees=region["frees"],
        total=region["allocated_bytes"],
        map_anon_peak_added=region["map_anon"]["peak_added"],
        complete=shown["complete"],
        addresses_fixed=addresses_fixed,
        sites=sites_of(shown, region),
    )


class _Pickler(pickle.Pickler):
    """Refuses what is the main program's, where the child has none to find it in."""

    def reducer_override(self, value: Any) -> Any:
        if getattr(value, "__module__", None) == "__main__" and hasattr(value, "__qualname__"):
            raise ValueError(
                f"{value.__qualname__} is of a program without a file: it was typed, or read from "
                "standard input"
            )
        return NotImplemented


def _pickled(ready: Callable[[], Call], what: Any, main_program: bool) -> bytes:
    stream = io.BytesIO()
    try:
        (pickle.Pickler if main_program else _Pickler)(stream).dump(ready)
        return stream.getvalue()
    except Exception as error:
        name = getattr(what, "__qualname__", repr(what))
        raise TypeError(
            f"{name} or its arguments cannot be taken to a fresh process ({error}): use a function "
            "at the top of a module, and arguments that can be pickled"
        ) from error


def _preparation(main_program: bool) -> Dict[str, Any]:
    """What makes the child like this process: folder, paths, arguments, and the main program, as
    far as that has a file: a session that is typed has none, a notebook neither."""
    preparation = spawn.get_preparation_data("votrace")
    preparation.pop("authkey", None)  # of multiprocessing's own connections: a secret, not needed
    if not main_program:
        preparation.pop("init_main_from_name", None)
    if not main_program or not os.path.isfile(preparation.get("init_main_from_path", "")):
        preparation.pop("init_main_from_path", None)
    return preparation


def _has_main_program(preparation: Mapping[str, Any]) -> bool:
    return "init_main_from_name" in preparation or "init_main_from_path" in preparation


def _raise_death(status: int) -> NoReturn:
    if status >= 0:
        raise ChildDied(f"the child ended with exit status {status} and no result", None, status)
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    raise ChildDied(f"the child was killed by {name}", -status, None)


def _raise_as_there(answer: Dict[str, Any]) -> NoReturn:
    """The child's exception as itself, with the place where it was raised as its cause."""
    text = answer["traceback"]
    try:
        error = pickle.loads(answer["exception"]) if answer["exception"] else None
    except Exception:
        error = None
    if isinstance(error, BaseException):
        raise error from _child.Traceback(text)
    raise RuntimeError(f"in the measured process:\n{text}")


@dataclasses.dataclass(frozen=True)
class Measurer:
    """How to measure; a call of it measures: `Measurer(warmup=1)(parse, path)`.

    @warmup calls come before the one that is measured, so that caches and imports are not in it.
    @setup is called before each of them, in the child and not measured; what it returns is the
    call's first argument. @teardown is called after each, with that argument; without a @setup,
    with none.
    @malloc and @hash_seed are PYTHONMALLOC and PYTHONHASHSEED: with "malloc" every object is a
    block of its own, with "pymalloc" small ones come out of arenas of 256 KiB or 1 MiB, which are
    anonymous mappings. @addresses are "fixed", the same in each child, so that what depends on
    them is, too (where the kernel allows it: Measurement.addresses_fixed), or "random". @depth and
    @stacks are VOTRACE_DEPTH and VOTRACE_STACKS: how many frames a stack has at most, and whose
    are taken. @env has the last word on the child's environment. A child that takes longer than
    @timeout seconds is killed: subprocess.TimeoutExpired.
    """

    warmup: int = 0
    malloc: str = "malloc"
    hash_seed: str = "0"
    addresses: str = "fixed"
    depth: int = 256
    stacks: str = "region"
    timeout: Optional[float] = None
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    setup: Optional[Callable[[], Any]] = None
    teardown: Optional[Callable[..., Any]] = None

    def __post_init__(self) -> None:
        if self.addresses not in ("fixed", "random"):
            raise ValueError(f"addresses={self.addresses!r}: they are 'fixed' or 'random'")
        if self.stacks not in ("none", "region", "all"):
            raise ValueError(f"stacks={self.stacks!r}: they are 'none', 'region' or 'all'")
        if not 1 <= self.depth <= 256:
            raise ValueError(f"depth={self.depth}: a stack has 1 to 256 frames")
        if self.warmup < 0:
            raise ValueError(f"warmup={self.warmup}: it is a number of calls")

    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Measurement:
        _child.refuse_in_child()
        ready = _child.Prepared(Call(function, args, kwargs), self.setup, self.teardown)
        preparation = _preparation(True)
        pickled = _pickled(ready, function, _has_main_program(preparation))
        return self._measured(pickled, preparation)

    def measure_ready(self, ready: Callable[[], Call]) -> Measurement:
        """Measure a call that is put together in the child: @ready is taken there by pickle, and
        called before each call for the Call to make. The main program is not run again, so that
        nothing of it can be used; @setup and @teardown are not."""
        _child.refuse_in_child()
        return self._measured(_pickled(ready, ready, False), _preparation(False))

    def _measured(self, ready: bytes, preparation: Dict[str, Any]) -> Measurement:
        payload = pickle.dumps(
            {
                "preparation": preparation,
                "ready": ready,
                "warmup": self.warmup,
                "parent": pid_text(os.getpid()),
            }
        )
        with work_folder() as name:
            folder = Path(name)
            pid = self._run(folder, payload)
            answer = pickle.loads((folder / "answer").read_bytes())
            if answer["raised"]:
                _raise_as_there(answer)
            trace = folder / f"{pid}.vtr"
            if not answer["active"]:
                raise not_recorded()
            if not trace.is_file():
                where = folder.parent
                raise NotAvailable(f"no trace could be written to {where}: is there no room?")
            shown = show_region(trace, _child.REGION, folder / "store.db")
            return _measurement(shown, answer["addresses_fixed"])

    def _environment(self, folder: Path) -> Dict[str, str]:
        environment = measured_environment(folder, self.depth, self.stacks)
        environment["PYTHONMALLOC"] = self.malloc
        environment["PYTHONHASHSEED"] = self.hash_seed
        environment.update(self.env)
        return environment

    def _run(self, folder: Path, payload: bytes) -> int:
        (folder / "call").write_bytes(payload)
        # Not -m: the child finds this package where we have it, whatever its path says.
        command = [*interpreter_again(), os.path.join(PACKAGE, "_child.py"), str(folder)]
        environment = self._environment(folder)
        with addresses(fixed=self.addresses == "fixed"):
            child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
        try:
            status = child.wait(self.timeout)
        except BaseException:
            child.kill()
            child.wait()
            raise
        if not (folder / "answer").is_file():
            _raise_death(status)
        return child.pid


def measure(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Measurement:
    """Call @function in a fresh process and tell what it asked of the allocator.

    It is found there by its module and name, as pickle does; its result is thrown away after the
    measurement. What it raises is raised here. See Measurer for what can be changed.
    """
    return Measurer()(function, *args, **kwargs)
