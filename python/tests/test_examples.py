# SPDX-License-Identifier: BSD-3-Clause
"""The examples: their figures, tables and chart, the patch of astropy's reading, and, where there
is an astropy (in this Python, or in that of VOTRACE_ASTROPY_PYTHON), the parse that they measure.
"""

import base64
import importlib.util
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import pytest

import votrace
from votrace import _tools

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

import astropy_votable  # type: ignore[import-not-found]  # noqa: E402
import chart  # type: ignore[import-not-found]  # noqa: E402
import figures  # type: ignore[import-not-found]  # noqa: E402
import surroundings  # type: ignore[import-not-found]  # noqa: E402
import votable_patch  # type: ignore[import-not-found]  # noqa: E402
import votable_tables  # type: ignore[import-not-found]  # noqa: E402

DOCUMENT = EXAMPLES.parents[1] / "docs" / "astropy.md"


# Figures


@pytest.mark.parametrize(
    "size, text",
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (10239, "10.0 KiB"),
        (102340, "99.9 KiB"),
        (1023 * 1024, "1.00 MiB"),
        (999 << 20, "999 MiB"),
        (7 << 40, "7.00 TiB"),
    ],
)
def test_sizes_are_written_as_votreport_writes_them(size: int, text: str) -> None:
    assert figures.human(size) == text
    assert figures.human(-size) == ("-" if size else "") + text


def test_a_spread_is_the_range_and_its_share() -> None:
    assert figures.spread([5, 5, 5]) == "0 B"
    assert figures.spread([1000, 1010, 1020]) == "20 B (2.0%)"
    assert figures.spread([10_000_000, 10_000_100]) == "100 B"  # a share that would read 0.0 %
    assert figures.spread([-512, 512, 0]) == "1.00 KiB (102400.0%)"


def test_a_ratio_without_a_divisor_is_not_told() -> None:
    assert figures.ratio([100, 200, 300], [50, 50, 80]) == "0.250"
    assert figures.ratio([0, 0], [5, 5]) == "-"
    assert figures.ratio_range([100, 200], [50, 60]) == "0.250 to 0.600"
    assert figures.ratio_range([0, 200], [50, 60]) == "-"


def test_a_table_is_aligned() -> None:
    assert figures.aligned_table(("what", "bytes"), [("a", 5), ("longer", 12345)], words=1) == (
        "| what   | bytes |\n| ------ | ----: |\n| a      |     5 |\n| longer | 12345 |"
    )


def test_figures_go_into_their_place_only(tmp_path: Path) -> None:
    path = tmp_path / "document.md"
    text = (
        "before\n<!-- figures: a -->\n{}<!-- end: a -->\n"
        "<!-- figures: b -->\nold\n<!-- end: b -->\nafter\n"
    )
    path.write_text(text.format("old\n"))
    for _ in range(2):  # the second time they replace themselves
        document = figures.Document(str(path))
        document.check(["a", "b"])
        document.replace("a", "new")
        document.save()
        assert path.read_text() == text.format("\nnew\n\n")


@pytest.mark.parametrize(
    "text", ["", "<!-- figures: a -->\n", "<!-- end: a -->\n<!-- figures: a -->\n"]
)
def test_a_document_without_the_place_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "document.md"
    path.write_text(text)
    with pytest.raises(ValueError, match="there is no '<!-- figures: a -->'"):
        figures.Document(str(path)).replace("a", "new")


# What the experiment makes of its runs


