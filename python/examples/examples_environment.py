# SPDX-License-Identifier: BSD-3-Clause
"""What the examples need to run: an environment with astropy in it, files to parse, children."""
import json
import os
import shutil
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOAD = os.path.join(HERE, "votable_workload.py")
REQUIREMENTS = ("astropy==8.0.2", "memray==1.20.0")


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def find_library(named):
    """libvotrace.so: the one named, VOTRACE_LIBRARY's, or that of a build in the source tree."""
    built = os.path.join(HERE, "..", "..", "build", "preload", "libvotrace.so")
    for path in (named, os.environ.get("VOTRACE_LIBRARY"), built):
        if path is None:
            continue
        if os.path.exists(path):
            return os.path.abspath(path)
        if path is not built:
            fail(f"{path}: no such library; name libvotrace.so with --library")
    fail("no libvotrace.so: build it, or name it with --library")


def make_environment(folder):
    """A virtual environment in @folder with the requirements; returns its interpreter."""
    python = os.path.join(folder, "bin", "python")
    done = os.path.join(folder, "requirements.txt")
    wanted = "\n".join(REQUIREMENTS)
    if os.path.exists(done):
        with open(done) as said:
            if said.read() == wanted:
                return python
    venv.create(folder, with_pip=True, clear=True)
    installed = subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS])
    if installed.returncode != 0:
        fail(f"pip could not install {' '.join(REQUIREMENTS)}")
    with open(done, "w") as said:
        said.write(wanted)
    return python


def make_files(python, folder, rows):
    """The table of @rows rows in three formats; returns the folder that they are in."""
    place = os.path.join(folder, f"rows-{rows}")
    if not os.path.isdir(place):
        partial = place + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        command = [python, WORKLOAD, "make", "--rows", str(rows), "--folder", partial]
        subprocess.run(command, check=True)
        os.rename(partial, place)
    return place


def child_environment(library, trace, **settings):
    """Nothing of Python's or votrace's from outside; the shim only where @library is given."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VOTRACE_", "MALLOC_")) and name != "LD_PRELOAD"
    }
    kept["PYTHONHASHSEED"] = "0"
    if library is not None:
        kept["LD_PRELOAD"] = library
        kept["PYTHONMALLOC"] = "malloc"
        kept["VOTRACE_OUTPUT"] = trace
    kept.update(settings)
    return kept


def run_child(command, environment):
    """The line of JSON that the child prints."""
    child = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if child.returncode != 0:
        fail(f"ended with {child.returncode}: {' '.join(command)}")
    return json.loads(child.stdout)


def fixed_addresses():
    """The words before a command that keep the kernel from choosing addresses at random."""
    words = ["setarch", "-R"]
    try:
        tried = subprocess.run([*words, "true"], stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        return None
    return words if tried.returncode == 0 else None


def replace_figures(path, name, text):
    """Put @text between the two comments in the document that carry @name."""
    opening, closing = f"<!-- figures: {name} -->\n", f"<!-- end: {name} -->"
    with open(path) as document:
        whole = document.read()
    if opening not in whole or closing not in whole:
        fail(f"{path}: has no comments 'figures: {name}' and 'end: {name}' to write between")
    before, rest = whole.split(opening, 1)
    _, after = rest.split(closing, 1)
    with open(path, "w") as document:
        document.write(f"{before}{opening}\n{text}\n{closing}{after}")


def aligned_table(heading, rows, left=3):
    """Lines of a markdown table, which is as well read as it is: the first @left are words."""
    cells = [list(map(str, row)) for row in [heading, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heading))]
    lines = [
        "| "
        + " | ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        )
        + " |"
        for row in cells
    ]
    rule = "| " + " | ".join(
        "-" * width if i < left else "-" * (width - 1) + ":" for i, width in enumerate(widths)
    )
    return "\n".join([lines[0], rule + " |", *lines[1:]])


def human(size):
    """As votreport writes it: three digits."""
    value, unit = float(size), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1000 or unit == "GiB":
            break
        value /= 1024
    if unit == "B":
        return f"{size:.0f} B"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f} {unit}"
