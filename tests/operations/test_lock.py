"""The lock in pyinfra runs on this machine: taken before the first change and only then, let go however a run ends."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forked
from tests.operations.played_lock import Connection, Run
from tests.virtual.standin import ROOT
from tests.waiting import until

DEPLOY = """
from tests.forked import everywhere
import facts.look, fleet.lock
everywhere(fleet.lock.PLACE, {place!r})
everywhere(facts.look.as_root, lambda command, otherwise="": command)
from tests.operations.touching import touched

for path, script in {steps!r}:
    touched(name=path, path=path, script=script)
"""


class Played:
    """One played host, a folder, and the runs of a deploy on it."""

    def __init__(self, root: Path) -> None:
        self.root, self.place = root, root / "run"
        self.lock = self.place / "lock"
        self.connections: list[Connection] = []
        self.others: list[Run] = []

    def deploy(self, *steps: tuple[str, str]) -> Path:
        """One that makes files: each step is a file's name, and a script to make it, in which `@` is the folder."""
        below = [(str(self.root / name), script.replace("@", str(self.root))) for name, script in steps]
        deploy = self.root / f"deploy-{len(list(self.root.glob('deploy-*')))}.py"
        deploy.write_text(DEPLOY.format(place=str(self.place), steps=below))
        return deploy

    def start(self, *steps: tuple[str, str]) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "pyinfra", "@local", str(self.deploy(*steps)), "-y"],
            cwd=ROOT, env=os.environ | {"COLUMNS": "200"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def run(self, *steps: tuple[str, str]) -> tuple[int, str]:
        """Its status and what it said."""
        done = forked.ran(forked.pyinfra_command, "@local", self.deploy(*steps), "-y", environment={"COLUMNS": "200"})
        said = done.stdout + done.stderr
        assert "Traceback" not in said, said
        return done.returncode, said

    def left_by(self, owner: str, lives: bool) -> None:
        """Another run's lock."""
        from operations import lock_script

        self.others.append(Run(owner))
        self.connections.append(Connection(self.root / f"connection-{len(self.connections)}"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lock_script, "PLACE", str(self.place))
            script = lock_script.take_script("theirs", None, self.others[-1].controller, None)
        assert self.connections[-1].run(script).returncode == 0
        if not lives:
            self.connections[-1].drop()


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Played]:
    found = Played(tmp_path)
    yield found
    for connection in found.connections:
        connection.drop()
    for other in found.others:
        other.kill()


UNTIL_GO = "until [ -e @/go ]; do sleep 0.05; done"
ONE, TWO = ("one", "cp @/run/lock @/one"), ("two", "cp @/run/lock @/two")


def test_it_is_held_from_the_first_change_to_the_last_and_then_let_go(played: Played) -> None:
    status, said = played.run(ONE, TWO)
    assert status == 0, said
    assert (played.root / "one").read_text() == (played.root / "two").read_text()
    assert "holder " in (played.root / "one").read_text()
    assert not played.lock.exists()


def test_where_nothing_is_due_nothing_is_taken(played: Played) -> None:
    (played.root / "one").touch()
    assert played.run(ONE)[0] == 0
    assert not played.place.exists()


def test_a_run_that_fails_lets_it_go(played: Played) -> None:
    status, said = played.run(ONE, ("three", "exit 5"), TWO)
    assert status == 1, said
    assert not (played.root / "two").exists()
    assert not played.lock.exists()


def test_an_interrupted_run_lets_it_go(played: Played) -> None:
    run = played.start(("one", f"touch @/one; {UNTIL_GO}; touch @/done"), TWO)
    until((played.root / "one").exists)
    run.send_signal(signal.SIGINT)
    assert run.stdout is not None
    assert any("Exiting upon user request" in line for line in run.stdout)
    assert not (played.root / "done").exists()
    (played.root / "go").touch()
    run.communicate(timeout=120)
    assert (played.root / "done").exists()
    assert not played.lock.exists()


def test_beside_another_run_that_lives_nothing_is_done(played: Played) -> None:
    played.left_by("bob@laptop", lives=True)
    before = played.lock.read_text()
    status, said = played.run(ONE)
    assert status == 1
    assert "refused: @local lock: expected no other run on this host, found one of bob@laptop from 10.0.0.2" in said
    assert "lives [locked]" in said
    assert not (played.root / "one").exists()
    assert played.lock.read_text() == before


def test_what_another_left_has_to_be_broken_by_name(played: Played) -> None:
    played.left_by("bob@laptop", lives=False)
    status, said = played.run(ONE)
    assert status == 1
    assert "is gone [locked]" in said
    assert "sparks unlock @local --owner bob@laptop" in said
    assert not (played.root / "one").exists()


def test_a_killed_run_is_finished_by_the_next_one_of_its_owner(played: Played) -> None:
    run = played.start(ONE, ("two", f"touch @/begun; {UNTIL_GO}; cp @/run/lock @/two"))
    until((played.root / "begun").exists)
    run.kill()
    run.wait()
    assert played.lock.exists()
    (played.root / "go").touch()
    run.communicate(timeout=120)
    at_rest(played.place / "work")
    status, said = played.run(ONE, ("two", "echo never"), ("three", "cp @/run/lock @/three"))
    assert status == 0, said
    assert "took over the lock of an earlier run of yours, one of " in said
    assert (played.root / "two").exists(), "its last command came to its end first, and was not done again"
    assert not played.lock.exists()


def at_rest(work: Path) -> None:
    """Waits for the end of all that a command has started: until then it keeps this open, and its lock with it."""
    with work.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
