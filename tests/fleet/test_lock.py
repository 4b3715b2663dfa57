"""Whose lock it is, whether its run lives, and what that forbids: each by its evidence."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.controller import Controller
from fleet.decide import decide
from fleet.lock import Lock, LockState, Process, Taker
from fleet.lock_text import lock_head, parse_lock_state
from fleet.locked import is_ending, lock_refusal, unlock_refusal
from fleet.observation import Observation
from fleet.record import Unobserved
from tests.fleet.observed import BOOT, blank
from tests.fleet.test_plan import ROSTER

DIGEST = "sha256:" + "0d" * 32
DESK = Controller(
    user="ada", host="desk", boot_id="boot-1", pid=4321, started_ticks=77, pid_namespace="40", machine_id_digest=DIGEST
)  # fmt: skip
HELD = Lock(
    token="t1", client="10.0.0.2", since="2026-12-01 10:00:00 UTC", plan=None, controller=DESK, boot_id=BOOT,
    holder=Process(pid=1234, started_ticks=99), content_digest=DIGEST,
)  # fmt: skip


def state(**fields: Any) -> LockState:
    return LockState(**{"held": HELD, "boot_id": BOOT, "holder_lives": True} | fields)


def desk(**fields: Any) -> Controller:
    return Controller(**dict(DESK) | fields)


def seen(lock: LockState | Unobserved) -> Observation:
    return Observation(**dict(blank("a")) | {"lock": lock})


@pytest.mark.parametrize(("lock", "alive", "gone"), [
    (state(), "its process 1234 on the host lives", None),
    (state(at_work=True, holder_lives=False), "a command of it is at work on the host", None),
    (state(holder_lives=False), None, "its process 1234 on the host is gone"),
    (state(boot_id="another"), None, "the host has booted since"),
    (state(holder_lives=None), "no process on the host that would end with it", None),
    (state(controller_lives=True, holder_lives=False), "its process 4321 on desk lives", None),
    (state(controller_lives=False), None, "its process 4321 on desk is gone"),
    (state(controller_lives=False, at_work=True), "a command of it is at work on the host", None),
    (state(held=None, holder_lives=None), None, None),
])  # fmt: skip
def test_what_lives_of_the_run_that_took_it(lock: LockState, alive: str | None, gone: str | None) -> None:
    assert (lock.alive, lock.gone) == (alive, gone)


@pytest.mark.parametrize(("here", "ticks", "lives", "taker"), [
    (DESK, 77, True, Taker.THIS_RUN),
    (desk(pid=9, started_ticks=1), 77, True, Taker.SAME_OWNER),
    (desk(pid=9, started_ticks=1), 78, False, Taker.SAME_OWNER),
    (desk(pid=9, started_ticks=1), None, False, Taker.SAME_OWNER),
    (desk(pid=4321, started_ticks=78), 78, False, Taker.SAME_OWNER),
    (desk(boot_id="boot-2"), 77, False, Taker.SAME_OWNER),
    (desk(boot_id="boot-2", machine_id_digest=None), 77, None, Taker.SAME_OWNER),
    (desk(boot_id="boot-2", host="laptop"), 77, None, Taker.ANOTHER),
    (desk(boot_id=""), 77, None, Taker.SAME_OWNER),
    (desk(pid_namespace="41"), 77, None, Taker.SAME_OWNER),
    (desk(user="bob", pid=9, started_ticks=1), None, False, Taker.ANOTHER),
    (desk(user="bob", boot_id="boot-2"), 77, False, Taker.ANOTHER),
])  # fmt: skip
def test_who_looks_knows_a_process_only_on_its_own_machine(
    here: Controller, ticks: int | None, lives: bool | None, taker: Taker
) -> None:
    """Its number may be another's by now; after a reboot none lives; elsewhere, only the host can say."""
    found = state().seen_by(here, ticks)
    assert (found.controller_lives, found.taker) == (lives, taker)


STATES = st.builds(
    state,
    held=st.sampled_from([None, HELD]),
    holder_lives=st.sampled_from([True, False, None]),
    at_work=st.booleans(),
    controller_lives=st.sampled_from([True, False, None]),
    taker=st.sampled_from(Taker),
    boot_id=st.sampled_from([BOOT, "another"]),
)


@given(STATES)
def test_a_lock_is_free_or_its_run_lives_or_is_gone(lock: LockState) -> None:
    assert [lock.held is None, lock.alive is not None, lock.gone is not None].count(True) == 1


