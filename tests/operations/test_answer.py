"""What a script says of a command that ended by its time limit, and that it changes nothing else of it."""

import subprocess

import pytest

from operations import answer


@pytest.fixture(autouse=True)
def _as_whoever_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "as_root", lambda script: script)


def run(script: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["sh", "-c", answer.root_script(script)], capture_output=True, text=True, check=False)


def test_what_did_not_end_in_time_is_told_and_ends_the_script() -> None:
    done = run("timeout 0.1 sleep 60\necho never")
    assert (done.returncode, done.stdout) == (124, "")
    assert done.stderr == "expected an end within the time limit, found none: timeout 0.1 sleep 60\n"


@pytest.mark.parametrize(
    ("script", "status", "out"),
    [
        ("timeout 60 echo well", 0, "well\n"),
        ("timeout 60 sh -c 'exit 7'\necho never", 7, ""),
        ("timeout 60 sh -c 'exit 7' || echo $?", 0, "7\n"),
        ("if timeout 60 false; then echo yes; else echo no; fi", 0, "no\n"),
        ("set -- kept; timeout 60 true; echo $1 $#", 0, "kept 1\n"),
    ],
)
def test_whatever_else_it_does_is_as_without(script: str, status: int, out: str) -> None:
    done = run(script)
    assert (done.returncode, done.stdout, done.stderr) == (status, out, "")
