# SPDX-License-Identifier: BSD-3-Clause
import functools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict

import pytest
import workloads
from waiting import is_running, wait_for

import votrace
from votrace import _tools
from votrace._sites import sites_of

HEADER = sys.getsizeof(b"")  # of every bytes object, its final NUL included


def test_numbers_are_exact_and_add_up() -> None:
    measurement = votrace.Measurer(warmup=1)(workloads.keep, 50, size=10000)
    expected = 50 * (10000 + HEADER)
    assert expected <= measurement.net <= expected + 1000
    assert measurement.net <= measurement.peak_added <= measurement.net + 1000
    assert measurement.peak_added == measurement.live_peak - measurement.live_start
    assert measurement.net == measurement.live_end - measurement.live_start
    assert measurement.total >= expected and measurement.blocks >= 50
    assert sum(site.bytes for site in measurement.sites) == measurement.peak_added
    assert sum(site.kept for site in measurement.sites) == measurement.net
    assert sum(site.allocations for site in measurement.sites) == measurement.blocks
    assert sum(site.total for site in measurement.sites) == measurement.total


@pytest.mark.parametrize("function", [workloads.look_up, workloads.by_address])
def test_the_same_call_gives_the_same_measurement(function: Callable[[], Any]) -> None:
    first, *others = (votrace.measure(function) for _ in range(4))
    if not first.addresses_fixed:
        pytest.skip("the kernel does not let addresses be fixed")
    for other in others:
        assert other == first  # to the byte, with all sites


def test_addresses_are_random_when_that_is_wanted() -> None:
    if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
        pytest.skip("the kernel's addresses are never random here")
    measurer = votrace.Measurer(addresses="random")
    measurements = [measurer(workloads.by_address) for _ in range(3)]
    assert not any(measurement.addresses_fixed for measurement in measurements)
    assert len({measurement.net for measurement in measurements}) > 1
    with pytest.raises(ValueError, match="'fixed' or 'random'"):
        votrace.Measurer(addresses="none")


BESIDE = """
import votrace

def work():
    for number in range(3000):
        getattr(votrace, f"name_{number:04}", None)
    return bytes((id(object()) >> 12) % 4096)

if __name__ == "__main__":
    print(votrace.measure(work))
"""


