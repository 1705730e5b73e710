# SPDX-License-Identifier: BSD-3-Clause
"""Where libvotrace.so and votreport are, how to run under the one, and what the other says."""

import contextlib
import ctypes
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

#: Variables of the recorder: a tool that is started from a measured process is not to have them.
_PREFIX = "VOTRACE_"
_MAGIC = b"votrace\n"  # of a trace
_ADDR_NO_RANDOMIZE = 0x0040000  # <sys/personality.h>
_PERSONALITY_ASKED = 0xFFFFFFFF
_PT_INTERP = 3  # a row of an ELF file's program headers: the loader that starts it
_KEPT = ("VOTRACE_LIBRARY", "VOTRACE_VOTREPORT")
# Not resolved: in the child, too, that would ask for each folder above, and a folder's number of
# folders is an object of its own from 257 on, which moves all that comes after it.
PACKAGE = os.path.dirname(os.path.abspath(__file__))


class NotAvailable(RuntimeError):
    """Nothing can be measured here: the library or votreport is missing, or it is not preloaded."""


class StaticPython(NotAvailable):
    """Nothing can be preloaded into this interpreter, wherever the library is."""


def is_static(program: str) -> bool:
    """Is @program an ELF file that no dynamic loader starts? False for what is none."""
    with open(program, "rb") as file:
        head = file.read(64)
        if len(head) < 52 or head[:4] != b"\x7fELF":
            return False
        order, wide = "<>"[head[5] == 2], head[4] == 2
        (table,) = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)
        size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
        file.seek(table)
        rows = file.read(size * count)
    kinds = [struct.unpack_from(order + "I", rows, size * row)[0] for row in range(count)]
    return _PT_INTERP not in kinds


def not_recorded() -> NotAvailable:
    """Why the library, which is there, records nothing in this interpreter."""
    if is_static(sys.executable):
        return StaticPython(f"{sys.executable} is statically linked: nothing can be preloaded")
    return NotAvailable(
        f"{find_library()} records nothing in {sys.executable}: that has to be dynamically linked, "
        "without privileges of its own, and the library to be libvotrace.so for the same machine"
    )


def is_own(file: str) -> bool:
    """Is @file one of this package's, as tracebacks and sites name it?"""
    return file.startswith(PACKAGE + os.sep)


def _installed_from() -> List[Path]:
    """The path that pip has installed this package from (PEP 610), and its folders; none: []."""
    import importlib.metadata
    import urllib.parse

    try:
        noted = importlib.metadata.distribution("votrace").read_text("direct_url.json")
        url = urllib.parse.urlsplit(json.loads(noted or "{}").get("url", ""))
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return []
    path = Path(urllib.parse.unquote(url.path))
    return [path, *path.parents] if url.scheme == "file" else []


def _build_trees() -> Iterator[Path]:
    """Build folders of the sources that this package is used or installed from, newest first."""
    for parent in [*Path(__file__).resolve().parents, *_installed_from()]:
        if (parent / "meson.build").is_file() and (parent / "preload").is_dir():
            libraries = list(parent.glob("build*/preload/libvotrace.so"))
            libraries += parent.glob("build*/*/preload/libvotrace.so")
            libraries.sort(key=lambda path: path.stat().st_mtime, reverse=True)
            yield from (path.parent.parent for path in libraries)
            return


def _prefixes() -> List[Path]:
    """Where `meson install` may have put both: beside PATH's votreport, and the usual places."""
    found = shutil.which("votreport")
    prefixes = [Path(found).resolve().parent.parent] if found else []
    return prefixes + [Path(sys.prefix), Path("/usr/local"), Path("/usr")]


