# SPDX-License-Identifier: BSD-3-Clause
"""Programs that the tests run in a measured process, and what they print."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Callable

import pytest

from votrace import _tools

pytest_plugins = ["pytester"]

_HEAD = "import ctypes, gc, json, os, threading\nimport votrace\n"


@pytest.fixture
def measured(tmp_path: Path) -> Callable[[str], Any]:
    """Run a program under libvotrace.so; the JSON that it prints."""

    def run(program: str) -> Any:
        environment = _tools.measured_environment(tmp_path)
        environment.update(PYTHONMALLOC="malloc", PYTHONHASHSEED="0")
        done = subprocess.run(
            [sys.executable, "-c", _HEAD + textwrap.dedent(program)],
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout)

    return run
