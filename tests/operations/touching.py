"""A small operation of ours that makes a file, under the lock."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from fleet.step import Effect, Step
from operations.acting import act
from operations.lock import under_lock


@operation()
def touched(path: str, script: str) -> Generator[Any, None, None]:
    """
    Make the file, by a script.

    + path: the file
    + script: what makes it

    .. code:: python

        touched(path="/tmp/x", script="touch /tmp/x")
    """
    if (yield from under_lock(host, lambda: _step(path))) is None:
        host.noop("it is there")
    else:
        yield from act(host, script)


def _step(path: str) -> Step | None:
    if Path(path).exists():
        return None
    return Step(kind="touch", subject=path, before="none", after="there", reason="wanted", effect=Effect.WRITE)
