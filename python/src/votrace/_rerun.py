# SPDX-License-Identifier: BSD-3-Clause
"""pytest, started again under libvotrace.so, and what it measured, put into a store.

The pytest that the user started only waits: tests run in the one it starts, with its arguments,
terminal and exit status. Its traces, and lists of the regions in them that are tests, are in a
folder that is gone afterwards.
"""

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

import pytest

from . import _region, _tools

_STARTED = "VOTRACE_PYTEST"  # "PID:FOLDER": the pytest that started this one, and its folder
_LIST = ".tests"
#: To have tests measured, in words.
HOW = "run `pytest --votrace ...`, or `votreport run --python --db runs.db -- python -m pytest ...`"
# `python -m pytest` has the current folder in front of sys.path, `pytest` that of its script.
_START = """
import runpy, sys
front = sys.argv.pop(1)
if sys.path[:1] == [""]:
    sys.path[0] = front
sys.argv[0] = "pytest"
runpy.run_module("pytest", run_name="__main__")
"""


def folder_of(config: pytest.Config) -> Optional[str]:
    """Where the pytest that started this one wants to find what was measured; None: nobody did.

    The variable is inherited by all that tests start: a pytest that one of them runs is another.
    """
    pid, _, folder = os.environ.get(_STARTED, "").partition(":")
    if folder and (hasattr(config, "workerinput") or pid == _tools.pid_text(os.getppid())):
        return folder
    return None


def is_wanted(config: pytest.Config) -> bool:
    """Is pytest to be started again under the library? UsageError when that was of no use."""
    if not config.option.votrace or config.option.help:
        return False
    started = folder_of(config) is not None
    if started and not _region.active():
        raise pytest.UsageError(f"--votrace: {_tools.not_recorded()}")
    # Measured, but by another pytest, one of whose tests has started this one: it is not ours.
    return not started and (not _region.active() or _STARTED in os.environ)


def append_to_list(folder: str, region: str, benchmark: str) -> None:
    """Say that @region in the trace of this process is the test @benchmark."""
    with open(Path(folder, f"{os.getpid()}{_LIST}"), "a", encoding="utf-8") as file:
        file.write(f"{region}\t{benchmark}\n")


def lists_in(folder: Path) -> List[Path]:
    """One of each process that measured tests: it has the process's number, as its trace has."""
    return sorted(folder.glob(f"*{_LIST}"))


def settings(environment: Mapping[str, str]) -> Dict[str, str]:
    """What tests that are compared must have in common: parameters of their benchmarks."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    if sys.implementation.name != "cpython":
        found["python"] = f"{sys.implementation.name} {found['python']}"
    # Unset is pymalloc, and `malloc` is what --votrace and `votreport run --python` set.
    malloc = environment.get("PYTHONMALLOC") or "pymalloc"
    if malloc != "malloc":
        found["malloc"] = malloc
    return found


def _command(arguments: Sequence[Any]) -> List[str]:
    """How to start pytest as this one was started."""
    command = _tools.interpreter_again()
    script = Path(sys.argv[0])
    if (script.parent.name, script.name) == ("pytest", "__main__.py"):
        command += ["-m", "pytest"]
    else:
        command += ["-c", _START, str(script.resolve().parent)]
    return command + [str(argument) for argument in arguments]


def _wait(child: "subprocess.Popen[bytes]") -> int:
    """Its exit status, as a shell would give it."""

    def pass_on(number: int, _: Any) -> None:
        child.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    while True:
        try:
            status = child.wait()
            return status if status >= 0 else 128 - status
        except KeyboardInterrupt:  # it has the terminal's as well, and ends as it sees fit
            continue


def run_again(config: pytest.Config, folder: Path) -> int:
    """Run pytest under the library, store what it measured if that is wanted: its exit status."""
    parameters = config.invocation_params
    if any(not isinstance(plugin, str) for plugin in parameters.plugins or ()):
        raise pytest.UsageError(
            "--votrace: plugins that were given to pytest.main() as objects cannot be taken along: "
            "run it under the library instead"
        )
    store = store_of(config)
    environment = _tools.measured_environment(folder)
    environment.setdefault("PYTHONMALLOC", "malloc")
    environment.setdefault("PYTHONHASHSEED", "0")
    environment[_STARTED] = f"{_tools.pid_text(os.getpid())}:{folder}"
    environment["VOTRACE_CHILDREN"] = "follow"  # a test may be run in one (pytest-forked)
    command = _command(parameters.args)
    with _tools.addresses(fixed=True):
        child = subprocess.Popen(command, env=environment, cwd=parameters.dir)
    status = _wait(child)
    if store is not None:
        _store_all(store, folder, environment)
    return status


def _store_all(store: Path, folder: Path, environment: Mapping[str, str]) -> None:
    """Store what is in @folder; NotAvailable, and the folder is kept, where something is not."""
    listed = lists_in(folder)
    lists = [path for path in listed if path.with_suffix(".vtr").is_file()]
    try:
        store_tests(store, lists, [path.with_suffix(".vtr") for path in lists], environment)
    except (_tools.NotAvailable, OSError) as error:
        kept = folder.rename(f"{folder}.kept")
        raise _tools.NotAvailable(
            f"{error}; what was measured is in {kept}, for `cat {kept}/*{_LIST} >regions` and "
            f"`votreport import --db STORE --regions regions {kept}/*.vtr`"
        ) from None
    if len(lists) < len(listed):
        raise _tools.NotAvailable(
            f"{len(listed) - len(lists)} of {len(listed)} processes could write no trace to "
            f"{folder.parent}, and their tests are not in {store}: is there no room?"
        )


def store_of(config: pytest.Config) -> Optional[Path]:
    """The one that --votrace-db names; NotAvailable when nothing can be stored there, which is
    better known before the tests."""
    if not config.option.votrace_db:
        return None
    _tools.find_votreport()
    store = Path(config.invocation_params.dir, config.option.votrace_db)
    if not store.exists() and not os.access(store.parent, os.W_OK):
        raise _tools.NotAvailable(f"{store}: it cannot be made there")
    if store.exists() and (not store.is_file() or store.stat().st_size > 0):
        _tools.votreport(["sql", str(store), "SELECT 1"])
    return store


def store_tests(
    store: Path,
    lists: Sequence[Path],
    traces: Sequence[Path],
    environment: Mapping[str, str],
    options: Sequence[str] = (),
) -> None:
    """Store what is in @lists, out of @traces of a Python in @environment. NotAvailable."""
    if not lists or not traces:
        return
    folder = lists[0].parent
    names = folder / "regions"
    names.write_bytes(b"".join(path.read_bytes() for path in lists))
    command = ["import", "--db", str(store), "--regions", str(names), *options]
    for key, value in settings(environment).items():
        command += ["--param", f"{key}={value}"]
    notes: List[str] = []
    _tools.votreport([*command, *map(str, traces)], notes)
    for note in notes:  # what was killed, or incomplete; the folder is of no use to anybody
        print(note.replace(f"{folder}{os.sep}", ""), file=sys.stderr)