def test_folders_beside_the_package_do_not_matter(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    shutil.copytree(Path(votrace.__file__).parent, beside / "path" / "votrace")
    script = tmp_path / "script.py"
    script.write_text(BESIDE)
    environment = {
        **os.environ,
        "PYTHONPATH": str(beside / "path"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "VOTRACE_LIBRARY": str(_tools.find_library()),
    }
    before, after = "", ""
    for count in (0, 300):  # from 257 on, the number is an object of its own
        for number in range(count):
            (beside / str(number)).mkdir()
        before = after
        after = subprocess.check_output([sys.executable, script], env=environment, text=True)
    if "addresses_fixed=False" in before:
        pytest.skip("the kernel does not let addresses be fixed")
    assert before == after


def test_what_is_kept_does_not_depend_on_addresses() -> None:
    measurer = votrace.Measurer(addresses="random")
    first, *others = (measurer(workloads.look_up) for _ in range(4))
    for other in others:
        assert (other.net, other.blocks, other.frees, other.total) == (
            first.net,
            first.blocks,
            first.frees,
            first.total,
        )


def test_sites_name_the_python_line() -> None:
    measurement = votrace.measure(workloads.keep, 3, size=10000)
    source = Path(workloads.__file__)
    line = source.read_text().splitlines().index("        blocks.append(bytes(size))") + 1
    site = measurement.sites[0]
    assert (site.function, site.line, Path(site.file).name) == ("keep", line, source.name)
    assert site.stack[-1].function  # out to where the program begins
    assert measurement.top()[0][1] == site.place
    assert str(votrace.Frame("f", "a.py", 0, "[python]")) == "f (a.py)"  # a line that is not known
    # The interpreter may take another way to the same once it knows the code; and a list has grown.
    blocks = [it for it in measurement.sites if it.place == site.place and it.bytes >= 10000]
    assert sum(it.bytes for it in blocks) == 3 * (10000 + HEADER)
    assert sum(it.blocks for it in blocks) == 3


def test_a_place_is_pythons_where_an_extension_has_sources_too() -> None:
    frames = [
        {"function": "grow", "file": "buffer.c", "line": 7, "module": "/opt/_fast.so"},
        {"function": "parse", "file": "/opt/table.py", "line": 3, "module": "[python]"},
        {"function": "main", "file": "/opt/main.py", "line": 9, "module": "[python]"},
    ]
    row = {"function": "grow", "file": "buffer.c", "line": 7, "space": "heap", "at_peak": 50}
    row.update(dict.fromkeys(("blocks_at_peak", "allocations"), 1), allocated_bytes=50)
    row.update(dict.fromkeys(("live_start", "blocks_start", "live_end"), 0))
    stacks = [[0, 1, 2], [0], []]
    shown = {"frames": frames}
    region = {"sites": [{**row, "stack": stack} for stack in stacks]}
    places = [site.place for site in sites_of(shown, region)]
    assert places == ["parse (/opt/table.py:3)", "grow (buffer.c:7)", "[no stack]"]


def test_what_a_call_needs_in_between_is_in_its_peak_only() -> None:
    measurement = votrace.Measurer(warmup=1)(workloads.churn, 1000000)
    assert 1000000 + HEADER <= measurement.peak_added <= 1000000 + HEADER + 500
    assert measurement.net == 0


def test_mappings_of_the_program_are_apart_from_the_heap() -> None:
    measurement = votrace.Measurer(warmup=1)(workloads.map_memory, 1 << 20)
    assert measurement.map_anon_peak_added == 1 << 20
    assert measurement.peak_added < 10000
    assert sum(site.bytes for site in measurement.sites) == measurement.peak_added


def test_warm_up_keeps_caches_out() -> None:
    assert votrace.measure(workloads.fill_cache).net >= 500000
    assert votrace.Measurer(warmup=1)(workloads.fill_cache).net == 0


def test_nothing_is_nothing() -> None:
    measurement = votrace.Measurer(warmup=1)(workloads.nothing)
    assert measurement.net == 0
    # Since 3.12 the collector makes a string for those who want to be told of its begin and end.
    assert 0 <= measurement.peak_added <= sys.getsizeof("start")


def test_a_result_that_cannot_be_pickled_does_not_matter() -> None:
    assert votrace.measure(workloads.unpicklable_result).net > 0


def test_exceptions_come_back_as_themselves() -> None:
    with pytest.raises(ValueError) as caught:
        votrace.measure(workloads.fail)
    assert caught.value.args == ("wrong", 42)
    assert "in fail" in str(caught.value.__cause__)
    with pytest.raises(SystemExit) as quit_:
        votrace.measure(workloads.quit)
    assert quit_.value.code == 9


def test_an_exception_that_cannot_be_pickled_is_told() -> None:
    with pytest.raises(RuntimeError, match="Unpicklable: cannot be made again"):
        votrace.measure(workloads.fail_oddly)


def test_a_child_that_dies_is_an_error_with_its_signal() -> None:
    with pytest.raises(votrace.ChildDied, match="SIGKILL") as caught:
        votrace.measure(workloads.die)
    assert (caught.value.signal, caught.value.status) == (signal.SIGKILL, None)
    with pytest.raises(votrace.ChildDied) as left:
        votrace.measure(workloads.leave)
    assert (left.value.signal, left.value.status) == (None, 7)


def test_a_fork_that_comes_back_as_well_does_not_answer() -> None:
    measurement = votrace.measure(workloads.come_back_twice)
    assert measurement.blocks > 0
    assert not measurement.complete  # what the fork allocates is not in it


def test_any_keyword_can_be_given() -> None:
    assert votrace.measure(workloads.with_names, function=1000, self=2000, args=3000).net > 6000


@pytest.mark.parametrize(
    "setting", [{"stacks": "some"}, {"depth": 0}, {"depth": 257}, {"warmup": -1}]
)
def test_settings_that_mean_nothing_are_refused(setting: Dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(setting))):
        votrace.Measurer(**setting)


def test_a_trace_that_finds_no_room_is_told() -> None:
    size, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, most))
    try:
        with pytest.raises(votrace.NotAvailable, match="no trace could be written"):
            votrace.measure(workloads.nothing)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))


@pytest.mark.parametrize("option", ["-E", "-I"])
def test_a_python_that_ignores_its_environment_measures_every_object(option: str) -> None:
    program = """
import math, votrace
for malloc in "malloc", "pymalloc":
    print(votrace.Measurer(malloc=malloc)(math.factorial, 2000).blocks)
"""
    plain, ignores = (
        subprocess.run(
            [sys.executable, *options, "-c", program], stdout=subprocess.PIPE, check=True
        ).stdout
        for options in ([], [option])
    )
    assert ignores == plain
    objects, large = map(int, plain.split())
    assert objects > large


def test_what_cannot_be_taken_along_is_refused() -> None:
    with pytest.raises(TypeError, match="top of a module"):
        votrace.measure(lambda: None)


@pytest.mark.parametrize(
    "name, value", [("PYTHONMALLOC", "malloc"), ("PYTHONHASHSEED", "0"), ("VOTRACE_DEPTH", "256")]
)
def test_the_environment_is_set(name: str, value: str) -> None:
    with pytest.raises(KeyError) as caught:
        votrace.measure(workloads.environment, name)
    assert caught.value.args == (value,)


