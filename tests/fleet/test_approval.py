"""What an approval lets a run do: exactly its plan, on its hosts, in its time; and what its own hand has moved."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fleet.agreement import Declared, disagreements
from fleet.approval import Approval, chosen, unapproved
from fleet.moved import moved
from fleet.ollama.steps import LoadResident
from fleet.plan import Plan
from fleet.planned import PlannedCommand
from fleet.rail_active import Activate
from fleet.rail_gid import RenewGid
from fleet.refusal import Refusal
from fleet.step import Step
from fleet.target import Target
from tests.fleet import observed
from tests.fleet.test_plan_document import ROSTER, blank, made

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
B = Target(name="b", kind="spark", hosts=("b",))
CHAT = Target(name="chat", kind="deployment", hosts=("a",))
PLAN, OTHER, SERVING = made(), made(target=B), made(target=CHAT)
PLANS = (PLAN, OTHER, SERVING)


def codes(found: Any) -> list[str]:
    return [each.code for each in found] if isinstance(found, tuple) else []


def test_an_approval_is_of_one_plan_for_some_time() -> None:
    given = Approval.of(PLAN, "spark@desk", NOON, 60)
    assert given.refusal(PLAN, NOON + timedelta(seconds=59)) is None
    late, another = given.refusal(PLAN, NOON + timedelta(seconds=60)), given.refusal(SERVING, NOON)
    assert late is not None
    assert late.code == "approval_expired"
    assert another is not None
    assert another.code == "plan_moved"
    assert Approval.from_canonical(given.canonical) == given


def test_each_host_has_exactly_one_plan() -> None:
    assert chosen([PLAN.digest, OTHER.digest], PLANS) == {"a": PLAN, "b": OTHER}
    assert chosen([SERVING.digest, OTHER.digest], PLANS) == {"a": SERVING, "b": OTHER}
    assert codes(chosen([PLAN.digest], PLANS)) == ["not_approved"]
    assert codes(chosen([each.digest for each in PLANS], PLANS)) == ["approved_twice"]
    assert codes(chosen(["sha256:" + "0" * 64, PLAN.digest], PLANS)) == ["plan_moved"]


def kind(of: type[Step]) -> Step:
    return next(each for each in PLAN.steps if isinstance(each, of))


ACTIVATE, LOAD = kind(Activate), kind(LoadResident)
GID = RenewGid(**{name: value for name, value in dict(ACTIVATE).items() if name != "kind"} | {"before": "no GID"})


@pytest.mark.parametrize(
    ("step", "done", "is_approved"),
    [
        (ACTIVATE, set(), True),
        (ACTIVATE.replaced(reason="another"), set(), True),
        (ACTIVATE.replaced(before="another"), set(), False),
        (ACTIVATE.replaced(before="another", after="another"), {"write_document"}, True),
        (ACTIVATE.replaced(before="another", interface="enp1s0f1np1"), {"write_document"}, False),
        (ACTIVATE.replaced(before="another"), {"ollama_service"}, False),
        (ACTIVATE.replaced(subject="a enp9"), {"write_document"}, False),
        (GID, {"activate"}, True),
        (GID, set(), False),
        (LOAD.replaced(before="still loading"), {"ollama_service"}, True),
        (LOAD.replaced(before="still loading"), set(), False),
        (LOAD.replaced(context=1), {"ollama_service"}, False),
    ],
)
def test_a_step_is_the_approved_one_or_does_the_same_where_the_run_moved_it(
    step: Step, done: set[str], is_approved: bool
) -> None:
    refusal = unapproved(PLAN.host("a").steps, step, done)
    assert (refusal is None) is is_approved
    assert refusal is None or refusal.code == "drifted"
    nothing = unapproved(None, step, done)
    assert nothing is not None
    assert nothing.code == "not_approved"


def test_what_moved_is_told() -> None:
    assert moved(PLAN, made()) == ()
    port = "enp1s0f0np0"
    lines = moved(PLAN, made(observed.with_link(blank("a"), observed.link(port, 1400))))
    assert "a links: expected it as it was looked at, found it moved" in lines
    assert any(line.startswith(f"a {port}: expected addresses none, mtu 1500, ") for line in lines)
    done = made(observed.as_desired(ROSTER.desired_for("b").rail_ends, "b"), target=B)
    assert all("found nothing due" in line for line in moved(OTHER, done) if "0600" in line)
    assert moved(PLAN, SERVING) == ("target: expected spark a, found deployment chat",)
    (only,) = moved(PLAN, commanded(PLAN, "true"))
    (host,) = PLAN.hosts
    first, *others = host.operations
    because = first.replaced(steps=(first.steps[0].replaced(reason="because"), *first.steps[1:]))
    (told,) = moved(PLAN, PLAN.replaced(hosts=(host.replaced(operations=(because, *others)),)))
    assert told.endswith(" (because)"), "what is done is the same, why is not"
    assert only.startswith("how steps are carried out")


def commanded(plan: Plan, text: str) -> Plan:
    command = PlannedCommand(does="x", sends=(text,))
    return plan.with_commands({each.host: {one.name: (command,) for one in each.operations} for each in plan.hosts})


def test_operations_that_want_what_the_plan_says_agree() -> None:
    (host,) = PLAN.hosts
    said = [
        Declared(name=each.name, steps=each.steps, commands=(PlannedCommand(does="x"),)) for each in host.operations
    ]
    assert disagreements(host, said) == ()
    first, *others = said
    idle = Declared(name="management", steps=(), commands=())
    assert disagreements(host, [*said, idle]) == ()
    for wrong in (
        others,
        [first.replaced(steps=()), *others],
        [first.replaced(steps=(*first.steps, LOAD)), *others],
        [first, first, *others],
        [*said, idle.replaced(commands=(PlannedCommand(does="refuse: no"),))],
        [*said, idle.replaced(steps=(LOAD,))],
    ):
        assert len(disagreements(host, wrong)) == 1
    assert isinstance(unapproved(None, LOAD), Refusal)