def told(method: str, patch: bool, number: int) -> Dict[str, Any]:
    """What a process might have said."""
    peak = (3 if patch else 10) << 20
    said: Dict[str, Any] = {"peak_added": peak + number, "allocations": 7, "checksum": "1.5"}
    if method == "rss":
        said.update(
            largest_after=(100 << 20) + peak, largest_before=90 << 20, resident_before=80 << 20
        )
    if method == "measure":
        del said["checksum"]
        said["places"] = [[peak // 2, "endElement", "parse", "astropy/tree.py:7"]]
    return said


@pytest.fixture
def results() -> List[Dict[str, Any]]:
    options = type(
        "Options", (), {"part": None, "repeats": 3, "few": 2, "rows": 50, "scale": [10, 50]}
    )
    planned = astropy_votable.plan(options, True)
    return [
        {**run, "said": told(run["method"], run["patch"], number % 5)}
        for number, run in enumerate(planned)
    ]


CONDITIONS = dict(
    astropy="8",
    numpy="2",
    memray="1",
    python="3.13.0",
    system="Linux",
    processors=2,
    addresses="fixed",
)


def test_every_table_has_its_place_in_the_document(results: List[Dict[str, Any]]) -> None:
    blocks = votable_tables.blocks(results, CONDITIONS)
    assert sorted(blocks) == sorted(votable_tables.names_of_blocks(astropy_votable.PARTS))
    document = figures.Document(str(DOCUMENT))
    document.check([*blocks, "overhead"])
    assert sorted(re.findall(r"<!-- figures: (.*) -->", DOCUMENT.read_text())) == sorted(
        [*blocks, "overhead"]
    )


def test_tables_tell_medians_ratios_and_runs(results: List[Dict[str, Any]]) -> None:
    blocks = votable_tables.blocks(results, CONDITIONS)
    row = next(
        line for line in blocks["formats"].splitlines() if "binary2" in line and "memray" in line
    )
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[2] == "10.0 MiB" and cells[4] == "3.00 MiB"
    assert (cells[6], cells[8]) == ("0.300", "3 + 3")
    assert "by 10.0 MiB" in blocks["answer: gap"]
    assert "5.00 MiB" in blocks["places"] and "50.0%" in blocks["places"]
    assert "2 processors" in blocks["conditions"]
    exactness = " ".join(blocks["exactness"].split())
    assert "at most 4 bytes and 0 blocks by votrace, a region, with 0 of 6 kinds" in exactness


def test_parts_that_were_not_measured_are_not_written(results: List[Dict[str, Any]]) -> None:
    rows = votable_tables.select(results, part="rows")
    assert sorted(votable_tables.blocks(rows, CONDITIONS)) == ["answer: rows", "conditions", "rows"]
    assert votable_tables.chart_of_formats(rows) is None


def test_a_parse_of_something_else_is_refused(results: List[Dict[str, Any]]) -> None:
    astropy_votable.check_same_table(results)
    results[0]["said"]["checksum"] = "2.5"
    with pytest.raises(SystemExit) as refused:
        astropy_votable.check_same_table(results)
    assert refused.value.code == 2


def test_a_run_that_was_broken_off_goes_on(tmp_path: Path, results: List[Dict[str, Any]]) -> None:
    path = tmp_path / "results.json"
    planned = [{key: run[key] for key in run if key != "said"} for run in results]
    kept = astropy_votable.Results(str(path), CONDITIONS)
    for run in planned[:5]:
        kept.add(run, {"peak_added": 1})
    found, left = astropy_votable.Results(str(path), CONDITIONS).of(planned)
    assert [len(found), len(left)] == [5, len(planned) - 5]
    assert left == planned[5:]
    # Figures of another astropy are put aside, not mixed with these.
    assert astropy_votable.Results(str(path), {**CONDITIONS, "astropy": "9"}).of(planned) == (
        [],
        planned,
    )
    assert Path(f"{path}.other").exists()


def test_a_chart_is_xml_and_bars_are_as_long_as_their_figures(
    results: List[Dict[str, Any]],
) -> None:
    groups = [
        ("A & B", [("first", [100 << 20], [50 << 20, 150 << 20, 50 << 20]), ("none", [0], [0])])
    ]
    drawn = chart.Chart("<sizes>", ("old", "new"), groups).svg()
    root = xml.etree.ElementTree.fromstring(drawn)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert {"rect", "path", "text", "title"} <= names
    widths = {
        kind: [
            float(element.get("width", 0))
            for element in root.iter()
            if element.get("class") == kind and element.get("height") == str(chart.BAR)
        ]
        for kind in ("before", "after")
    }
    assert widths["before"][0] == pytest.approx(2 * widths["after"][0], rel=0.01)
    assert widths["before"][1] == widths["after"][1] == 0
    assert [root.get("width"), root.get("height")] == root.get("viewBox", "").split()[2:]
    assert xml.etree.ElementTree.fromstring(votable_tables.chart_of_formats(results)) is not None


@pytest.mark.parametrize("largest", [1, 1000, 5 << 20, 447 << 20, 3 << 30])
def test_a_chart_has_some_grid_lines(largest: int) -> None:
    assert largest / 7 < chart.round_step(largest) or largest < 1 << 12
    assert chart.round_step(447 << 20) == 100 << 20


# The patch of astropy's reading: whatever the blocks are that the document comes in

DATA = [bytes(range(256)) * 3, b"", b"x", b"12345678" * 9]


def document_of(data: List[bytes]) -> bytes:
    parts = [b"<VOTABLE><INFO value='a &lt; b'/>"]
    for number, each in enumerate(data):
        text = base64.encodebytes(each) if number % 2 else base64.b64encode(each)
        parts.append(b'<BINARY>\n<STREAM encoding="base64">\n' + text + b"</STREAM>\n</BINARY>")
    return b"".join([*parts, b"</VOTABLE>\n"])


def filtered(read: Callable[[int], bytes], length: int) -> Tuple[bytes, bytes]:
    """What a parser that asks for @length bytes gets, and what the reader of rows gets."""
    pieces = votable_patch.Pieces()
    source = votable_patch.Filter(read, pieces)
    passed, decoded = [], []
    while True:
        block = source.read(length)
        passed.append(block)
        decoded.append(pieces.take(5))
        if len(block) < length:
            break
    while True:
        rest = pieces.take(7)
        decoded.append(rest)
        if len(rest) < 7:
            return b"".join(passed), b"".join(decoded)


def in_blocks(document: bytes, cuts: List[int]) -> Callable[[int], bytes]:
    """read() that gives what is between the cuts, whatever it is asked for."""
    edges = [0, *cuts, len(document)]
    blocks = [document[a:b] for a, b in zip(edges, edges[1:]) if a < b]
    return lambda length: blocks.pop(0) if blocks else b""


EXPECTED = (re.sub(rb"(<STREAM[^>]*>)[^<]*", rb"\1", document_of(DATA)), b"".join(DATA))


def test_the_filter_takes_the_text_of_streams_only() -> None:
    assert b"<STREAM" in EXPECTED[0] and b"eHg" not in EXPECTED[0]
    assert filtered(in_blocks(document_of(DATA), []), 1 << 20) == EXPECTED


def test_every_cut_of_a_document_gives_the_same_rows() -> None:
    document = document_of(DATA)
    for cut in range(len(document) + 1):
        assert filtered(in_blocks(document, [cut]), 100) == EXPECTED, cut


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 8, 9, 13, 64])
@pytest.mark.parametrize("length", [1, 16, 1000])
def test_blocks_of_every_size_give_the_same_rows(size: int, length: int) -> None:
    document = document_of(DATA)
    cuts = list(range(size, len(document), size))
    assert filtered(in_blocks(document, cuts), length) == EXPECTED


