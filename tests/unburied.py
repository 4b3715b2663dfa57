"""A dead process whose parent never asks for it; ours might be buried at once by a watcher of children."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import until

ENDS = """
import os, time
while "sleep" not in open(f"/proc/{os.getppid()}/comm").read():  # a shell might bury it
    time.sleep(0.02)
"""


@contextmanager
def unburied(code: str = "") -> Iterator[int]:
    """The process id of a Python that has run the code and ended."""
    parent = subprocess.Popen(
        ["sh", "-c", '"$0" -S -c "$1" & echo $!; exec sleep 600', sys.executable, code + ENDS],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        until(lambda: ") Z " in Path(f"/proc/{pid}/stat").read_text())
        yield pid
    finally:
        parent.kill()
        parent.communicate()
