"""The script that guards a change, on a played host: armed or nothing, whole or undone, whoever dies when."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from fleet.guard import Undoing
from fleet.trial import parse_guard
from operations import guard_script
from operations.guard_script import NOTHING
from tests.operations.played_guard import AFTER, BEFORE, NEW, OLD, STEP, TEXT, Played


def test_it_is_armed_before_anything_is_tried_and_says_by_whom(played: Played) -> None:
    trial = played.arm(STEP)
    assert played.files("etc", "run") == BEFORE
    assert [line.split()[0] for line in played.said] == ["systemctl", "systemd-run", "systemd-run"]
    units = {path.name: path.read_text() for path in (played.root / "units").iterdir()}
    assert "--on-active=60" in units["sparks-guard.timer"]
    assert "AccuracySec=200ms" in units["sparks-guard.timer"]
    assert units["sparks-guard.timer"].endswith(f"/bin/sh {trial.directory}/guard restore\n")
    assert units["sparks-guard-trial"].endswith("try\n")
    assert Path(trial.directory, "by").read_text().startswith("spark from 10.0.0.2 at ")
    assert played.mode(f"home/{trial.token}") == 0o700
    assert played.mode(f"home/{trial.token}/old") == 0o700


def test_a_trial_shadows_and_leaves_etc_alone(played: Played) -> None:
    played.tried(STEP)
    assert played.files("etc") == BEFORE
    assert played.files("run") == {f"run/{NEW}": TEXT, f"run/{OLD}": NOTHING}
    assert played.mode(f"run/{NEW}") == 0o600
    assert [line for line in played.said if line.startswith(("netplan", "nmcli"))] == [
        "netplan generate", "nmcli connection reload", "nmcli --wait 120 connection up uuid u-new ifname enP7s7",
    ]  # fmt: skip


def test_a_commit_is_durable_and_keeps_a_private_copy_of_what_goes(played: Played) -> None:
    trial = played.tried(STEP)
    done = played.run(trial.call("commit"))
    assert (done.returncode, done.stdout) == (0, "committed\n"), done.stderr
    assert played.files("etc", "run") == AFTER
    assert played.mode(f"etc/{NEW}") == 0o600
    ((copy, text),) = played.files("var").items()
    assert copy.startswith(f"var/kept/{OLD}.")
    assert (text, played.mode(copy), played.mode("var/kept")) == (BEFORE[f"etc/{OLD}"], 0o600, 0o700)
    assert not played.is_armed
    assert not Path(trial.directory).exists()
    assert played.run(trial.call("commit")).returncode != 0


def test_the_timer_brings_back_files_and_profiles(played: Played) -> None:
    trial = played.tried(STEP)
    assert played.said
    assert played.run(trial.call("restore")).returncode == 0
    assert played.files("etc", "run", "var") == BEFORE
    assert played.said[1:4] == [
        "netplan generate", "nmcli connection reload", "nmcli --wait 90 connection up uuid u-old ifname enP7s7"
    ]  # fmt: skip
    assert played.state(trial) == "rolled-back no confirmation in 60 s"
    assert played.run(trial.call("commit")).stderr == (
        "expected a trial that waits for this, found it rolled-back no confirmation in 60 s\n"
    )
    assert played.files("etc", "run") == BEFORE


def test_what_had_no_profile_goes_down_again(played: Played) -> None:
    step = STEP.model_copy(update={"undoing": (Undoing(interface="enP7s7", uuid="u-new", was_up=False),)})
    played.run(played.tried(step).call("restore"))
    assert "nmcli --wait 90 connection down uuid u-new" in played.said


@pytest.mark.parametrize(("fault", "why"), [
    ("bad", "netplan refused its files"), ("broken", "a profile that did not come up"),
])  # fmt: skip
def test_a_trial_that_fails_asks_for_the_old_state_at_once(played: Played, fault: str, why: str) -> None:
    trial = played.arm(STEP)
    (played.root / fault).write_text("u-new")
    played.run(trial.call("try"))
    assert (played.root / "asked").exists()
    played.run(trial.call("restore"))
    assert played.state(trial) == f"rolled-back {why}"
    assert played.files("etc", "run") == BEFORE


def test_a_controller_that_does_not_like_it_has_it_undone_at_once(played: Played) -> None:
    trial = played.tried(STEP)
    assert played.run(trial.call("undo", "mtu 1500, it's")).returncode == 0
    assert (played.root / "asked").exists()
    assert played.run(trial.call("commit")).returncode != 0
    played.run(trial.call("restore"))
    assert played.state(trial) == "rolled-back mtu 1500, it's"


@pytest.mark.parametrize("fault", ["refuse", "dead"])
def test_without_a_timer_nothing_is_changed_and_nothing_stays(played: Played, fault: str) -> None:
    (played.root / fault).touch()
    done = played.run(guard_script.Trial(STEP).arm)
    assert done.returncode == 71
    assert done.stderr.splitlines()[-1] == "expected the timer sparks-guard.timer to run, found it not active"
    assert played.files("etc", "run") == BEFORE
    assert not played.is_armed
    assert [path.name for path in (played.root / "home").iterdir()] == ["lock"]


def test_beside_another_guard_nothing_is_armed_and_it_is_named(played: Played) -> None:
    first = played.tried(STEP)
    done = played.run(guard_script.Trial(STEP).arm)
    assert done.returncode == 75
    assert done.stderr.startswith("expected no other guard on this host, found one armed by spark from 10.0.0.2 at ")
    assert played.run(first.call("commit")).returncode == 0


def test_a_guard_without_its_timer_is_told_and_can_be_ended(played: Played) -> None:
    first = played.tried(STEP)
    (played.root / "units" / "sparks-guard.timer").unlink()
    done = played.run(guard_script.Trial(STEP).arm)
    assert "expected no guard without its timer, found one armed by spark" in done.stderr
    assert played.run(first.call("commit")).returncode != 0, "what no timer undoes is not made durable"
    played.run(first.call("restore"))
    assert played.files("etc", "run") == BEFORE
    played.arm(STEP)


def test_what_an_ended_guard_left_is_cleared_and_told(played: Played) -> None:
    played.run(played.tried(STEP).call("restore"))
    done = played.run(guard_script.Trial(STEP).arm)
    assert done.returncode == 0
    assert done.stdout.startswith("note: cleared a guard armed by spark from 10.0.0.2 at ")
    assert ", rolled-back no confirmation in 60 s" in done.stdout
    assert len([path for path in (played.root / "home").iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize("what", ["run", "etc"])
def test_what_somebody_changes_meanwhile_is_not_made_durable(played: Played, what: str) -> None:
    trial = played.tried(STEP)
    (played.root / what / NEW).write_text("somebody's\n")
    done = played.run(trial.call("commit"))
    assert done.returncode == 65
    assert done.stderr.endswith("found it changed\n")
    played.run(trial.call("restore"))
    left = BEFORE | ({f"etc/{NEW}": "somebody's\n"} if what == "etc" else {})
    assert played.files("etc", "run") == left


def test_a_file_under_run_of_somebody_else_is_not_taken_away(played: Played) -> None:
    (played.root / "run").mkdir()
    (played.root / "run" / OLD).write_text("somebody's\n")
    assert played.run(guard_script.Trial(STEP).arm).returncode == 65
    assert played.files("run") == {f"run/{OLD}": "somebody's\n"}


def test_a_commit_killed_anywhere_is_all_new_or_becomes_all_old(played: Played) -> None:
    trial, number, ends = played.tried(STEP), 0, set()
    while True:
        number += 1
        played.kill_at(number)
        played.run(trial.call("commit"))
        reached = played.calls
        played.kill_at(0)
        played.run(trial.call("restore"))
        found = {path: text for path, text in played.files("etc", "run").items() if "/." not in path}
        ends.add(found == AFTER)
        assert found in (AFTER, BEFORE), f"killed at call {number}"
        if found == BEFORE:
            assert played.files("var", "etc", "run") == BEFORE, f"killed at call {number}"
        if reached < number:
            break
        (played.root / "units" / "sparks-guard.timer").unlink(missing_ok=True)
        for path, text in BEFORE.items():
            (played.root / path).write_text(text)
        trial = played.tried(STEP)
    assert number > 15
    assert ends == {True, False}


def test_a_trial_killed_anywhere_becomes_all_old(played: Played) -> None:
    number = 0
    while True:
        number += 1
        trial = played.arm(STEP)
        played.kill_at(number)
        played.run(trial.call("try"))
        reached = played.calls
        played.kill_at(0)
        played.run(trial.call("restore"))
        assert played.files("etc", "run", "var") == BEFORE, f"killed at call {number}"
        for unit in (played.root / "units").iterdir():
            unit.unlink()
        if reached < number:
            break
    assert number > 5


def test_the_fact_reads_what_the_script_keeps(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    from facts import guard

    monkeypatch.setattr(guard, "HOME", str(played.root / "home"))
    monkeypatch.setattr(guard, "as_root", lambda command: command)
    look = guard.Guard()

    def seen() -> SimpleNamespace:
        found = parse_guard("\n".join(
            line for line in played.run(look.command()).stdout.splitlines() if line != "end-of-fact"
        ))  # fmt: skip
        return SimpleNamespace(trial=found.trial, ended=found.ended)

    assert (seen().trial, seen().ended) == (None, ())
    trial = played.tried(STEP)
    at_work = seen().trial
    assert (at_work.token, at_work.seconds, at_work.is_armed) == (trial.token, 60, True)
    (played.root / "units" / "sparks-guard.timer").unlink()
    assert not seen().trial.is_armed
    played.run(trial.call("restore"))
    assert seen().trial is None
    (ended,) = seen().ended
    assert ended.startswith("spark from 10.0.0.2 at ")
    assert ended.endswith(": rolled-back no confirmation in 60 s")
