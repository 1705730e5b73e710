# SPDX-License-Identifier: BSD-3-Clause
"""What the tests measure: functions that a fresh process can import."""

import os
import signal
import sys
from typing import Any, List

cache: List[bytes] = []


class Unpicklable(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__("cannot be made again")


def nothing() -> None:
    pass


def keep(count: int, size: int = 1000) -> Any:
    blocks = []
    for number in range(count):
        blocks.append(bytes(size))
    return blocks


def churn(size: int) -> None:
    bytes(size)


def fill_cache() -> None:
    if not cache:
        cache.append(bytes(500000))


def unpicklable_result() -> Any:
    return lambda: None


def fail() -> None:
    raise ValueError("wrong", 42)


def fail_oddly() -> None:
    raise Unpicklable(1, 2)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    os._exit(7)


def environment(name: str) -> None:
    raise KeyError(os.environ.get(name))


def quit() -> None:
    sys.exit(9)
