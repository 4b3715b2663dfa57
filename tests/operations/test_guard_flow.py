"""The controller's side of a guarded change: what it makes of a host that answers, differs, vanishes or comes back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gevent
import pytest

from fleet.refusal import Refusal
from operations import answer, guard, guard_script
from operations.fresh import Place
from tests.operations.played_guard import AFTER, BEFORE, NEW, STEP, Played

DIFFERS = Refusal(code="not_active", subject="a enP7s7", expected="mtu 9000", found="mtu 1500")


class FakeHost:
    """A pyinfra host whose commands run on a played one; `moments` happen before each fresh connection."""

    def __init__(self, played: Played) -> None:
        self.played, self.name, self.print_prefix = played, "a", "[a] "
        self.data: dict[str, Any] = {"ssh_port": 22}
        self.connector_data: dict[str, Any] = {}
        self.state = SimpleNamespace(is_executing=True)
        self.connector = SimpleNamespace()
        self.trial: Any = None
        self.connections = 0
        self.moments: list[Callable[[], object]] = []
        self.answers = True

    def run_shell_command(self, command: Any, **_: Any) -> tuple[bool, SimpleNamespace]:
        done = self.played.run(command.get_raw_value())
        is_ok = done.returncode == 0 and self.answers
        said = SimpleNamespace(stdout_lines=done.stdout.splitlines(), stderr_lines=done.stderr.splitlines())
        return is_ok, said if self.answers else SimpleNamespace(stdout_lines=[], stderr_lines=[])

    def on_host(self, *arguments: str) -> None:
        self.played.run(self.trial.call(*arguments))

    def due(self) -> None:
        """What systemd does by itself: the undoing that was asked for."""
        if (self.played.root / "asked").exists():
            self.on_host("restore")


@pytest.fixture
def fake(played: Played, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    fake = FakeHost(played)

    class Known(guard_script.Trial):
        def __init__(self, step: Any) -> None:
            super().__init__(step)
            fake.trial = self

    def connected(*_: Any) -> Iterator[tuple[Place, None]]:
        fake.connections += 1
        moment = fake.moments.pop(0) if fake.moments else None
        if moment is None or moment():
            fake.due()
            yield Place(), None

    monkeypatch.setattr(guard, "Trial", Known)
    monkeypatch.setattr(guard, "connected", connected)
    monkeypatch.setattr(guard, "use", lambda *_: None)
    monkeypatch.setattr(guard, "HELD", ":")
    monkeypatch.setattr(answer, "as_root", lambda command: command)
    monkeypatch.setattr(guard, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(guard, "SHOWS_SECONDS", 0.0)
    monkeypatch.setattr(guard, "RESTORED_SECONDS", 1.0)
    return fake


def carried_out(fake: FakeHost, shows: Any = None, step: Any = STEP) -> tuple[bool, str]:
    """Whether it was, and what was said where not."""
    said: list[Refusal] = []

    def is_as(files: dict[str, str]) -> Callable[[], Refusal | None]:
        return lambda: None if fake.played.files("etc", "run") == files else DIFFERS

    def say(state: Any, host: Any, refusals: tuple[Refusal, ...]) -> bool:
        said.extend(refusals)
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "say", say)
        pyinfra_host: Any = fake
        done = guard._carry_out(pyinfra_host, pyinfra_host, step, lambda: shows, is_as(AFTER), is_as(BEFORE))
    return done, str(said[0]) if said else ""


def now(*actions: Callable[[], object]) -> Callable[[], bool]:
    """Something that happens on the host before a connection that succeeds."""
    return lambda: bool([action() for action in actions]) or True


def tried(fake: FakeHost) -> None:
    fake.on_host("try")
    (fake.played.root / "units" / "sparks-guard-trial").unlink()


def test_a_trial_that_shows_is_committed_over_a_fresh_connection(fake: FakeHost) -> None:
    fake.moments = [now(lambda: tried(fake))]
    assert carried_out(fake) == (True, "")
    assert fake.played.files("etc", "run") == AFTER
    assert fake.connections == 1


def test_a_connection_from_before_the_trial_does_not_confirm_it(
    fake: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may outlive a change that lets nobody else in."""
    waits = iter([lambda: tried(fake)])
    monkeypatch.setattr(gevent, "sleep", lambda _: next(waits, lambda: None)())
    fake.moments = [now()]
    assert carried_out(fake) == (True, "")
    assert fake.connections == 2


