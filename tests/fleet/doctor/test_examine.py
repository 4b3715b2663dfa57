"""A host: nothing where it is well, every section that was not seen, and the planner's word, no more and no less."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facts.needs import looks_for
from facts.needs_doctor import doctor_looks, slow_looks
from fleet.decide import considered
from fleet.doctor.check import Host
from fleet.doctor.examine import examine, wanted_sections
from fleet.doctor.finding import Finding, Level
from fleet.observation import NOT_LOOKED, Observation, known
from fleet.refusal import Refusal
from fleet.step import Step
from fleet.target import Scope
from tests.fleet import observed
from tests.fleet.doctor.hosts import DESIRED, SILENT, host, well
from tests.fleet.doctor.policies import HOST, KERNEL
from tests.fleet.test_ledger import CONTAINER
from tests.fleet.test_processes import process

SEEN = sorted(name for name in Observation.model_fields if name != "host" and getattr(well(), name) != NOT_LOOKED)


def ids(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(str(each.level), each.id) for each in findings]


def test_on_a_spark_that_is_well_only_what_is_not_there_is_told() -> None:
    assert ids(examine(host())) == [("INFO", "unobserved.section")]
    (docker,) = examine(host())
    assert str(docker) == "INFO unobserved.section a containers: expected an observation, found docker is not installed"


def test_docker_that_does_not_answer_is_an_error_where_something_runs_in_it() -> None:
    runs = process(20, container_id=CONTAINER.id, options={"model": "m"})
    found = examine(host(processes=known(host().seen.processes).replaced(processes=(runs,))))
    assert ("ERROR", "unobserved.section") in ids(found)


@pytest.mark.parametrize("section", SEEN)
def test_a_section_that_was_not_seen_is_an_error_by_its_name_and_once(section: str) -> None:
    found = examine(host(**{section: SILENT}))
    about = [each for each in found if each.found == SILENT.reason]
    named = [each for each in about if each.id == "unobserved.section"]
    assert [each.subject for each in named] == [f"a {section.replace('_', ' ')}"]
    assert named[0].level is (Level.INFO if section == "containers" else Level.ERROR)
    assert not any(each.id == "refused.unobserved" for each in about), "it is told already"


def test_a_host_of_which_nothing_was_seen_is_one_error() -> None:
    gone = Observation(host="a", **dict.fromkeys(doctor_looks(DESIRED), SILENT))
    (found,) = examine(Host(DESIRED, gone))
    assert (found.level, found.id, found.host, found.fix) == (Level.ERROR, "unobserved.host", "a", "ssh a sudo -n true")
    assert "no answer in 5 s" in str(found)
    (found,) = examine(Host(DESIRED, gone, ssh="ssh -p 2222 -l ada 192.0.2.7"))
    assert found.fix == "ssh -p 2222 -l ada 192.0.2.7 sudo -n true"


def planners(asked: Host) -> set[tuple[str, str, str]]:
    """Id, level and subject of all that the planner says, but for what it could not see."""
    outcomes = [each.outcome for scope in Scope for each in considered(asked.desired, asked.seen, scope)]
    refused = {("ERROR", f"refused.{each.code}", each.subject) for each in outcomes if isinstance(each, Refusal)}
    return refused | {("WARN", f"due.{each.kind}", each.subject) for each in outcomes if isinstance(each, Step)}


STATES: dict[str, Any] = {
    "blank fabric": well().replaced(**{name: getattr(observed.blank("a"), name) for name in ("netplan", "links")}),
    "no cable": observed.with_link(well(), observed.link("enp1s0f0np0", 9000, ["10.1.1.1/24"], carrier=False)),
    "no interface": well().replaced(links=()),
    "MTU of 1500": observed.with_link(well(), observed.link("enp1s0f0np0", 1500, ["10.1.1.1/24"])),
    "no GID": well().replaced(roce_gids=()),
}


@pytest.mark.parametrize("state", STATES)
def test_what_the_planner_says_is_told_and_nothing_of_that_kind_besides(state: str) -> None:
    asked = Host(DESIRED, STATES[state])
    found = [each for each in examine(asked) if each.id.startswith(("refused", "due"))]
    told = {(str(each.level), each.id, each.subject) for each in found}
    said = {each for each in planners(asked) if each[1] != "refused.unobserved"}
    assert told == said
    assert said


def test_a_step_that_is_due_names_the_scope_and_the_command_that_mend_it() -> None:
    lost = examine(host(roce_gids=()))
    renew = next(each for each in lost if each.id == "due.renew_gid")
    assert (renew.scope, renew.fix) == (Scope.FABRIC, "sparks converge a --scope fabric")
    loads = examine(host(ollama_residency=known(host().seen.ollama_residency).replaced(residents=())))
    load = next(each for each in loads if each.id == "due.ollama_load")
    assert (load.scope, load.fix) == (Scope.SERVE, "sparks converge a")


@settings(max_examples=40)
@given(st.sets(st.sampled_from(SEEN)))
def test_no_mixture_of_what_was_seen_and_not_is_too_much(lost: set[str]) -> None:
    found = examine(host(**dict.fromkeys(lost, SILENT)))
    assert len(found) == len(set(found))
    told = {each.subject for each in found if each.id == "unobserved.section" and each.found == SILENT.reason}
    assert told == {f"a {section.replace('_', ' ')}" for section in lost} or any(
        each.id == "unobserved.host" for each in found
    )


@pytest.mark.parametrize("scope", Scope)
def test_doctor_asks_all_that_a_scope_asks_and_for_no_less(scope: Scope) -> None:
    everything = DESIRED.replaced(kernel=KERNEL, host=HOST)
    asked = doctor_looks(everything)
    for section, look in looks_for(everything, scope).items():
        mine = dict(asked[section].arguments)
        assert asked[section].fact is look.fact
        for key, value in look.arguments:
            assert words(value) <= words(mine[key]), section


def words(value: Any) -> set[Any]:
    return set(value.split()) if isinstance(value, str) else set(value or ())


def test_every_section_that_a_check_rests_on_is_asked_for() -> None:
    everything = DESIRED.replaced(kernel=KERNEL, host=HOST)
    assert set(wanted_sections()) <= set(slow_looks(everything))
    assert set(wanted_sections()) - set(doctor_looks(everything)) == {"fragmentation"}
    without = set(wanted_sections()) - set(slow_looks(DESIRED))
    assert without == {"boot", "dkms", "kernels", "kho", "packages", "secure_boot", "upgrades"}, "of a kernel policy"
    assert set(wanted_sections()) <= set(Observation.model_fields)
