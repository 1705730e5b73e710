# SPDX-License-Identifier: BSD-3-Clause
"""A small patch of astropy's reading of BINARY and BINARY2, for astropy_votable.py to compare with.

astropy's parser collects the base64 text of a STREAM whole, and hands that text out again with
the end of every element around it. Here the text is taken out of the bytes before the parser
sees them, and decoded as it comes; rows are then read from the decoded pieces, each let go when
it is used up. Made for documents such as votable_workload.py writes: it looks for "<STREAM" in
the bytes, and knows nothing of comments and CDATA.
"""

import binascii
import collections

OPENING = b"<STREAM"
CLOSING = b"</STREAM"
ENOUGH = 1 << 16


class Pieces:
    """Decoded bytes: put in by the reader of the document, taken out by the reader of rows."""

    def __init__(self):
        self._pieces = collections.deque()
        self._first = b""
        self._used = 0
        self._left_over = b""

    def put(self, text):
        characters = self._left_over + b"".join(text.split())
        whole = len(characters) // 4 * 4
        self._left_over = characters[whole:]
        if whole > 0:
            self._pieces.append(binascii.a2b_base64(characters[:whole]))

    def take(self, length):
        while len(self._first) - self._used < length and self._pieces:
            self._first = self._first[self._used :] + self._pieces.popleft()
            self._used = 0
        result = self._first[self._used : self._used + length]
        self._used += len(result)
        return result


class Filter:
    """read(n) of a document without the text of its STREAMs, which goes to pieces."""

    def __init__(self, read, pieces):
        self._read = read
        self._pieces = pieces
        self._inside = False
        self._ended = False
        self._passed = b""  # and not yet read
        self._tail = b""  # too short to tell whether a tag begins in it

    def read(self, length):
        """Fewer than @length bytes are the end: so astropy's parser understands it."""
        while len(self._passed) < length and not self._ended:
            block = self._read(length)
            self._ended = not block
            self._passed += self._pass_on(self._tail + block, at_end=self._ended)
        result, self._passed = self._passed[:length], self._passed[length:]
        return result

    def _pass_on(self, data, at_end):
        passed = []
        while True:
            end = self._end_of_part(data)
            if end < 0:
                break
            self._give(data[:end], passed)
            self._inside = not self._inside
            data = data[end:]
        # A tag may go on in the next block; but for that, nothing is kept back.
        kept = 0 if at_end else self._unsure(data)
        self._give(data[: len(data) - kept], passed)
        self._tail = data[len(data) - kept :]
        return b"".join(passed)

    def _end_of_part(self, data):
        """Where the text of a STREAM ends, or that of another begins: after its tag; or -1."""
        if self._inside:
            return data.find(CLOSING)
        at = data.find(OPENING)
        end = data.find(b">", at) if at >= 0 else -1
        return end + 1 if end >= 0 else -1

    def _unsure(self, data):
        """How many bytes at the end may be the beginning of a tag."""
        at = data.rfind(b"<")
        return len(data) - at if at >= 0 and len(data) - at < ENOUGH else 0

    def _give(self, data, passed):
        if self._inside:
            self._pieces.put(data)
        else:
            passed.append(data)


def apply():
    """Change the astropy of this process. One document at a time can be read."""
    from astropy.io.votable import tree
    from astropy.utils.xml import iterparser

    pieces = Pieces()
    open_source = iterparser._convert_to_fd_or_read_function

    def open_filtered(source):
        return FilteredSource(open_source(source), pieces)

    def binary_data_of_pieces(self, iterator, config):
        next(tag for start, tag, data, pos in iterator if tag == "STREAM" and not start)

        def careful_read(length):
            result = pieces.take(length)
            if len(result) != length:
                raise EOFError
            return result

        return careful_read

    iterparser._convert_to_fd_or_read_function = open_filtered
    tree.TableElement._get_binary_data_stream = binary_data_of_pieces


class FilteredSource:
    """The context manager that astropy opens a document with, and the filter behind it."""

    def __init__(self, source, pieces):
        self._source = source
        self._pieces = pieces

    def __enter__(self):
        opened = self._source.__enter__()
        read = opened if callable(opened) else opened.read
        return Filter(read, self._pieces).read

    def __exit__(self, *error):
        return self._source.__exit__(*error)
