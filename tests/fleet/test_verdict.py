"""How a run ended, by what was done and by what is there afterwards."""

from collections.abc import Sequence

import pytest

from fleet.health import Finding
from fleet.health import Verdict as Health
from fleet.outcome import Outcome
from fleet.plan import Plan, Refusals
from fleet.refusal import Refusal
from fleet.verdict import NOTHING_DUE, Ran, verdict
from tests.fleet import observed
from tests.fleet.test_plan import A, done, planned

DRIFTED = Refusal(code="drifted", subject="a file", expected="it as it was", found="it otherwise")
UNSEEN = Refusal(code="unobserved", subject="a", expected="an observation", found="no answer")
SAME, DUE = planned(done(A)), planned(observed.blank("a"))
UNKNOWN = Refusals(refusals=(DRIFTED,))
GOOD = Finding(code="generation", subject="a stamp", verdict=Health.OK, expected="one", found="one")
BAD = GOOD.replaced(verdict=Health.DIFFERS, found="none")
BLIND = GOOD.replaced(verdict=Health.UNOBSERVED, found="no answer")
ACTED = Ran(acted=True)


@pytest.mark.parametrize(
    ("ran", "again", "findings", "outcome"),
    [
        (NOTHING_DUE, SAME, [GOOD], Outcome.FOUND_AS_DESIRED),
        (ACTED, SAME, [GOOD], Outcome.CONVERGED),
        (ACTED, SAME, [GOOD, BAD], Outcome.DIFFERS),
        (ACTED, SAME, [BLIND], Outcome.FAILED),
        (ACTED, SAME, [BLIND, BAD], Outcome.DIFFERS),
        (ACTED, Refusals(refusals=(UNSEEN,)), [BLIND], Outcome.FAILED),
        (ACTED, Refusals(refusals=(UNSEEN, DRIFTED)), [BLIND], Outcome.DIFFERS),
        (Ran(True, ("a",), (), (UNSEEN,)), SAME, [], Outcome.FAILED),
        (Ran(False, finished=True), SAME, [GOOD], Outcome.CONVERGED),
        (NOTHING_DUE, SAME, [BAD], Outcome.DIFFERS),
        (ACTED, DUE, [GOOD], Outcome.DIFFERS),
        (ACTED, UNKNOWN, [GOOD], Outcome.DIFFERS),
        (Ran(False, ("a",), (DRIFTED,)), DUE, [], Outcome.REFUSED),
        (Ran(True, ("a",), (DRIFTED,)), DUE, [], Outcome.FAILED),
        (Ran(False, ("a",)), DUE, [], Outcome.FAILED),
        (Ran(True, ("a",)), SAME, [GOOD], Outcome.FAILED),
        (Ran(True, ("a",), (), (DRIFTED,)), DUE, [], Outcome.DIFFERS),
        (Ran(True, ("a", "b"), (DRIFTED,), (DRIFTED,)), DUE, [], Outcome.FAILED),
    ],
)
def test_an_end_is_good_only_where_all_of_it_is(
    ran: Ran, again: Plan | Refusals, findings: Sequence[Finding], outcome: Outcome
) -> None:
    found = verdict(ran, again, findings)
    assert found.outcome is outcome
    assert (found.reason is None) == outcome.is_good


def test_what_is_left_and_what_is_wrong_is_told() -> None:
    assert isinstance(DUE, Plan)
    assert all(step.subject in str(verdict(ACTED, DUE, ()).reason) for step in DUE.steps)
    assert str(BAD) in str(verdict(ACTED, SAME, [BAD]).reason)
    assert verdict(ACTED, UNKNOWN, ()).refusals == (DRIFTED,)