def _mapped_files() -> Iterator[Tuple[str, Path]]:
    """What this process has mapped, with its permissions; some of it may be gone."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            rows = [line.rstrip("\n").split(None, 5) for line in maps]
    except OSError:
        return
    for row in rows:
        if len(row) == 6 and row[5].startswith("/"):
            yield row[1], Path(row[5])


def _from_environment(variable: str) -> Optional[Path]:
    value = os.environ.get(variable)
    if not value:
        return None
    path = Path(value)
    if not path.is_file():
        raise NotAvailable(f"{variable} is {value}: there is no such file")
    return path.resolve()


def find_library() -> Path:
    """libvotrace.so: VOTRACE_LIBRARY, else the one in this process, else installed, else in a build
    tree."""
    named = _from_environment("VOTRACE_LIBRARY")
    if named is not None:
        return named
    for _, path in _mapped_files():
        if path.name == "libvotrace.so" and path.is_file():
            return path
    for prefix in _prefixes():
        for folder in [prefix / "lib" / "votrace", *prefix.glob("lib/*-linux-*/votrace")]:
            if (folder / "libvotrace.so").is_file():
                return (folder / "libvotrace.so").resolve()
        if (prefix / "preload" / "libvotrace.so").is_file():
            return (prefix / "preload" / "libvotrace.so").resolve()
    for tree in _build_trees():
        return tree / "preload" / "libvotrace.so"
    raise NotAvailable("libvotrace.so is not installed: set VOTRACE_LIBRARY to its path")


def find_votreport() -> Path:
    """votreport: VOTRACE_VOTREPORT, else with the library, installed or built, else in PATH."""
    named = _from_environment("VOTRACE_VOTREPORT")
    if named is not None:
        return named
    library = find_library()
    places = [library.parent.parent / "report" / "votreport"]
    places += [parent / "bin" / "votreport" for parent in library.parents]
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return place
    found = shutil.which("votreport")
    if found:
        return Path(found)
    raise NotAvailable(f"there is no votreport with {library}: set VOTRACE_VOTREPORT to its path")


def _without_library(preload: str) -> str:
    parts = preload.replace(" ", ":").split(":")
    return ":".join(part for part in parts if part and Path(part).name != "libvotrace.so")


def plain_environment(environment: Optional[Mapping[str, str]] = None) -> Dict[str, str]:
    """@environment (else ours) without the recorder."""
    plain = dict(os.environ if environment is None else environment)
    for name in list(plain):
        if name.startswith(_PREFIX) and name not in _KEPT:
            del plain[name]
    preload = _without_library(plain.pop("LD_PRELOAD", ""))
    if preload:
        plain["LD_PRELOAD"] = preload
    return plain


def interpreter_again() -> List[str]:
    """This Python with the options that it was started with, as a command to go on with: but
    without -E, and what of -I is -E, with which it would leave out PYTHONMALLOC; of the variables
    that it left out, measured_environment() has none then."""
    options = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    kept = [option for option in options if option not in ("-E", "-I")]
    if sys.flags.isolated:
        kept += ["-s", "-P"] if sys.version_info >= (3, 11) else ["-s"]
    return [sys.executable, *kept]


def measured_environment(folder: Path, depth: int = 256, stacks: str = "region") -> Dict[str, str]:
    """Ours, with the library preloaded. Traces go to @folder, a name for each process."""
    library = find_library()
    environment = plain_environment()
    if sys.flags.ignore_environment:  # see interpreter_again()
        for name in [name for name in environment if name.startswith("PYTHON")]:
            del environment[name]
    if " " in str(library) or ":" in str(library):
        # The loader splits LD_PRELOAD there.
        link = folder / "libvotrace.so"
        if not link.is_symlink():
            link.symlink_to(library)
        library = link
    behind = environment.get("LD_PRELOAD")
    environment["LD_PRELOAD"] = f"{library}:{behind}" if behind else str(library)
    environment["VOTRACE_OUTPUT"] = f"{str(folder).replace('%', '%%')}/%p.vtr"
    environment["VOTRACE_DEPTH"] = str(depth)
    environment["VOTRACE_STACKS"] = stacks
    environment["VOTRACE_SUMMARY"] = "no"  # it names a trace that is gone when anybody looks
    return environment


def _personality(persona: int) -> int:
    """personality(2) of this thread: what it was before, and -1 where it cannot be had."""
    try:
        function = ctypes.CDLL(None).personality
    except (AttributeError, OSError):
        return -1
    function.argtypes = [ctypes.c_ulong]
    return int(function(persona))


def addresses_are_fixed() -> bool:
    """Has this thread, and what it starts, the same addresses in each process?"""
    now = _personality(_PERSONALITY_ASKED)
    return now != -1 and now & _ADDR_NO_RANDOMIZE != 0


@contextlib.contextmanager
def addresses(fixed: bool = True) -> Iterator[None]:
    """What this thread starts meanwhile, and what that starts, gets the same addresses from the
    kernel each time; not @fixed: random ones. Where it may not be changed (a container's filter of
    system calls may forbid it) it stays as it is: addresses_are_fixed() says so there."""
    before = _personality(_PERSONALITY_ASKED)
    wanted = before | _ADDR_NO_RANDOMIZE if fixed else before & ~_ADDR_NO_RANDOMIZE
    changed = before not in (-1, wanted) and _personality(wanted) != -1
    try:
        yield
    finally:
        if changed:
            _personality(before)


def pid_text(pid: int) -> str:
    """A process's number in text of one length: what is measured has it in its memory."""
    return f"{pid:010}"


def work_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="votrace.")


def votreport(arguments: Sequence[str], notes: Optional[List[str]] = None) -> str:
    """What votreport prints; NotAvailable with its own words when it cannot. Lines that it had to
    say beside that are added to @notes."""
    command = [str(find_votreport()), *arguments]
    try:
        done = subprocess.run(
            command,
            env=plain_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
    except OSError as error:
        raise NotAvailable(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip()
        raise NotAvailable(words or f"{command[0]} ended with status {done.returncode}")
    if notes is not None:
        notes += done.stderr.decode(errors="replace").splitlines()
    return done.stdout.decode(errors="surrogateescape")


def votreport_json(arguments: Sequence[str], if_nothing: str = "") -> Any:
    """What votreport prints, as JSON; @if_nothing for what prints none. NotAvailable."""
    said = votreport(arguments)
    try:
        return json.loads(said or if_nothing)
    except ValueError:
        raise NotAvailable(
            f"{find_votreport()} {arguments[0]} answers with no JSON: is it a votreport?"
        ) from None


def own_trace() -> Path:
    """The trace that this process is being recorded into: it is mapped here, shared."""
    for permissions, path in _mapped_files():
        if permissions.startswith("rw-s") and path.is_file():
            try:
                with open(path, "rb") as file:
                    if file.read(8) == _MAGIC:
                        return path
            except OSError:
                continue
    raise NotAvailable("the trace of this process cannot be found: was it deleted?")


def show_region(trace: Path, region: str, store: Path) -> Dict[str, Any]:
    """Import @trace, of a process that may still run, into @store, and give what
    `votreport show --json` says of one region."""
    votreport(["import", "--db", str(store), "--force", "--name", "votrace", str(trace)])
    command = ["show", str(store), "--name", "votrace", "--region", region, "--json"]
    shown: Dict[str, Any] = votreport_json(command)
    return shown
