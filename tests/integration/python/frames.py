# SPDX-License-Identifier: BSD-3-Clause
"""Allocations of known sizes by known stacks of Python functions: test_frames.sh has the list.

No size occurs twice, so that the bytes of a stack tell which it is. A bytearray of n bytes is
one block of n + 1.
"""
import threading

kept = []


def keep(size):
    kept.append(bytearray(size - 1))


class Table:
    def parse(self):
        self.rows(1000003)

    def rows(self, size):
        keep(size)


def by_key():
    sorted([1], key=lambda _: keep(1000033))


def generated():
    keep(1000037)
    yield 1


def recursive(depth):
    if depth > 0:
        recursive(depth - 1)
    else:
        keep(1000039)


def größe():
    keep(1000081)


def made(size):
    """Functions that are gone before the next takes their place."""
    for name in "first", "second", "third":
        names = {"keep": keep}
        exec("def %s(size):\n    keep(size)\n" % name, names)
        names[name](size)
        size += 2
        del names


def after_an_error():
    try:
        missing  # noqa: F821
    except NameError:
        keep(1000117)


def main():
    Table().parse()
    by_key()
    for _ in generated():
        pass
    recursive(3)
    größe()
    made(1000121)
    after_an_error()
    thread = threading.Thread(target=keep, args=(1000133,))
    thread.start()
    thread.join()
    (lambda: [keep(size) for size in (1000151,)])()


main()
