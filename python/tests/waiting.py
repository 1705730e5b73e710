# SPDX-License-Identifier: BSD-3-Clause
"""Wait for what another process does, and see whether it is still there."""

import time
from pathlib import Path
from typing import Any, Callable


def wait_for(question: Callable[[], Any]) -> Any:
    """The first answer that is true; an AssertionError when none is for 20 seconds."""
    deadline = time.monotonic() + 20
    while not (answer := question()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return answer


def is_running(pid: int) -> bool:
    """False for one that has ended, also where nobody has asked for its status yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