@given(STATES)
def test_what_a_run_may_not_take_either_lives_or_can_be_broken_by_name(lock: LockState) -> None:
    refusal = lock_refusal("a", seen(lock))
    if refusal is None:
        return
    assert lock.held is not None
    breaking = unlock_refusal("a", lock.held.owner, lock)
    assert (breaking is None) == (refusal.hint == f"sparks unlock a --owner {lock.held.owner}")
    assert (breaking is None) == (lock.alive is None)


@given(STATES)
def test_nothing_that_lives_is_taken_over_or_broken(lock: LockState) -> None:
    if lock.alive and lock.taker is not Taker.THIS_RUN:
        assert lock_refusal("a", seen(lock)) is not None
        assert lock.held is not None
        assert unlock_refusal("a", lock.held.owner, lock) is not None


def test_another_run_that_lives_is_refused_with_who_whence_and_since_when() -> None:
    held = Lock(**dict(HELD) | {"plan": DIGEST})
    assert str(lock_refusal("a", seen(state(held=held)))) == (
        "a lock: expected no other run on this host, found one of ada@desk from 10.0.0.2 since 2026-12-01 10:00:00 UTC"
        f", plan {DIGEST}; its process 1234 on the host lives [locked]\n  wait for its end"
    )


def test_what_another_left_takes_a_person_and_what_the_same_owner_left_does_not() -> None:
    left = state(holder_lives=False)
    refusal = lock_refusal("a", seen(left))
    assert refusal is not None
    assert refusal.found.endswith("; its process 1234 on the host is gone")
    assert refusal.hint == "sparks unlock a --owner ada@desk"
    assert lock_refusal("a", seen(state(holder_lives=False, taker=Taker.SAME_OWNER))) is None


def test_another_run_of_the_same_owner_is_refused_while_it_lives() -> None:
    assert lock_refusal("a", seen(state(taker=Taker.SAME_OWNER))) is not None


def test_the_lock_of_this_run_is_no_obstacle() -> None:
    assert lock_refusal("a", seen(state(taker=Taker.THIS_RUN, controller_lives=True))) is None


def test_a_dead_run_of_ones_own_ends_by_itself() -> None:
    ending = {"at_work": True, "taker": Taker.SAME_OWNER, "holder_lives": False}
    assert is_ending(state(**ending))
    assert not is_ending(state(**ending | {"at_work": False}))
    assert not is_ending(state(**ending | {"controller_lives": True}))
    assert not is_ending(state(**ending | {"taker": Taker.ANOTHER}))


def test_only_the_named_owner_is_unlocked() -> None:
    left = state(holder_lives=False)
    refusal = unlock_refusal("a", "bob@laptop", left)
    assert refusal is not None
    assert refusal.code == "lock_of_another"
    assert unlock_refusal("a", "ada@desk", left) is None
    assert unlock_refusal("a", "anybody", state(held=None)) is None


@pytest.mark.parametrize(("lock", "codes"), [
    (state(), {"locked"}), (Unobserved(reason="no sudo"), {"unobserved"}), (state(held=None), set()),
    (state(holder_lives=False, taker=Taker.SAME_OWNER), set()),
])  # fmt: skip
def test_a_plan_is_refused_beside_another_run(lock: LockState | Unobserved, codes: set[str]) -> None:
    outcomes = decide(ROSTER.desired_for("a"), seen(lock))
    assert {each.code for each in outcomes if hasattr(each, "code")} == codes


@given(st.builds(
    Controller,
    user=st.from_regex(r"[a-z._-]{1,9}", fullmatch=True),
    host=st.from_regex(r"[a-z.-]{1,9}", fullmatch=True),
    pid=st.integers(1, 2**22),
    started_ticks=st.integers(0, 2**50),
    boot_id=st.sampled_from(["", "11111111-2222-3333-4444-555555555555"]),
    pid_namespace=st.sampled_from([None, "4026531836"]),
    machine_id_digest=st.sampled_from([None, DIGEST]),
), st.sampled_from([None, DIGEST]))  # fmt: skip
def test_what_a_controller_writes_is_what_it_reads(there: Controller, plan: str | None) -> None:
    text = lock_head("t1", plan, there) + "from -\nsince 2026-12-01 10:00:00 UTC\nboot b\nholder 7 8"
    lines = "".join(f"| {line}\n" for line in text.splitlines())
    held = parse_lock_state(f"now b\ndigest {'0d' * 32}\n{lines}lives yes\n").held
    assert held is not None
    assert (held.token, held.plan, held.client, held.controller) == ("t1", plan, None, there)
    assert held.holder == Process(pid=7, started_ticks=8)
