"""Every fault at every command of a converge that makes rails and Ollama: it is told, and the next run finishes."""

import pytest

from tests.simulated.faults import Fault, Kind, Moment
from tests.simulated.matrix import DONE, FAILED, KILLED, REFUSED, Undisturbed
from tests.simulated.site import Converging, Natively, Site

RELEASE = "a lock release"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed.by(Converging(Site(tmp_path_factory.mktemp("site"))))


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed.by(Natively(Site(tmp_path_factory.mktemp("native"))))


def before_each(run: Undisturbed, kind: Kind) -> list[Fault]:
    return [Fault(kind, at) for at, command in enumerate(run.commands) if command != RELEASE]


def test_undisturbed_it_takes_the_lock_acts_reads_back_stamps_and_lets_go(run: Undisturbed) -> None:
    assert run.ran.status == DONE, run.ran.said
    acts = [each.removeprefix("a ") for each in run.commands if each != "a look"]
    assert acts == [
        "lock take", "write_document", "write_document", "activate", "activate", "ollama_service", "ollama_pull",
        "ollama_load", "generation", "lock release",
    ]  # fmt: skip
    for number in run.steps:
        assert run.commands[number + 1] == "a look", "what was done is read back"
    assert run.differs(run.ran) is None
    stamp = run.ran.world.sparks["a"].settled()["generation"]
    assert stamp == {"begun": False, "stamped": True, "scope": "serve", "knows what runs": True}


def test_natively_it_comes_to_the_same_end_by_the_same_commands(run: Undisturbed, native: Undisturbed) -> None:
    assert native.ran.status == DONE, native.ran.said
    assert run.commands[: len(native.commands)] == native.commands
    assert run.differs(native.ran) is None


def test_a_second_run_only_looks(run: Undisturbed, native: Undisturbed) -> None:
    again = native.operator.site.pyinfra(native.ran.world.next_run(), "-y")
    assert (again.status, again.world.commands) == (DONE, ["a look", "a look"])
    looked = run.operator.look(run.ran.world.next_run()).ran
    assert (looked.status, set(looked.world.commands)) == (DONE, {"a look"})


def test_the_controller_is_killed(run: Undisturbed) -> None:
    """What is killed behind a command is killed before the next: a host does not see the difference."""
    run.expect([Fault(Kind.KILLED, at) for at in range(len(run.commands))], KILLED)


def test_the_controller_is_killed_natively(native: Undisturbed) -> None:
    native.expect([Fault(Kind.KILLED, at) for at in range(len(native.commands))], KILLED)


def test_the_controller_is_killed_and_its_last_command_is_still_at_work(run: Undisturbed) -> None:
    """The next run waits for its end before it looks."""
    cuts = [(at, part) for at in run.steps for part in range(1, run.parts[at])]
    assert cuts
    run.expect([Fault(Kind.KILLED, at, Moment.MIDST, part) for at, part in cuts], KILLED)


def test_ssh_is_dropped_before_a_command_reaches_the_host(run: Undisturbed) -> None:
    run.expect(before_each(run, Kind.DROPPED), FAILED, REFUSED)


def test_ssh_is_dropped_before_the_answer_arrives(run: Undisturbed) -> None:
    acts = [at for at, command in enumerate(run.commands) if command not in ("a look", RELEASE)]
    run.expect([Fault(Kind.DROPPED, at, Moment.AFTER) for at in acts], FAILED)


def test_the_host_loses_its_power(run: Undisturbed) -> None:
    run.expect(before_each(run, Kind.POWER), FAILED, REFUSED)


def test_the_host_loses_its_power_in_the_middle_of_a_step(run: Undisturbed) -> None:
    cuts = [(at, part) for at in run.steps for part in range(1, run.parts[at] + 1)]
    run.expect([Fault(Kind.POWER, at, Moment.MIDST, part) for at, part in cuts], FAILED)


def test_all_is_done_where_only_the_lock_is_not_released(run: Undisturbed) -> None:
    release = run.commands.index(RELEASE)
    run.expect([Fault(Kind.DROPPED, release), Fault(Kind.SUDO, release + 1)], DONE, FAILED)


def test_the_disk_is_full(run: Undisturbed) -> None:
    run.expect([Fault(Kind.DISK, at) for at in range(1, run.steps[-1] + 1)], FAILED, REFUSED)


def test_sudo_is_lost(run: Undisturbed) -> None:
    run.expect(before_each(run, Kind.SUDO), FAILED, REFUSED)


def test_the_clock_jumps(run: Undisturbed) -> None:
    """What was approved when the run began stays approved, and nothing else rests on a clock."""
    looks = [0, 1, len(run.commands) - 1]
    acts = [at for at, command in enumerate(run.commands) if command != "a look"]
    run.expect([Fault(Kind.CLOCK, at) for at in [*looks, *acts]], DONE)


def test_a_write_that_the_host_lost_is_no_success(run: Undisturbed) -> None:
    run.expect([Fault(Kind.LOST, at) for at in [run.commands.index("a lock take"), *run.steps]], FAILED)
