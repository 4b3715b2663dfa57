"""The plain Debian below the image, as a tar file: the slow part, made anew only when its packages change."""

import contextlib
import os
import subprocess
from pathlib import Path
from shlex import quote
from typing import TextIO

from virtual import cache, host, recipe
from virtual.errors import LabError
from virtual.progress import Say
from virtual.recipe import Recipe

STAGES = ("I: downloading", "I: extracting", "I: installing", "I: creating")
"""What mmdebstrap says that is worth passing on."""


def obtain(wanted: Recipe, say: Say) -> Path:
    """The tar file of the recipe's packages: from the cache, or made now."""

    def make(scratch: Path, lock: int) -> None:
        say(f"installing Debian {recipe.SUITE} with {len(wanted.packages)} named packages: once")
        _bootstrap(wanted, scratch, lock, say)

    place = cache.root() / f"debian-{wanted.debian_key}"
    return cache.obtain(place, "installing Debian", make, say) / "root.tar"


def _bootstrap(wanted: Recipe, scratch: Path, lock: int, say: Say) -> None:
    """Run mmdebstrap; no mirror is named: it knows Debian's own."""
    argv = [
        host.program("mmdebstrap"),
        *recipe.MMDEBSTRAP_OPTIONS,
        f"--include={','.join(wanted.packages)}",
        f'--essential-hook=sh {quote(os.fspath(wanted.before_packages))} "$1"',
        recipe.SUITE,
        os.fspath(scratch / "root.tar"),
    ]
    # It works in TMPDIR, and a /tmp in memory may be too small for that.
    environment = ["env", "LC_ALL=C.UTF-8", f"TMPDIR={scratch}"]
    log = scratch / "mmdebstrap.log"
    with log.open("w") as record:
        child = subprocess.Popen(
            host.as_root([*environment, *argv]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", pass_fds=(lock,),
        )  # fmt: skip
        try:
            _follow(child, record, say)
        finally:
            # Interrupted, it unmounts what it mounted; only then may its folder be removed.
            with contextlib.suppress(PermissionError):
                child.terminate()
            child.wait()
    if child.returncode != 0:
        raise LabError(f"mmdebstrap: exit status {child.returncode}: {_complaint(log)}")


def _follow(child: subprocess.Popen[str], record: TextIO, say: Say) -> None:
    """Pass on what mmdebstrap says of its stages until it ends."""
    assert child.stdout is not None
    for line in child.stdout:
        record.write(line)
        if line.startswith(STAGES):
            say(f"  {line[3:].strip()}")
    child.wait()


def _complaint(log: Path) -> str:
    """The line of the log that says why, or its last one. The log itself goes with the scratch folder."""
    lines = [line.strip() for line in log.read_text().splitlines() if line.strip()]
    blamed = [line for line in lines if line.startswith(("E: ", "Err:", "W: Failed"))]
    return (blamed or lines[-1:] or ["no output"])[0]
