# SPDX-License-Identifier: BSD-3-Clause
"""The asv plugin: single benchmarks as asv runs them, and asv itself on a small repository."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Dict, NamedTuple

import pytest

pytest.importorskip("asv", reason="asv is not installed")
pytest.importorskip("asv_bench_votrace", reason="asv_bench_votrace is not installed")

from asv.runner import BENCHMARK_RUN_SCRIPT
from asv_bench_votrace import measured
from asv_bench_votrace.benchmarks import heap
from asv_runner.benchmarks.mark import SkipNotImplemented
from waiting import is_running, wait_for

HEADER = sys.getsizeof(b"")  # of every bytes object, its final NUL included

SUITE = '''
import os, sys, time

kept = []

def note(word):
    with open(os.environ["NOTES"], "a") as file:
        file.write(f"{word} {os.getpid()}\\n")

def peakheap_big():
    bytes(1000000)

def netheap_leak():
    kept.append(bytes(5000))
    kept.pop(0) if len(kept) > 1 else None

def netheap_returned():
    return bytes(700)

def netheap_nothing():
    bytes(1000)

def allocs_some():
    return [bytes(100) for _ in range(50)]

def allocs_nothing():
    pass

def allocs_more():
    return [bytes(100) for _ in range(60)]

def peakheap_first():
    if not kept:
        kept.append(bytes(100000))
peakheap_first.warmup = 0

def peakheap_second():
    if not kept:
        kept.append(bytes(100000))

def peakheap_said():
    print("on stdout")
    print("on stderr", file=sys.stderr)

def peakheap_fails():
    raise ValueError("really wrong")

def peakheap_quits():
    sys.exit(0)

def peakheap_dies():
    os.kill(os.getpid(), 11)

def peakheap_skips():
    from asv_runner.benchmarks.mark import SkipNotImplemented
    raise SkipNotImplemented("not for us")

def peakheap_wrong():
    pass
peakheap_wrong.warmup = -1

def peakheap_slow():
    note("slow")
    time.sleep(60)
peakheap_slow.timeout = 5

def peakheap_environment():
    bytes(int(os.environ["SIZE"]))
peakheap_environment.env = {"SIZE": "30000"}

class Sizes:
    params = ([10000, 20000, 30000], ["a", "b"])
    param_names = ["size", "word"]
    skip_params = [(20000, "a")]

    def setup(self, size, word):
        if size == 30000:
            raise NotImplementedError("no 30000")
        self.junk = bytes(10 * size)

    def teardown(self, size, word):
        note("teardown")

    def PeakHeapSize(self, size, word):
        bytes(size)

class Cached:
    def setup_cache(self):
        return [bytes(1000) for _ in range(100)]

    def setup(self, cache):
        os.mkdir("only-one")
        note("setup")

    def teardown(self, cache):
        os.rmdir("only-one")
        note("teardown")

    def peakheap_copy(self, cache):
        note("call")
        return [bytes(len(row)) for row in cache]
'''


class Run(NamedTuple):
    status: int
    result: Any  #: None when there is none
    output: str
    notes: str


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "things.py").write_text(SUITE)
    return folder


def run(suite: Path, name: str, profile: str = "None", **environment: str) -> Run:
    """Run one benchmark as asv's spawner does, in the folder that the suite is in."""
    notes, result = suite.parent / "notes", suite.parent / "result"
    environment = {**os.environ, "NOTES": str(notes), **environment}
    words = [sys.executable, BENCHMARK_RUN_SCRIPT]
    if name.startswith("things.Cached"):
        subprocess.run(
            [*words, "setup_cache", str(suite), name, "{}"], cwd=suite.parent, check=True
        )
    done = subprocess.run(
        [*words, "run", str(suite), name, "{}", profile, str(result)],
        cwd=suite.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Run(
        done.returncode,
        json.loads(result.read_text()) if result.is_file() else None,
        done.stdout,
        notes.read_text() if notes.is_file() else "",
    )


def test_a_peak_is_that_of_the_call_with_its_line(suite: Path) -> None:
    first, second = run(suite, "things.peakheap_big"), run(suite, "things.peakheap_big")
    assert first.result == second.result == 1000000 + HEADER
    line = SUITE.splitlines().index("    bytes(1000000)") + 1
    assert f"bytes  peakheap_big (benchmarks/things.py:{line})" in first.output


@pytest.mark.parametrize(
    "name, kept", [("leak", 0), ("returned", 700 + HEADER), ("nothing", 0)], ids=str
)
def test_net_is_what_is_kept_with_the_result(suite: Path, name: str, kept: int) -> None:
    assert run(suite, f"things.netheap_{name}").result == kept


def test_blocks_are_counted(suite: Path) -> None:
    some, more = run(suite, "things.allocs_some"), run(suite, "things.allocs_more")
    assert run(suite, "things.allocs_nothing").result == 0
    assert some.result >= 50
    assert 10 <= more.result - some.result <= 13  # and the list's own
    assert "blocks  allocs_some" in some.output


def test_a_warm_up_can_be_left_out(suite: Path) -> None:
    assert run(suite, "things.peakheap_first").result >= 100000
    assert run(suite, "things.peakheap_second").result <= sys.getsizeof("start")  # the collector's


def test_variables_of_the_environment_are_set(suite: Path) -> None:
    assert run(suite, "things.peakheap_environment").result >= 30000


def test_output_appears_once_for_each_call(suite: Path) -> None:
    output = run(suite, "things.peakheap_said").output
    assert output.count("on stdout\n") == output.count("on stderr\n") == 2


@pytest.mark.parametrize("index, size", [(0, 10000), (1, 10000), (3, 20000)])
def test_parameters_come_by_their_index(suite: Path, index: int, size: int) -> None:
    assert run(suite, f"things.Sizes.PeakHeapSize-{index}").result == size + HEADER


@pytest.mark.parametrize(
    "name, reason",
    [
        ("Sizes.PeakHeapSize-2", ""),
        ("Sizes.PeakHeapSize-5", "asv: skipped: NotImplementedError('no 30000')"),
        ("peakheap_skips", "votrace: skipped: not for us"),
    ],
)
def test_what_is_to_be_skipped_is_not_a_number(suite: Path, name: str, reason: str) -> None:
    done = run(suite, f"things.{name}")
    assert done.status == 0 and math.isnan(done.result)
    assert reason in done.output
    # As asv does it: after a setup that says that there is nothing to do, too.
    assert done.notes.split()[::2] == (["teardown"] if name.endswith("-5") else [])


def test_setup_and_teardown_run_around_each_call_in_the_child(suite: Path) -> None:
    done = run(suite, "things.Cached.peakheap_copy")
    assert 100 * (1000 + HEADER) <= done.result <= 100 * (1000 + HEADER) + 5000
    words = [line.split() for line in done.notes.splitlines()]
    assert [word for word, _ in words] == 2 * ["setup", "call", "teardown"]
    assert len({pid for _, pid in words}) == 1


def test_a_profile_has_a_setup_of_its_own(suite: Path) -> None:
    profile = suite.parent / "profile"
    done = run(suite, "things.Cached.peakheap_copy", profile=str(profile))
    assert done.status == 0 and done.result >= 100000
    assert done.notes.split()[::2] == 3 * ["setup", "call", "teardown"]
    assert profile.stat().st_size > 0


def test_an_exception_is_shown_as_the_benchmark_raised_it(suite: Path) -> None:
    done = run(suite, "things.peakheap_fails")
    assert done.status == 1 and done.result is None
    lines = done.output.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert re.fullmatch(r'  File ".*/things.py", line \d+, in peakheap_fails', lines[1])
    assert lines[-1] == "ValueError: really wrong" and len(lines) <= 5


def test_a_benchmark_that_ends_the_program_is_a_failure(suite: Path) -> None:
    done = run(suite, "things.peakheap_quits")
    assert done.status == 1 and done.result is None
    assert "in peakheap_quits" in done.output and done.output.endswith("SystemExit: 0\n")


def test_a_signal_is_named(suite: Path) -> None:
    done = run(suite, "things.peakheap_dies")
    assert (done.status, done.output) == (
        1,
        "asv_bench_votrace: the child was killed by SIGSEGV\n",
    )


def test_a_library_that_is_not_there_is_a_failure_in_one_line(suite: Path) -> None:
    done = run(suite, "things.peakheap_big", VOTRACE_LIBRARY="/nowhere/libvotrace.so")
    assert (done.status, done.result) == (1, None)
    assert done.output == (
        "asv_bench_votrace: VOTRACE_LIBRARY is /nowhere/libvotrace.so: there is no such file\n"
    )


def test_a_setting_that_makes_no_sense_is_refused(suite: Path) -> None:
    done = run(suite, "things.peakheap_wrong")
    assert done.status == 1
    assert "things.peakheap_wrong: warmup is a number of calls, not -1" in done.output


# ---- what this machine is not ----


def big() -> None:
    bytes(1000000)


def benchmark(**attributes: Any) -> heap.PeakHeapBenchmark:
    module = types.ModuleType("benchmarks.made")
    source = types.SimpleNamespace(**attributes)
    return heap.PeakHeapBenchmark("made.big", big, [source, module])


def test_other_systems_skip_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SkipNotImplemented):
        benchmark().do_run()
    assert capsys.readouterr().out == (
        "votrace: skipped: libvotrace.so cannot be preloaded on darwin\n"
    )