def test_the_environment_can_be_changed() -> None:
    measurer = votrace.Measurer(malloc="pymalloc", hash_seed="7", depth=20, env={"OTHER": "x"})
    for name, value in [
        ("PYTHONMALLOC", "pymalloc"),
        ("PYTHONHASHSEED", "7"),
        ("VOTRACE_DEPTH", "20"),
        ("OTHER", "x"),
    ]:
        with pytest.raises(KeyError) as caught:
            measurer(workloads.environment, name)
        assert caught.value.args == (value,)


def test_a_setup_runs_before_each_call_and_is_not_measured(tmp_path: Path) -> None:
    measurer = votrace.Measurer(
        warmup=2, setup=functools.partial(workloads.make, str(tmp_path)), teardown=workloads.unmake
    )
    measurement = measurer(workloads.use, 50000)
    assert (tmp_path / "log").read_text().split() == 3 * ["setup", "teardown"]
    assert 50000 + HEADER <= measurement.net <= 50000 + HEADER + 200
    assert not (tmp_path / "made").exists()


def test_what_the_setup_made_and_the_call_lets_go_of_is_negative() -> None:
    measurement = votrace.Measurer(warmup=1, setup=workloads.big)(workloads.drop)
    assert -1000000 - HEADER - 200 <= measurement.net <= -1000000 - HEADER
    assert measurement.peak_added == 0


def test_a_teardown_runs_after_a_call_that_raises(tmp_path: Path) -> None:
    setup = functools.partial(workloads.make, str(tmp_path))
    with pytest.raises(ValueError, match="wrong"):
        votrace.Measurer(setup=setup, teardown=workloads.unmake)(workloads.fail_with)
    assert (tmp_path / "log").read_text().split() == ["setup", "call", "teardown"]


def test_a_method_is_called_without_copying_its_arguments() -> None:
    measurer, sizes = votrace.Measurer(warmup=1), range(1000, 1012)
    method, function = measurer(workloads.Method().keep, *sizes), measurer(workloads.each, *sizes)
    assert method.blocks == function.blocks
    assert method.peak_added - 8 <= function.peak_added <= method.peak_added


def test_top_adds_up_sites_of_a_place() -> None:
    measurement = votrace.Measurer(warmup=1)(workloads.keep, 7, 3000)
    ((kept, place),) = measurement.top("kept", 1)
    assert 0 <= kept - 7 * (3000 + HEADER) <= 100  # and the list's own
    assert place.startswith("keep (") and kept > max(site.kept for site in measurement.sites)
    with pytest.raises(ValueError, match="allocations"):
        measurement.top("most")


def test_top_has_what_a_function_in_c_does() -> None:
    measurement = votrace.Measurer(warmup=1)(sorted, range(1000))
    assert measurement.top("kept", 1)[0][0] >= 8000


def test_what_ends_the_region_is_told_apart() -> None:
    measurement = votrace.Measurer(warmup=1)(workloads.nothing)
    assert measurement.blocks == measurement.own_blocks > 0
    assert measurement.top("allocations") == []


def test_a_child_does_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    script = tmp_path / "script.py"
    script.write_text(
        "import votrace, workloads\n"
        f'if __name__ == "__main__":\n    votrace.measure(workloads.sleep_long, {str(mark)!r})\n'
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(workloads.__file__).parent)}
    parent = subprocess.Popen([sys.executable, str(script)], env=environment)
    child = int(wait_for(lambda: mark.is_file() and mark.read_text()))
    parent.kill()
    parent.wait()
    wait_for(lambda: not is_running(child))


def test_a_child_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with pytest.raises(subprocess.TimeoutExpired):
        votrace.Measurer(timeout=2)(workloads.sleep_long, str(mark))
    assert not mark.exists() or not is_running(int(mark.read_text()))


SCRIPT = """
import votrace

def work():
    return bytes(100000)

{guard}
    print(votrace.Measurer(warmup=1)(work).net)
"""


def test_functions_of_the_main_program_are_found(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(guard='if __name__ == "__main__":'))
    done = subprocess.run([sys.executable, str(script)], stdout=subprocess.PIPE, check=True)
    assert int(done.stdout) == 100000 + HEADER


def test_a_program_without_a_file_measures_what_is_in_modules() -> None:
    program = """
import json, votrace

def work():
    return bytes(100000)

found = [votrace.Measurer(warmup=1)(bytes, 100000).net]
try:
    votrace.measure(work)
except TypeError as error:
    found.append(str(error))
print(json.dumps(found))
"""
    for command, text in ([sys.executable, "-"], program), ([sys.executable, "-c", program], ""):
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True)
        net, words = json.loads(done.stdout)
        assert net == 100000 + HEADER
        assert "work is of a program without a file" in words and "top of a module" in words


def test_a_main_program_without_guard_is_told(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(guard="if True:"))
    done = subprocess.run([sys.executable, str(script)], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert b"put the call under" in done.stderr
