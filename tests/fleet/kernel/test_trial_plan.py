"""What a trial is going to do is a document: another boot, another policy or another Spark is another digest."""

from fleet.kernel.trial import First, Phase
from fleet.kernel.trial_plan import TrialPlan, host_trial
from fleet.kernel.trial_target import trial_target
from fleet.refusal import Refusal
from fleet.roster import Roster
from fleet.target import Target
from tests.fleet.kernel.test_trial import OLD, POLICY, READY, entry
from tests.fleet.test_roster import GOOD

ROSTER = Roster.read(GOOD, "test")
A = ROSTER.desired_for("a")
FIRST = First(Phase.DRAIN, entry(POLICY.release))
SPARK = Target(name="a", kind="spark", hosts=("a",))
HERE = READY.replaced(host="a")


def plan(first: First = FIRST, fallback: str = OLD) -> TrialPlan:
    trial = host_trial(A, POLICY.replaced(fallback=fallback), HERE, first)
    return TrialPlan(target=SPARK, hosts=(trial,))


def test_the_same_trial_has_the_same_digest_and_another_has_another() -> None:
    assert plan().digest == plan().digest
    other_words = entry(POLICY.release).replaced(parameters=("quiet", "panic=5"))
    others = {
        plan(fallback="6.11.0-1016-nvidia").digest,
        plan(First(Phase.QUALIFY, entry(POLICY.release))).digest,
        plan(First(Phase.DRAIN, other_words)).digest,
    }
    assert len(others | {plan().digest}) == 4


def test_nothing_is_drained_where_nothing_serves() -> None:
    drains = {desired.ollama is not None: host_trial(desired, POLICY, HERE, FIRST).phases[0]
              for desired in map(ROSTER.desired_for, ROSTER.enrolled)}  # fmt: skip
    assert drains.get(False, Phase.BOOT) is Phase.BOOT
    assert drains.get(True, Phase.DRAIN) is Phase.DRAIN
    serving = host_trial(A, POLICY, HERE, FIRST).replaced(drains=True)
    assert serving.phases == (Phase.DRAIN, Phase.BOOT, Phase.QUALIFY, Phase.PERSIST)
    assert serving.replaced(begins=Phase.QUALIFY).phases == (Phase.QUALIFY, Phase.PERSIST)


def test_its_text_says_what_a_power_cycle_does_and_ends_with_what_is_approved() -> None:
    lines = plan().text.splitlines()
    assert any(f"the default stays {OLD}, which a power cycle returns to" in line for line in lines)
    assert lines[-1] == f"plan {plan().digest} for a"
    assert TrialPlan(target=SPARK, hosts=()).text.startswith("nothing to try\n")


def test_a_cluster_is_its_sparks_in_the_order_of_their_ranks() -> None:
    values = {**GOOD, "clusters": {"both": {"fabric": "rails", "sparks": ["b", "a"]}}}
    roster = Roster.read(values, "test")
    assert trial_target(roster, "both") == Target(name="both", kind="cluster", hosts=("b", "a"))
    assert trial_target(roster, "a") == SPARK


def test_a_cluster_with_a_spark_that_is_only_named_is_refused() -> None:
    values = {**GOOD, "sparks": {**GOOD["sparks"], "b": {**GOOD["sparks"]["b"], "enrolled": False}},
              "clusters": {"both": {"fabric": "rails", "sparks": ["a", "b"]}}}  # fmt: skip
    found = trial_target(Roster.read(values, "test"), "both")
    assert isinstance(found, Refusal)
    assert (found.code, found.found) == ("target_only_named", "b, only named and so never touched")
