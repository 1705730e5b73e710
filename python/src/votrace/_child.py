# SPDX-License-Identifier: BSD-3-Clause
"""The process that one call is measured in: `python _child.py FOLDER`.

FOLDER/call says what to call, FOLDER/answer how that ended; it is there whole, or not at all.
Run as a file, and imported for the names both sides use.
"""

import inspect
import os
import signal
import sys
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple

REGION = "measure"
_in_child = False
_PR_SET_PDEATHSIG = 1


def _nothing() -> None:
    pass


class Call(NamedTuple):
    """A call that is ready to be made, and what to do after it, whether or not it raised."""

    function: Callable[..., Any]
    args: Tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}
    teardown: Callable[[], Any] = _nothing


class Prepared:
    """Makes the same call ready again and again: what a Measurer is given, in the child."""

    def __init__(
        self,
        call: Call,
        setup: Optional[Callable[[], Any]],
        teardown: Optional[Callable[..., Any]],
    ) -> None:
        self.call = call
        self.setup = setup
        self.teardown = teardown

    def __call__(self) -> Call:
        call = self.call
        made = () if self.setup is None else (self.setup(),)
        teardown = self.teardown
        if teardown is None:
            return call._replace(args=(*made, *call.args))
        return call._replace(args=(*made, *call.args), teardown=lambda: teardown(*made))


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


def _die_with(parent: str) -> None:
    """Have the kernel kill this process when @parent, which waits for it, dies first."""
    import ctypes

    from votrace._tools import pid_text

    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if pid_text(os.getppid()) != parent:
            os._exit(1)


def _as_function(call: Call) -> Call:
    """A method's function with the object as its first argument: such a call copies nothing."""
    function = call.function
    if not inspect.ismethod(function):
        return call
    return call._replace(function=function.__func__, args=(function.__self__, *call.args))


def _call(payload: Dict[str, Any], prepare: Any) -> bool:
    import pickle

    from votrace._region import active, call_marked, region, rehearse

    prepare(payload["preparation"])
    ready = pickle.loads(payload["ready"])
    for _ in range(payload["warmup"]):
        function, args, kwargs, teardown = _as_function(ready())
        try:
            function(*args, **kwargs)
        finally:
            teardown()
    marked = region(REGION)
    rehearse()
    function, args, kwargs, teardown = _as_function(ready())
    try:
        call_marked(marked, function, args, kwargs)
    finally:
        teardown()
    return active()


def _without_own(trace: Any) -> Any:
    """The traceback from where it leaves this package."""
    from votrace._tools import is_own

    first = trace
    while trace is not None and is_own(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace or first


def _describe(error: BaseException) -> Dict[str, Any]:
    import pickle
    import traceback

    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
    except Exception:
        pickled = None
    lines = traceback.format_exception(type(error), error, _without_own(error.__traceback__))
    return {"raised": True, "exception": pickled, "traceback": "".join(lines)}


def main(folder: str) -> None:
    import multiprocessing.spawn
    import pickle

    import votrace._child
    from votrace._tools import addresses_are_fixed

    votrace._child._in_child = True
    with open(os.path.join(folder, "call"), "rb") as file:
        payload = pickle.load(file)
    _die_with(payload["parent"])
    own_pid = os.getpid()
    fixed = addresses_are_fixed()
    try:
        active = _call(payload, multiprocessing.spawn.prepare)
        answer = {"raised": False, "active": active, "addresses_fixed": fixed}
    except BaseException as error:
        answer = _describe(error)
    if os.getpid() != own_pid:  # what is called has forked, and both come back
        return
    with open(os.path.join(folder, "answer.part"), "wb") as file:
        pickle.dump(answer, file)
    os.rename(os.path.join(folder, "answer.part"), os.path.join(folder, "answer"))


if __name__ == "__main__":
    # The folder of this file is first, unless Python is isolated: the one above has the package.
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path = [os.path.dirname(_here), *(path for path in sys.path if path != _here)]
    main(sys.argv[1])
