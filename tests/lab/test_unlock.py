"""`sparks unlock`: the named owner's lock alone, only where its run is gone; the real script, on a folder."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

import lab.unlock
from fleet.lock import Lock, LockState
from fleet.observation import Observation
from fleet.record import Unobserved, sha256_digest
from operations import answer, lock_script
from tests.fleet.test_lock import HELD, state


class Host:
    """A host that is a folder: its lock is a file there."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.lock = place / "lock"
        self.sees: LockState | Unobserved = state(held=None)
        place.mkdir()

    def is_locked(self, **fields: Any) -> None:
        self.lock.write_text("owner ada@desk\nsince long ago\n")
        held = Lock(**dict(HELD) | {"content_digest": sha256_digest(self.lock.read_bytes())})
        self.sees = state(held=held, **fields)

    def run_shell_command(self, command: Any, **_: Any) -> tuple[bool, SimpleNamespace]:
        done = subprocess.run(["sh", "-c", command.get_raw_value()], capture_output=True, text=True, check=False)
        said = SimpleNamespace(stdout_lines=done.stdout.splitlines(), stderr_lines=done.stderr.splitlines())
        return done.returncode == 0, said


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    found = Host(tmp_path / "run")

    @contextmanager
    def connected(inventory: str, name: str) -> Iterator[list[Host]]:
        yield [found]

    monkeypatch.setattr(lab.unlock, "connected", connected)
    monkeypatch.setattr(lab.unlock, "observation", lambda *_: Observation(host="a", lock=found.sees))
    monkeypatch.setattr(answer, "as_root", lambda command: command)
    monkeypatch.setattr(lock_script, "PLACE", str(found.place))
    return found


def unlock(*arguments: str) -> Result:
    return CliRunner().invoke(lab.unlock.unlock, arguments)


def test_what_a_dead_run_left_is_broken_and_told(host: Host) -> None:
    host.is_locked(holder_lives=False)
    done = unlock("a", "--owner", "ada@desk")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        "a: broke one of ada@desk from 10.0.0.2 since 2026-12-01 10:00:00 UTC; its process 1234 on the host is gone\n"
    )
    assert not host.lock.exists()


@pytest.mark.parametrize(("owner", "fields", "code"), [
    ("ada@desk", {"holder_lives": True}, "lock_alive"),
    ("ada@desk", {"holder_lives": False, "at_work": True}, "lock_alive"),
    ("ada@desk", {"holder_lives": False, "controller_lives": True}, "lock_alive"),
    ("bob@laptop", {"holder_lives": False}, "lock_of_another"),
])  # fmt: skip
def test_what_lives_or_is_anothers_stays(host: Host, owner: str, fields: dict[str, Any], code: str) -> None:
    host.is_locked(**fields)
    done = unlock("a", "--owner", owner)
    assert (done.exit_code, done.stdout) == (3, "")
    assert f"[{code}]" in done.stderr
    assert host.lock.exists()


def test_a_lock_that_cannot_be_seen_is_refused(host: Host) -> None:
    host.sees = Unobserved(reason="no sudo")
    done = unlock("a", "--owner", "ada@desk")
    assert done.exit_code == 3
    assert "[unobserved]" in done.stderr


def test_no_lock_is_no_failure(host: Host) -> None:
    done = unlock("a", "--owner", "ada@desk")
    assert (done.exit_code, done.stdout) == (0, "a is not locked\n")


def test_a_lock_that_was_taken_meanwhile_stays(host: Host) -> None:
    host.is_locked(holder_lives=False)
    host.lock.write_text("owner bob@laptop\nsince now\n")
    done = unlock("a", "--owner", "ada@desk")
    assert done.exit_code == 1
    assert done.stderr == "a lock: expected the lock that was looked at, found one of bob@laptop since now\n"
    assert host.lock.exists()


def test_an_owner_has_to_be_named(host: Host) -> None:
    assert unlock("a").exit_code != 0
