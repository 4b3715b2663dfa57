"""A command of pyinfra or of ours, in a fork of this process: what it imports is imported already.

To start Python and import everything takes seconds; a fork has it, and shares no change it makes with what comes after.
"""

import gc
import inspect
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import gevent
import gevent.monkey
import pyinfra
import pyinfra.api.connectors
import pyinfra.api.inventory
import pyinfra.api.util
import pyinfra_cli.main  # type: ignore[import-untyped]

import facts.controller
import lab.cli

for _name in ("deploys.target", "lab.converge", "lab.receipts.drained", "lab.site", "operations.generation",
              "operations.kernel", "operations.ollama", "operations.others", "operations.transit"):  # fmt: skip
    import_module(_name)
"""What a run imports is imported once, here, and not in every process again."""

ROOT = Path(__file__).resolve().parents[1]
OURS = frozenset({"deploys", "facts", "fleet", "lab", "operations"})
CONNECTORS = pyinfra.api.connectors.get_all_connectors()
"""pyinfra reads what every installed package says of itself, four times in each run."""
_LEFT: list[Any] = []
"""Keeps what a fork has no use for: greenlets that nobody knows any more would be ended, and say so."""
CRASHED = 99
LONGEST_SECONDS = 300


def pyinfra_command() -> None:
    """What `pyinfra` starts, with the arguments in `sys.argv`."""
    pyinfra_cli.main.main()


def everywhere(old: Any, new: Any) -> None:
    """Puts another value in the place of a constant of ours, wherever it was imported; a path also where it begins one.

    For a deploy of a test: to change a constant before it is imported would take another process.
    """
    for module in [each for name, each in sys.modules.items() if name.partition(".")[0] in OURS]:
        for name, value in list(vars(module).items()):
            if value is old:
                setattr(module, name, new)
            elif isinstance(old, str) and isinstance(value, str) and old in value:
                setattr(module, name, re.sub(re.escape(old) + r"(?![\w-])", lambda _: new, value))


def sparks_command() -> None:
    """What `sparks` starts."""
    lab.cli.main(prog_name="sparks")


def ran(
    main: Callable[[], None], *arguments: object, typed: str = "", environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """A command to its end, as `subprocess.run` would tell it, where that is not after some minutes."""
    words = [str(each) for each in arguments]
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(typed)
        given.flush()
        given.seek(0)
        status = wait(fork(main, words, given, out, err, environment))
        told = []
        for file in (out, err):
            file.seek(0)
            told.append(file.read().decode())
    return subprocess.CompletedProcess(words, status, *told)


def wait(pid: int) -> int:
    """The exit status of a fork, as `subprocess` tells it: negative for a signal."""
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def fork(
    main: Callable[[], None],
    arguments: list[str],
    given: IO[Any],
    out: IO[Any],
    err: IO[Any],
    environment: Mapping[str, str] | None = None,
) -> int:
    """Starts it; its process id."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        code = CRASHED
        try:
            _become((given, out, err), arguments, environment)
            code = _run(main)
        finally:
            os._exit(code)
    return pid


def _become(files: tuple[IO[Any], ...], arguments: list[str], environment: Mapping[str, str] | None) -> None:
    """What a new process would have. Threads are patched already, and a stack of pytest's is not read line by line."""
    gc.disable()
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    _leave_greenlets()
    for number in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                os.close(number)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LONGEST_SECONDS)
    os.environ.update(environment or {})
    os.chdir(ROOT)
    sys.argv = ["pyinfra", *arguments]
    pyinfra.logger.handlers.clear()
    facts.controller.controller.cache_clear()
    patching: Any = gevent.monkey
    patching.patch_all = lambda: None
    inventory: Any = pyinfra.api.inventory
    inventory.get_all_connectors = lambda: CONNECTORS
    util: Any = pyinfra.api.util
    util.stack, util.getframeinfo = partial(inspect.stack, 0), partial(inspect.getframeinfo, context=0)


def _leave_greenlets() -> None:
    """Threads of the tests are greenlets: none goes on here, nor does the loop that watches their sockets."""
    _LEFT.append(gevent.get_hub())
    _LEFT[0].destroy(destroy_loop=True)


def _run(main: Callable[[], None]) -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return CRASHED
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