def test_without_the_package_votrace_it_fails_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import asv_bench_votrace

    monkeypatch.delattr(asv_bench_votrace, "measured")
    monkeypatch.delitem(sys.modules, "asv_bench_votrace.measured")
    monkeypatch.setitem(sys.modules, "votrace", None)
    with pytest.raises(SystemExit, match="asv_bench_votrace: .*is votrace installed in"):
        benchmark().do_run()


def test_a_static_python_skips_with_a_reason(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc to make a static program with")
    source = tmp_path / "static.c"
    source.write_text(
        "#include <stdlib.h>\n#include <unistd.h>\n"
        'int main(int argc, char **argv) { unsetenv("LD_PRELOAD");'
        f' return execv("{sys.executable}", argv); }}\n'
    )
    python = tmp_path / "python-static"
    subprocess.run(["gcc", "-static", "-o", str(python), str(source)], check=True)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(measured.NotHere, match="python-static is statically linked"):
        measured.measure_benchmark(str(suite), "things.peakheap_big", {})


def test_what_the_figure_is_not_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measurement = types.SimpleNamespace(
        peak_added=5, complete=False, addresses_fixed=False, top=lambda by, count: []
    )
    monkeypatch.setattr(measured, "measure_benchmark", lambda *_: measurement)
    monkeypatch.setitem(sys.modules, "benchmarks", types.SimpleNamespace(__path__=["/suite"]))
    assert benchmark().do_run() == 5
    assert capsys.readouterr().out.splitlines() == [
        "votrace: the recorder missed something: the figure is not all of it",
        "votrace: addresses could not be fixed: the figure may move by some bytes",
    ]


def test_other_settings_are_another_version() -> None:
    versions = [
        benchmark(**attributes).version
        for attributes in ({}, {"warmup": 0}, {"malloc": "pymalloc"}, {"env": {"A": "b"}})
    ]
    assert len(set(versions)) == 4
    assert benchmark(warmup=1).version == versions[0]
    assert benchmark(warmup=0, version="7").version == "7"


# ---- asv itself ----

BEFORE = '''
def parse(rows):
    return b"".join(row.upper() for row in rows)
'''
AFTER = '''
_seen = []

def parse(rows):
    upper = [row.upper() for row in rows]
    _seen.append(upper[0])
    return b"".join(upper) + b"!"
'''
PARSE = '''
import leaky

def setup_cache():
    return [b"x" * 1000] * 100

def netheap_parse(rows):
    leaky.parse(rows)

def peakheap_parse(rows):
    leaky.parse(rows)

def allocs_join(rows):
    b"".join(rows)

def peakheap_join(rows):
    b"".join(rows)
'''
INSTALL = """
import shutil, sys, sysconfig
lib = sysconfig.get_path("purelib")
shutil.copy("leaky.py", lib)
with open(lib + "/here.pth", "w") as file:
    file.write(sys.argv[1])
"""


def asv(folder: Path, *arguments: str, status: int = 0, **environment: str) -> str:
    """What asv prints, after it has ended with @status."""
    environment = {
        **os.environ,
        "HOME": str(folder),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-m", "asv", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def configure(folder: Path, **settings: Any) -> None:
    machine = {"machine": "name", "os": "", "arch": "", "cpu": "", "num_cpu": "", "ram": ""}
    (folder / ".asv-machine.json").write_text(json.dumps({"version": 1, "name": machine}))
    settings = {
        "version": 1,
        "project": "leaky",
        "repo": ".",
        "branches": ["main"],
        "benchmark_dir": "benchmarks",
        "env_dir": ".env",
        "results_dir": ".results",
        "html_dir": ".html",
        **settings,
    }
    (folder / "asv.conf.json").write_text(json.dumps(settings))


def commit(folder: Path) -> None:
    git = ["git", "-c", "user.name=Name", "-c", "user.email=name@example.org"]
    for words in (["add", "-A"], ["commit", "-q", "-m", "state"]):
        subprocess.run([*git, *words], cwd=folder, check=True)


def needs_git() -> None:
    if shutil.which("git") is None:
        pytest.skip("there is no git")


def changed(table: str) -> Dict[str, str]:
    """The benchmarks of asv's comparison, and the sign of each."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    return {row[-1]: row[0] for row in rows if len(row) == 5 and row[-1].startswith("memory.")}


def test_continuous_flags_the_leak_and_the_growth_and_nothing_else(tmp_path: Path) -> None:
    needs_git()
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    (tmp_path / "packages").symlink_to(Path(measured.__file__).parent.parent)
    (tmp_path / ".gitignore").write_text(".*\npackages\n")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "memory.py").write_text(PARSE)
    (tmp_path / "install.py").write_text(INSTALL)
    configure(
        tmp_path,
        environment_type="virtualenv",
        pythons=[f"{sys.version_info[0]}.{sys.version_info[1]}"],
        build_command=[],
        uninstall_command=[],
        install_command=["in-dir={build_dir} python install.py {conf_dir}/packages"],
    )
    for source in (BEFORE, AFTER):
        (tmp_path / "leaky.py").write_text(source)
        commit(tmp_path)

    # What asv installs into its environments is here already: pip need not ask an index.
    offline = {
        "ASV_PYTHONPATH": str(Path(measured.__file__).parent.parent),
        "PIP_NO_INDEX": "1",
        "VIRTUALENV_NO_PERIODIC_UPDATE": "1",
    }
    flags = ["--factor", "1.01"]
    table = asv(tmp_path, "continuous", "HEAD~1", "HEAD", *flags, status=1, **offline)
    worse = {"memory.netheap_parse": "+", "memory.peakheap_parse": "+"}
    assert changed(table) == worse
    assert "PERFORMANCE DECREASED" in table

    table = asv(tmp_path, "compare", "HEAD~1", "HEAD", *flags)
    assert {name for name, sign in changed(table).items() if sign} == set(worse)
    assert "memory.allocs_join" in changed(table)
    assert "memory.netheap_parse" in asv(tmp_path, "show", "HEAD")
    asv(tmp_path, "publish")
    assert list(tmp_path.glob(".html/graphs/**/memory.peakheap_parse.json"))


def asv_run(suite: Path, launch: str, choice: str, status: int) -> Dict[str, Any]:
    """The results of the benchmarks of @choice in this very environment, by name."""
    needs_git()
    folder = suite.parent
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    configure(folder, environment_type="existing", pythons=["same"])
    commit(folder)
    where = ["-E", "existing", "--set-commit-hash", "HEAD", "--launch-method", launch]
    notes = str(folder / "notes")
    asv(folder, "run", *where, "--show-stderr", "-b", choice, status=status, NOTES=notes)
    (path,) = (path for path in folder.glob(".results/name/*.json") if path.name != "machine.json")
    return {name: row[0] for name, row in json.loads(path.read_text())["results"].items()}


@pytest.mark.parametrize("launch", ["spawn", "forkserver"])
def test_asv_run_stores_the_figures(suite: Path, launch: str) -> None:
    results = asv_run(suite, launch, r"peakheap_big|PeakHeapSize\(10000|peakheap_copy", 0)
    assert results["things.peakheap_big"] == [1000000 + HEADER]
    assert results["things.Cached.peakheap_copy"][0] >= 100000
    assert results["things.Sizes.PeakHeapSize"][:2] == [10000 + HEADER] * 2


def test_a_timeout_leaves_no_child(suite: Path) -> None:
    """asv's server kills the benchmark's process only, where its spawner kills a whole group."""
    assert asv_run(suite, "forkserver", "peakheap_slow", 2) == {"things.peakheap_slow": None}
    notes = (suite.parent / "notes").read_text()
    child = int(notes.split()[1])
    wait_for(lambda: not is_running(child))


def test_a_benchmark_that_is_ended_leaves_nothing_behind(suite: Path) -> None:
    notes, temporary = suite.parent / "notes", suite.parent / "temporary"
    temporary.mkdir()
    words = ["run", str(suite), "things.peakheap_slow", "{}", "None", str(suite.parent / "result")]
    process = subprocess.Popen(
        [sys.executable, BENCHMARK_RUN_SCRIPT, *words],
        cwd=suite.parent,
        env={**os.environ, "NOTES": str(notes), "TMPDIR": str(temporary)},
    )
    child = int(wait_for(lambda: notes.is_file() and notes.read_text()).split()[1])
    assert list(temporary.glob("votrace.*"))
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM
    wait_for(lambda: not is_running(child))
    assert not list(temporary.glob("votrace.*"))


def test_asv_finds_nothing_wrong_with_the_suite(suite: Path) -> None:
    command = [sys.executable, BENCHMARK_RUN_SCRIPT, "check", str(suite)]
    assert subprocess.check_output(command) == b""
