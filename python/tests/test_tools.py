# SPDX-License-Identifier: BSD-3-Clause
"""Where the library and votreport are, and what a process that is started under them gets."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

import votrace
from votrace import _tools


def test_tools_run_without_the_recorder(tmp_path: Path) -> None:
    environment = _tools.measured_environment(tmp_path)
    assert environment["LD_PRELOAD"].endswith("libvotrace.so")
    environment["LD_PRELOAD"] += ":/lib/libother.so"
    plain = _tools.plain_environment(environment)
    assert plain["LD_PRELOAD"] == "/lib/libother.so"
    assert not [name for name in plain if name in ("VOTRACE_OUTPUT", "VOTRACE_DEPTH")]


def test_a_library_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOTRACE_LIBRARY", "/nowhere/libvotrace.so")
    with pytest.raises(votrace.NotAvailable, match="VOTRACE_LIBRARY is /nowhere"):
        _tools.find_library()


def test_what_is_no_libvotrace_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    votreport = _tools.find_votreport()
    other = str(Path(sys.executable).resolve())
    monkeypatch.setenv("VOTRACE_LIBRARY", other)
    monkeypatch.setenv("VOTRACE_VOTREPORT", str(votreport))
    with pytest.raises(votrace.NotAvailable, match=f"{other} records nothing in "):
        votrace.measure(len, ())


def test_what_is_no_votreport_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOTRACE_VOTREPORT", "/bin/true")
    with pytest.raises(votrace.NotAvailable, match="true show answers with no JSON: is it a votreport"):
        votrace.measure(len, ())


def test_a_measured_process_finds_the_library_that_it_runs_under(
    measured: Callable[[str], Any],
) -> None:
    assert measured(
        """
        import json, os
        from votrace import _tools
        there = os.environ["LD_PRELOAD"]
        os.environ.clear()  # as a test may do it
        print(json.dumps(os.path.samefile(_tools.find_library(), there)))
        """
    )


def test_a_build_tree_is_found_by_where_pip_installed_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "a b" / "build" / "preload" / "libvotrace.so"
    for folder in (library.parent, tmp_path / "a b" / "preload"):
        folder.mkdir(parents=True)
    for file in (library, tmp_path / "a b" / "meson.build"):
        file.touch()
    older = tmp_path / "a b" / "build" / "gcc" / "preload" / "libvotrace.so"
    older.parent.mkdir(parents=True)
    older.touch()
    os.utime(older, (1, 1))
    noted = tmp_path / "site" / "votrace-0.dist-info" / "direct_url.json"
    noted.parent.mkdir(parents=True)
    noted.write_text(json.dumps({"url": (tmp_path / "a b" / "python").as_uri(), "dir_info": {}}))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))  # type: ignore[no-untyped-call]
    monkeypatch.delenv("VOTRACE_LIBRARY", raising=False)
    monkeypatch.setattr(_tools, "_prefixes", lambda: [])
    monkeypatch.setattr(_tools, "__file__", str(tmp_path / "site" / "votrace" / "_tools.py"))
    assert _tools.find_library() == library


def test_what_is_installed_goes_before_a_build_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "lib" / "votrace" / "libvotrace.so"
    votreport = tmp_path / "bin" / "votreport"
    for file in (library, votreport):
        file.parent.mkdir(parents=True)
        file.touch(0o755)
    monkeypatch.setenv("PATH", str(votreport.parent))
    for variable in ("VOTRACE_LIBRARY", "VOTRACE_VOTREPORT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(_tools, "_mapped_files", lambda: [])
    monkeypatch.setattr(_tools, "_build_trees", lambda: [tmp_path / "build"])
    assert (_tools.find_library(), _tools.find_votreport()) == (library, votreport)
    library.unlink()
    monkeypatch.setattr(_tools, "_prefixes", lambda: [tmp_path])
    assert _tools.find_library() == tmp_path / "build" / "preload" / "libvotrace.so"


def test_a_path_with_blanks_goes_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    os.symlink(_tools.find_library(), folder / "plain.so")
    (folder / "libvotrace.so").write_bytes(_tools.find_library().read_bytes())
    monkeypatch.setenv("VOTRACE_LIBRARY", str(folder / "libvotrace.so"))
    preload = _tools.measured_environment(tmp_path)["LD_PRELOAD"]
    assert " " not in preload and os.path.samefile(preload, folder / "libvotrace.so")


def test_addresses_are_fixed_for_what_is_started_meanwhile() -> None:
    ask = "import ctypes; print(ctypes.CDLL(None).personality(0xFFFFFFFF) & 0x0040000)"
    command = [sys.executable, "-c", ask]
    before = _tools.addresses_are_fixed()
    with _tools.addresses(fixed=True):
        if not _tools.addresses_are_fixed():
            pytest.skip("the kernel does not let addresses be fixed")
        assert int(subprocess.check_output(command)) != 0
        with _tools.addresses(fixed=False):
            assert int(subprocess.check_output(command)) == 0
        assert _tools.addresses_are_fixed()
    assert _tools.addresses_are_fixed() == before


def test_addresses_stay_random_where_the_kernel_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def refusing(persona: int) -> int:
        asked.append(persona)
        return 0 if persona == 0xFFFFFFFF else -1

    monkeypatch.setattr(_tools, "_personality", refusing)
    with _tools.addresses(fixed=True):
        assert not _tools.addresses_are_fixed()
    assert [persona for persona in asked if persona != 0xFFFFFFFF] == [0x0040000]


def test_a_process_number_takes_the_same_room_whatever_it_is() -> None:
    assert len(_tools.pid_text(1)) == len(_tools.pid_text(2**22))  # the largest that Linux has
    assert int(_tools.pid_text(1234)) == 1234


def test_a_measured_program_says_nothing_of_its_own_to_a_terminal(tmp_path: Path) -> None:
    environment = _tools.measured_environment(tmp_path)
    for summary, expected in ("no", b""), ("yes", b"votrace: heap peak"):
        assert summary == "yes" or environment["VOTRACE_SUMMARY"] == summary
        environment["VOTRACE_SUMMARY"] = summary
        ours, terminal = os.openpty()
        subprocess.run([sys.executable, "-c", "pass"], env=environment, stderr=terminal, check=True)
        os.write(terminal, b".")  # to read, where nothing else is
        said = os.read(ours, 1000)
        assert said.startswith(expected or b".")
        os.close(ours)
        os.close(terminal)


def test_a_static_program_is_known_by_its_headers(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc to make a static program with")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    for name, option in [("static", "-static"), ("dynamic", "-O1")]:
        subprocess.run(
            ["gcc", option, "-o", name, "main.c"], cwd=tmp_path, check=True, stdout=subprocess.PIPE
        )
    assert _tools.is_static(str(tmp_path / "static"))
    assert not _tools.is_static(str(tmp_path / "dynamic"))
    assert not _tools.is_static(sys.executable)
    assert not _tools.is_static(str(tmp_path / "main.c"))
