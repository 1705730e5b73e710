# SPDX-License-Identifier: BSD-3-Clause
"""The process that one call is measured in: `python _child.py FOLDER`.

FOLDER/call says what to call, FOLDER/answer how that ended; it is there whole, or not at all.
Run as a file, and imported for the names both sides use.
"""

import os
import sys
from typing import Any, Dict

REGION = "measure"
_in_child = False


class Traceback(Exception):
    """Where in the measured process an exception was raised: the cause of what is raised here."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def refuse_in_child() -> None:
    """The main program is run again in the child, to find its functions: it must not measure."""
    if _in_child:
        raise RuntimeError(
            "votrace.measure was called while the measured process imported the main program: "
            "put the call under `if __name__ == '__main__':`"
        )


def _call(payload: Dict[str, Any], prepare: Any) -> bool:
    import pickle

    from votrace._region import active, call_marked, region, rehearse

    prepare(payload["preparation"])
    function, args, kwargs = pickle.loads(payload["call"])
    for _ in range(payload["warmup"]):
        function(*args, **kwargs)
    marked = region(REGION)
    rehearse()
    call_marked(marked, function, args, kwargs)
    return active()


def _describe(error: BaseException) -> Dict[str, Any]:
    import pickle
    import traceback

    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
    except Exception:
        pickled = None
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {"raised": True, "exception": pickled, "traceback": text}


def main(folder: str) -> None:
    import multiprocessing.spawn
    import pickle

    import votrace._child

    votrace._child._in_child = True
    with open(os.path.join(folder, "call"), "rb") as file:
        payload = pickle.load(file)
    try:
        answer = {"raised": False, "active": _call(payload, multiprocessing.spawn.prepare)}
    except BaseException as error:
        answer = _describe(error)
    with open(os.path.join(folder, "answer.part"), "wb") as file:
        pickle.dump(answer, file)
    os.rename(os.path.join(folder, "answer.part"), os.path.join(folder, "answer"))


if __name__ == "__main__":
    # The folder of this file is first, unless Python is isolated: the one above has the package.
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path = [os.path.dirname(_here), *(path for path in sys.path if path != _here)]
    main(sys.argv[1])
