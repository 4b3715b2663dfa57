"""All tests, in two processes at once, for two processors: one has this checkout's lab, and the other has everything
else: first what needs no virtual Spark, then what needs the side lab.

    python -m tests.both
    python -m tests.both --nightly

Without `--nightly`, those marked `nightly` are left out: they are about more machines, or more ways, and emulated
machines take an hour more for them. Prints the one while it runs, then the other; what failed comes last, so that the
end is the summary that counts. Exit status 0 where both passed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAB = "virtual and not side"
PYTEST = (sys.executable, "-m", "pytest", "--durations=15")
MARK = "mark.virtual"
"""What a file of tests that need virtual Sparks says: the lab begins to boot once such files are read, and not all."""


def main(*arguments: str) -> int:
    """Run both; the graver of their statuses."""
    is_nightly = "--nightly" in arguments
    tests, profile = ("", "nightly") if is_nightly else (" and not nightly", "busy")
    # Hundreds of commands are started: each would compile all of ours again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    files = [str(each) for each in sorted((ROOT / "tests").rglob("test_*.py")) if is_marked(each)]
    with tempfile.TemporaryFile("w+") as said:
        beside = subprocess.Popen([*PYTEST, "-m", LAB + tests, *files], cwd=ROOT, stdout=said, stderr=subprocess.STDOUT)
        try:
            print("tests of the lab run beside these; what they say comes after them", flush=True)
            status, summary = _run("-m", f"not ({LAB}){tests}", f"--hypothesis-profile={profile}")
            print("waiting for the tests of the lab", flush=True)
            other = beside.wait()
        except BaseException:
            beside.terminate()
            beside.wait()
            raise
        said.seek(0)
        print(said.read(), flush=True)
    if status and not other:
        print("the tests before those of the lab:", *summary, sep="\n", flush=True)
    return max(status, other)


def is_marked(path: Path) -> bool:
    """Does it say that some of its tests need virtual Sparks? `tests.conftest` sees to it that such files do."""
    return MARK in path.read_text(encoding="utf-8")


def _run(*arguments: str) -> tuple[int, list[str]]:
    """pytest to its end, printed as it goes; its status, and what it said last."""
    last: list[str] = []
    with subprocess.Popen([*PYTEST, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, errors="replace") as run:
        assert run.stdout is not None
        for line in run.stdout:
            print(line, end="", flush=True)
            last = [line.rstrip()] if "short test summary" in line else [*last[-200:], line.rstrip()]
    return run.returncode, last


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
