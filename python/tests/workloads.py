# SPDX-License-Identifier: BSD-3-Clause
"""What the tests measure: functions that a fresh process can import."""

import atexit
import mmap
import os
import signal
import sys
import time
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


def look_up(count: int = 3000) -> Any:
    """Names that are nowhere else: the interpreter's cache of methods keeps some, by address."""
    for number in range(count):
        getattr(cache, f"name_{number:04}", None)
    return keep(20)


def by_address() -> Any:
    """A different size when addresses differ."""
    return bytes((id(object()) >> 12) % 4096)


def churn(size: int) -> None:
    bytes(size)


def map_memory(size: int) -> None:
    mmap.mmap(-1, size).close()


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


def come_back_twice() -> None:
    child = os.fork()
    if child:  # which ends after this process has told how the call went
        atexit.register(os.waitpid, child, 0)
    else:
        time.sleep(0.1)


def with_names(**named: int) -> bytes:
    return bytes(sum(named.values()))


def quit() -> None:
    sys.exit(9)


def make(folder: str) -> str:
    """A setup that leaves a mark, and must not run while another of its kind does."""
    os.mkdir(os.path.join(folder, "made"))
    log(folder, "setup")
    return folder


def unmake(folder: str) -> None:
    os.rmdir(os.path.join(folder, "made"))
    log(folder, "teardown")


def log(folder: str, word: str) -> None:
    with open(os.path.join(folder, "log"), "a", encoding="ascii") as file:
        file.write(word + "\n")


def use(folder: str, size: int) -> bytes:
    assert os.path.isdir(os.path.join(folder, "made"))
    return bytes(size)


def fail_with(folder: str) -> None:
    log(folder, "call")
    raise ValueError("wrong")


def big() -> List[bytes]:
    return [bytes(1000000)]


def drop(blocks: List[bytes]) -> None:
    blocks.clear()


def each(*sizes: int) -> List[bytes]:
    return [bytes(size) for size in sizes]


class Method:
    def keep(self, *sizes: int) -> List[bytes]:
        return [bytes(size) for size in sizes]


def sleep_long(mark: str) -> None:
    with open(mark, "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
