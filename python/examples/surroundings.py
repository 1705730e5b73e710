# SPDX-License-Identifier: BSD-3-Clause
"""What the examples run in: an environment with astropy and votrace, files to parse, children."""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv

import figures

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(HERE)
WORKLOAD = os.path.join(HERE, "votable_workload.py")
REQUIREMENTS = ("astropy==8.0.2", "memray==1.20.0")


def fail(message):
    print(f"{os.path.basename(sys.argv[0])}: {message}", file=sys.stderr)
    sys.exit(2)


def new_parser(description):
    """For a script's options, with those that all of them have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--work", required=True, metavar="FOLDER", help="is made where there is none"
    )
    parser.add_argument("--library", metavar="FILE", help="libvotrace.so")
    return parser


def find_library(named):
    """libvotrace.so: the one named, VOTRACE_LIBRARY's, or that of a build in the source tree."""
    built = os.path.join(PACKAGE, "..", "build", "preload", "libvotrace.so")
    for path in (named, os.environ.get("VOTRACE_LIBRARY"), built):
        if path is None:
            continue
        if os.path.isfile(path):
            return os.path.realpath(path)
        if path is not built:
            fail(f"{path}: no such library; name libvotrace.so with --library")
    fail("no libvotrace.so: build it, or name it with --library")


def open_document(path, names):
    """The document that figures go into, if it has the places: asked before they are made."""
    try:
        document = figures.Document(path)
        document.check(names)
    except (OSError, ValueError) as error:
        fail(str(error))
    return document


def digest(paths):
    """Of the files' contents: the same as long as they are."""
    result = hashlib.sha256()
    for path in sorted(paths):
        with open(path, "rb") as file:
            result.update(hashlib.sha256(file.read()).digest())
    return result.hexdigest()[:16]


def package_files():
    """All that makes the package votrace."""
    found = [os.path.join(PACKAGE, "pyproject.toml")]
    for folder, _, names in os.walk(os.path.join(PACKAGE, "src", "votrace")):
        found += [os.path.join(folder, name) for name in names if name.endswith((".py", ".typed"))]
    return found


def make_environment(folder):
    """A virtual environment in @folder with the requirements and this votrace; returns its
    interpreter. What is there already is not installed again."""
    python = os.path.join(folder, "bin", "python")
    note = os.path.join(folder, "installed.json")
    wanted = {"requirements": list(REQUIREMENTS), "votrace": digest(package_files())}
    present = {}
    if os.path.exists(note):
        with open(note) as file:
            present = json.load(file)
    if present == wanted:
        return python
    if present.get("requirements") != wanted["requirements"]:
        venv.create(folder, with_pip=True, clear=True)
        install(python, *REQUIREMENTS)
    with tempfile.TemporaryDirectory() as copy:
        # Building it writes into its folder.
        shutil.copytree(PACKAGE, copy, dirs_exist_ok=True)
        install(python, "--force-reinstall", "--no-deps", copy)
    with open(note, "w") as file:
        json.dump(wanted, file)
    return python


def install(python, *what):
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", *what])
    if done.returncode != 0:
        fail(f"pip could not install {' '.join(what)}")


def make_file(python, folder, name, rows):
    """The table of @rows rows in the format @name; returns its path."""
    place = os.path.join(folder, f"rows-{rows}")
    path = os.path.join(place, name + ".xml")
    if not os.path.exists(path):
        os.makedirs(place, exist_ok=True)
        command = [python, WORKLOAD, "make", "--format", name, "--rows", str(rows)]
        if subprocess.run([*command, "--file", path + ".part"]).returncode != 0:
            fail(f"{path} could not be made")
        os.rename(path + ".part", path)
    return path


def child_environment(library=None, trace=None, **settings):
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
    """The words before a command that keep the kernel from choosing addresses at random; None
    where it does not let us."""
    words = ["setarch", "-R"]
    try:
        tried = subprocess.run([*words, "true"], stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        return None
    return words if tried.returncode == 0 else None
