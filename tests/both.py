"""All tests, in two processes at once: most of what needs the side lab is waiting, and two processors are there.

    python -m tests.both

Prints the one while it runs, then the other; what failed comes last, so that the end is the summary that counts.
Exit status 0 where both passed.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = (sys.executable, "-m", "pytest")


def main() -> int:
    """Run both; the graver of their statuses."""
    with tempfile.TemporaryFile("w+") as said:
        beside = subprocess.Popen([*PYTEST, "-m", "side"], cwd=ROOT, stdout=said, stderr=subprocess.STDOUT)
        try:
            print("tests of the side lab run beside these; what they say comes after them", flush=True)
            status, summary = _run("-m", "not side")
            print("waiting for the tests of the side lab", flush=True)
            other = beside.wait()
        except BaseException:
            beside.terminate()
            beside.wait()
            raise
        said.seek(0)
        print(said.read(), flush=True)
    if status and not other:
        print("the tests before those of the side lab:", *summary, sep="\n", flush=True)
    return max(status, other)


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
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