def test_nobody_comes_in_and_the_host_undoes_it(fake: FakeHost) -> None:
    tries = 0

    def away() -> bool:
        """Nobody gets through until the timer has brought the old state back."""
        nonlocal tries
        tries += 1
        if tries == 1:
            tried(fake)
        if tries == 20:
            fake.on_host("restore")
        return tries >= 20

    fake.moments = [away] * 20
    done, said = carried_out(fake)
    assert not done
    assert "found no confirmation in 60 s; undone, files and addresses are as before" in said
    assert fake.played.files("etc", "run") == BEFORE


def test_what_does_not_show_is_undone_at_once(fake: FakeHost) -> None:
    fake.moments = [now(lambda: tried(fake))]
    done, said = carried_out(fake, shows=DIFFERS)
    assert not done
    assert said == (
        "a enP7s7: expected y, confirmed over a fresh SSH connection, "
        "found mtu 1500; undone, files and addresses are as before [rolled_back]"
    )
    assert fake.played.files("etc", "run") == BEFORE


def test_a_trial_that_fails_on_the_host_says_why(fake: FakeHost) -> None:
    (fake.played.root / "broken").write_text("u-new")
    fake.moments = [now(lambda: tried(fake))]
    done, said = carried_out(fake)
    assert not done
    assert "found a profile that did not come up; undone, files and addresses are as before" in said


def test_a_reboot_in_the_window_ends_in_the_old_state_and_says_so(fake: FakeHost) -> None:
    def reboot() -> None:
        for place in ("run", "home"):
            for path in sorted((fake.played.root / place).rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()

    fake.moments = [now(lambda: tried(fake), reboot)]
    done, said = carried_out(fake)
    assert not done
    assert "found the host's guard gone, as after a reboot; undone, files and addresses are as before" in said


def test_an_answer_to_the_commit_that_is_lost_is_no_failure(fake: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    run = FakeHost.run_shell_command

    def loses(self: FakeHost, command: Any, **options: Any) -> Any:
        self.answers = " commit" not in command.get_raw_value()
        return run(self, command, **options)

    monkeypatch.setattr(FakeHost, "run_shell_command", loses)
    fake.moments = [now(lambda: tried(fake))]
    assert carried_out(fake) == (True, "")
    assert fake.played.files("etc", "run") == AFTER


def test_a_file_that_somebody_changes_meanwhile_is_told(fake: FakeHost) -> None:
    changed = Path(guard_script.RUN, NEW)
    fake.moments = [now(lambda: tried(fake), lambda: changed.write_text("somebody's\n"))]
    fake.moments.append(now(lambda: fake.on_host("restore")))
    done, said = carried_out(fake)
    assert not done
    assert "found it changed; undone" in said


def test_a_host_that_does_not_come_back_is_told_as_such(fake: FakeHost) -> None:
    step = STEP.model_copy(update={"window_seconds": 1})
    fake.moments = [lambda: False] * 1_000_000
    done, said = carried_out(fake, step=step)
    assert not done
    assert said.startswith("a enP7s7: expected the old state after a change that was not confirmed, found no answer")
    assert "no answer from the inventory's address in 1 s" in said
    assert "a reboot ends it" in said


def test_a_guard_that_cannot_be_armed_changes_nothing(fake: FakeHost) -> None:
    (fake.played.root / "refuse").touch()
    done, said = carried_out(fake)
    assert not done
    assert said == (
        "a enP7s7: expected the timer sparks-guard.timer to run, found it not active; nothing was changed "
        "[guard_not_armed]"
    )
    assert fake.played.files("etc", "run") == BEFORE
    assert fake.connections == 0