def test_pieces_give_no_more_than_there_is() -> None:
    pieces = votable_patch.Pieces()
    assert pieces.take(3) == b""
    pieces.put(b"QUJD RE")  # "ABCDE" is not whole yet
    assert pieces.take(2) == b"AB"
    assert pieces.take(9) == b"C"
    pieces.put(b"\nU=")
    assert pieces.take(9) == b"DE"


# What is refused


def run_experiment(*words: str) -> Tuple[int, str]:
    command = [sys.executable, str(EXAMPLES / "astropy_votable.py"), *words]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


def test_what_cannot_be_written_is_said_before_the_run(tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    document.write_text("nothing\n")
    work = tmp_path / "work"
    for words, said in (
        (
            ["--work", str(work), "--write", str(document)],
            "there is no '<!-- figures: conditions -->'",
        ),
        (["--work", str(work), "--write", str(tmp_path / "none.md")], "No such file"),
        (["--work", str(work), "--library", str(tmp_path / "none.so")], "no such library"),
        (["--work", str(work), "--rows", "0"], "not above 0"),
    ):
        status, error = run_experiment(*words)
        assert (status, said in error) == (2, True), error
    assert not work.exists() and document.read_text() == "nothing\n"


# With astropy


def astropy_python() -> str:
    named = os.environ.get("VOTRACE_ASTROPY_PYTHON")
    if named:
        return named
    if importlib.util.find_spec("astropy") is None:
        pytest.skip("no astropy here, and VOTRACE_ASTROPY_PYTHON names no Python that has it")
    return sys.executable


def workload(tmp_path: Path, *words: str, **settings: str) -> Any:
    """What votable_workload.py prints of its parse; with this votrace, not one installed there."""
    package = tmp_path / "package"
    if not package.exists():
        package.mkdir()
        (package / "votrace").symlink_to(Path(votrace.__file__).parent)
    environment = surroundings.child_environment(PYTHONPATH=str(package), **settings)
    command = [astropy_python(), str(EXAMPLES / "votable_workload.py"), *words]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout or b"null")


def test_astropy_parses_the_same_table_with_the_patch_and_needs_less(tmp_path: Path) -> None:
    library = str(_tools.find_library())
    shim = {
        "LD_PRELOAD": library,
        "PYTHONMALLOC": "malloc",
        "VOTRACE_OUTPUT": str(tmp_path / "t.vtr"),
    }
    said = {}
    for name in ("binary", "binary2"):
        file = str(tmp_path / f"{name}.xml")
        workload(tmp_path, "make", "--format", name, "--rows", "700", "--file", file)
        for patch in ([], ["--patch"]):
            words = ["parse", "--before", "imports", "--rows", "700", "--file", file, *patch]
            said[name, not patch] = workload(tmp_path, *words, "--method", "region", **shim)
    assert len({each["checksum"] for each in said.values()}) == 1
    for name in ("binary", "binary2"):
        assert 0 < said[name, False]["peak_added"] < said[name, True]["peak_added"] / 2


def test_measure_says_of_astropy_where_the_text_is_held(tmp_path: Path) -> None:
    file = str(tmp_path / "binary.xml")
    workload(tmp_path, "make", "--format", "binary", "--rows", "700", "--file", file)
    words = ["parse", "--before", "imports", "--rows", "700", "--file", file, "--method", "measure"]
    said = workload(tmp_path, *words, VOTRACE_LIBRARY=str(_tools.find_library()))
    size, native, _, line = said["places"][0]
    assert native == "endElement" and "votable/tree.py:" in line
    assert said["peak_added"] / 4 < size < said["peak_added"]
