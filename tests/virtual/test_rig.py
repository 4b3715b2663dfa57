"""What runs a lab works in a process that pyinfra's command has patched for gevent, whichever was imported first."""

import subprocess
import sys

PATCHED_LATER = """
import virtual.rig
from gevent import monkey
monkey.patch_all()
import threading
assert type(virtual.rig.Gate().lock) is type(threading.Lock())
"""


def test_a_lock_made_after_threads_were_patched_is_a_patched_one() -> None:
    """One of before stops all greenlets: a clone of two machines hung where both were started at once."""
    done = subprocess.run([sys.executable, "-c", PATCHED_LATER], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
