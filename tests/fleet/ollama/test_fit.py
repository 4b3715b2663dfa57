"""What Ollama shall load must fit into what is free, and exactly that has fitted before, or is tried on purpose."""

import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from fleet.candidate.incompatible import Incompatible
from fleet.candidate.join import DeploymentCandidate
from fleet.evidence import FitEvidence, FitSubject, admission_of
from fleet.fit.admission import NOBODY, Admission, Admitted, By
from fleet.fit.instrument import GIB, Instrument
from fleet.gpu import ComputeApp, GpuAnswer, GpuState
from fleet.invocation import Running
from fleet.kernel.running import CommandLine
from fleet.observation import Observation
from fleet.ollama import candidate as candidates
from fleet.ollama.candidate import candidate_of
from fleet.ollama.decide import resident_step
from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.explain import Answer, explained
from fleet.ollama.fit import admitted, memory_word
from fleet.ollama.measured import Occasion, fit_evidence
from fleet.ollama.observed import ModelStore
from fleet.ollama.short import did_not_fit
from fleet.ollama.steps import LoadResident, PullModel
from fleet.processes import EngineProcess, EngineProcesses, ProcessMemory
from fleet.record import Unobserved
from fleet.refusal import Refusal
from tests.fleet.ollama import fitting, host
from tests.fleet.ollama.fitting import DESIRED, POLICY, evidenced, seen, subject

FIRST = Admission(first=frozenset({"srv5"}))


def word(found: Observation, admission: Admission = NOBODY, desired: OllamaDeployment = DESIRED) -> str:
    return str(memory_word(desired, found, POLICY, admission))


def test_what_nobody_declared_is_not_held_up() -> None:
    found = host.seen(residents=())
    assert word(found, desired=host.DESIRED) == "memory fit: not declared"
    step = resident_step(host.STAY, host.DESIRED, found)
    assert isinstance(admitted(step, host.DESIRED, found, POLICY, NOBODY), LoadResident)


def test_what_is_loaded_as_declared_needs_no_admission() -> None:
    assert word(seen(free_gib=1, residents=(host.loaded(),))) == "memory fit: nothing is to be loaded"


def test_a_load_without_evidence_is_refused_with_the_command_that_tries_it() -> None:
    assert word(seen()) == (
        "srv5 memory: expected evidence that exactly this has fitted, found none [fit_not_evidenced]\n"
        "  to try it for the first time: sparks converge srv5 --admit-first; with pyinfra: --data admit=srv5"
    )


def test_a_load_with_evidence_of_exactly_it_is_admitted_by_it() -> None:
    found = memory_word(DESIRED, seen(), POLICY, evidenced(subject()))
    assert found == Admitted(by=By.EVIDENCE, subject=subject().digest, evidence=host.A)
    assert str(found) == f"memory fit: admitted by evidence {host.A}"


def test_a_first_time_is_admitted_on_purpose_and_says_so() -> None:
    assert word(seen(), FIRST) == f"memory fit: admitted for the first time, without evidence of {subject().digest}"
    assert word(seen(), Admission(first=frozenset({"srv6"}))).endswith("--data admit=srv5")


def test_evidence_is_no_reason_to_load_what_does_not_fit_now() -> None:
    """3 GiB and a reserve of 8 GiB, and 10 are free."""
    for admission in (NOBODY, FIRST, evidenced(subject())):
        assert word(seen(10.0), admission) == (
            "srv5 memory: expected 3.00 GiB and a reserve of 8.00 GiB, found 10.00 GiB by MemAvailable free, 1.00 GiB "
            "less than that [memory_short]\n  sparks fit srv5"
        )
    assert word(seen(11.0), FIRST).startswith("memory fit: admitted")


def test_what_a_model_that_goes_gives_back_is_not_guessed() -> None:
    """It is loaded at another context, so it goes first: what is free then, nobody has said."""
    moving = (host.loaded(context_length=4096),)
    assert word(seen(10.0, residents=moving), FIRST).startswith("memory fit: admitted")
    assert "[fit_not_evidenced]" in word(seen(10.0, residents=moving))
    loading = (host.loaded(size_bytes=0, size_vram_bytes=0, context_length=None),)
    assert "[fit_not_evidenced]" in word(seen(10.0, residents=loading))


def test_what_is_above_the_ceiling_is_refused_whatever_goes() -> None:
    moving = (host.loaded(context_length=4096),)
    huge = DESIRED.replaced(models=(host.PIN.replaced(memory=fitting.NEEDS.replaced(weights_bytes=110 * GIB)),))
    found = memory_word(huge, seen(desired=huge, residents=moving), POLICY, FIRST)
    assert isinstance(found, Refusal)
    assert found.code == "memory_above_ceiling"


def test_only_what_is_still_to_be_loaded_must_find_room() -> None:
    both = fitting.two()
    one_there = seen(11.0, both, residents=(host.loaded(),))
    one_there = one_there.model_copy(update={"ollama_models": fitting.seen(desired=both).ollama_models})
    stores = ModelStore(source="api", models=(host.HELD, host.HELD.replaced(name="other:1b", manifest_digest=host.B)))
    found = one_there.model_copy(update={"ollama_models": stores})
    assert word(found, FIRST, both).startswith("memory fit: admitted")
    none_there = seen(11.0, both).model_copy(update={"ollama_models": stores})
    assert "expected 6.00 GiB and a reserve" in word(none_there, FIRST, both)


@pytest.mark.parametrize("section", ["memory", "kernel", "machine", "ollama_program"])
def test_what_cannot_be_observed_refuses(section: str) -> None:
    found = seen().model_copy(update={section: Unobserved(reason="dark")})
    assert word(found, NOBODY) == f"srv5 {section.replace('_', ' ')}: expected an observation, found dark [unobserved]"


def test_without_a_process_no_build_is_told_and_only_a_first_time_helps() -> None:
    found = seen().model_copy(update={"invocation": Running(invocation=None)})
    assert "found no process whose build could be told [fit_not_evidenced]" in word(found, evidenced(subject()))
    assert word(found, FIRST) == "memory fit: admitted for the first time, without evidence of its build"


def test_a_refusal_takes_the_place_of_each_load_and_of_nothing_else() -> None:
    found = seen()
    step = resident_step(host.STAY, DESIRED, found)
    assert isinstance(step, LoadResident)
    assert isinstance(admitted(step, DESIRED, found, POLICY, NOBODY), Refusal)
    assert admitted(None, DESIRED, found, POLICY, NOBODY) is None
    pull = PullModel(subject="s", before="b", after="a", reason="r", model="m", manifest_digest="d", size_bytes=1)
    assert admitted(pull, DESIRED, found, POLICY, NOBODY) is pull


def other_values(value: Any) -> list[Any]:
    """Values of the same kind that are others."""
    match value:
        case str() if value.startswith("sha256:"):
            return ["sha256:" + "c" * 64]
        case "whole":
            return []
        case str():
            return [f"{value}x"]
        case int():
            return [value + 1]
        case None:
            return ["0.33.1"]
        case _:
            return []


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Every value in plain JSON that is no container, with its place."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, each in items for leaf in leaves(each, (*path, key))]
    return [(path, value)]


def changed(path: tuple[Any, ...], value: Any) -> FitSubject | None:
    """The subject with one value changed; None where no such subject can be."""
    plain = json.loads(subject().canonical)
    place = plain
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    try:
        return FitSubject.model_validate_json(json.dumps(plain))
    except ValidationError:
        return None


def test_evidence_never_carries_over_whatever_single_thing_is_another() -> None:
    """Every field of the subject, changed alone: host, machine, kernel, build, runtime, artefact, context, settings."""
    tried = set()
    for path, value in leaves(json.loads(subject().canonical)):
        for each in ["ollama", "vllm", "llama.cpp"] if path[-1] == "runtime" else other_values(value):
            other = changed(path, each)
            if other is None or each == value:
                continue
            tried.add(path)
            assert other.digest != subject().digest
            assert "[fit_not_evidenced]" in word(seen(), evidenced(other)), path
            assert subject().differences(other), path
    names = {path[-1] for path in tried}
    assert {"name", "machine_id_digest", "release", "page_size_bytes", "content_digest", "version", "runtime",
            "manifest_digest", "context", "slots", "OLLAMA_NUM_PARALLEL"} <= names  # fmt: skip
    assert ("hosts", 0, "set_apart", 0) in tried


WORLDS: dict[str, dict[str, Any]] = {
    "another kernel release": {"kernel": fitting.KERNEL.replaced(release="7.0.0-1019-nvidia")},
    "another page size": {"kernel": fitting.KERNEL.replaced(page_size_bytes=65536)},
    "KHO on again": {"kernel": fitting.KERNEL.replaced(command_line=CommandLine())},
    "another machine": {"machine": fitting.MACHINE.replaced(machine_id_digest=host.A)},
    "another version": {"ollama_program": host.PROGRAM.replaced(version="0.33.2")},
    "another build": {"invocation": Running(invocation=host.PROCESS.replaced(executable_digest=host.B))},
}


@pytest.mark.parametrize("changes", WORLDS.values(), ids=list(WORLDS))
def test_what_is_seen_to_be_another_is_another(changes: dict[str, Any]) -> None:
    assert "[fit_not_evidenced]" in word(seen(**changes), evidenced(subject()))


WISHES: dict[str, OllamaDeployment] = {
    "another context": DESIRED.replaced(residents=(host.STAY.replaced(context=8448),)),
    "another artefact": DESIRED.replaced(models=(DESIRED.models[0].replaced(manifest_digest=host.B),)),
    "more slots": DESIRED.replaced(environment=DESIRED.environment | {"OLLAMA_NUM_PARALLEL": "3"}),
    "another KV cache": DESIRED.replaced(environment=DESIRED.environment | {"OLLAMA_KV_CACHE_TYPE": "q8_0"}),
    "one more model": fitting.two(),
}


@pytest.mark.parametrize("desired", WISHES.values(), ids=list(WISHES))
def test_what_is_wished_otherwise_is_another(desired: OllamaDeployment) -> None:
    assert subject(desired).digest != subject().digest


@pytest.mark.parametrize("name", ["OLLAMA_ORIGINS", "OLLAMA_KEEP_ALIVE", "OLLAMA_DEBUG", "OLLAMA_MODELS"])
def test_a_setting_that_memory_does_not_depend_on_is_no_part_of_it(name: str) -> None:
    value = "/1" if name == "OLLAMA_MODELS" else "1"
    assert subject(DESIRED.replaced(environment=DESIRED.environment | {name: value})) == subject()


def test_words_of_the_command_line_that_set_nothing_apart_are_no_part_of_it() -> None:
    assert subject().hosts[0].set_apart == ("kho=off",)


def test_what_is_loaded_and_well_is_evidence_of_it() -> None:
    occasion = Occasion(deployment="chat", at=host.NOON, by="ann@desk")
    after = seen(97.0, residents=(host.loaded(size_bytes=3 * GIB, size_vram_bytes=3 * GIB),))
    found = fit_evidence(DESIRED, seen(100.0), after, occasion)
    assert isinstance(found, FitEvidence)
    assert found.subject == subject()
    said = {each.instrument: (each.before_bytes, each.after_bytes, each.taken_bytes) for each in found.measured}
    assert said == {
        Instrument.MEM_AVAILABLE: (100 * GIB, 97 * GIB, 3 * GIB),
        Instrument.ENGINE: (0, 3 * GIB, 3 * GIB),
    }
    assert word(seen(), evidenced(found.subject)).startswith("memory fit: admitted by evidence")


GPU = GpuState(answer=GpuAnswer.SEEN, module="580", gpus=(), apps=())
SERVER = EngineProcess(
    runtime="ollama", role="server", pid=host.PROCESS.pid, ppid=1, start_ticks=host.PROCESS.start_ticks, under=None,
    comm="ollama", state="S", uid=1, memory=ProcessMemory(rss_bytes=5, rss_file_bytes=1),
)  # fmt: skip
RUNNER = SERVER.replaced(role="runner", pid=70, ppid=7, under=7, memory=ProcessMemory(rss_bytes=9, rss_file_bytes=0))
OTHER = SERVER.replaced(pid=99, memory=ProcessMemory(rss_bytes=100, rss_file_bytes=0))


def test_each_instrument_that_was_read_stands_in_the_evidence_by_itself() -> None:
    """Of processes, those of this Ollama and its runners alone."""
    processes = EngineProcesses(processes=(SERVER, RUNNER, OTHER), others_anonymous_bytes=0)
    apps = [ComputeApp(pid=pid, name="ollama", used_bytes=count) for pid, count in ((70, 30), (99, 400))]
    after = seen(97.0, residents=(host.loaded(),), processes=processes, gpu=GPU.replaced(apps=tuple(apps)))
    occasion = Occasion(deployment="chat", at=host.NOON, by="ann@desk")
    found = fit_evidence(DESIRED, seen(100.0, processes=processes.replaced(processes=(SERVER,))), after, occasion)
    assert isinstance(found, FitEvidence)
    said = {each.instrument: (each.before_bytes, each.after_bytes) for each in found.measured}
    assert said[Instrument.RSS] == (5, 14)
    assert said[Instrument.COMPUTE_APPS] == (None, 30)
    dark = after.model_copy(update={"gpu": Unobserved(reason="hung")})
    without = fit_evidence(DESIRED, None, dark, occasion)
    assert isinstance(without, FitEvidence)
    assert Instrument.COMPUTE_APPS not in {each.instrument for each in without.measured}


def test_what_did_not_fit_is_evidence_that_nothing_admits() -> None:
    occasion = Occasion(deployment="chat", at=host.NOON, by="ann@desk", said="out of memory")
    found = fit_evidence(DESIRED, seen(100.0), seen(99.0), occasion)
    assert isinstance(found, FitEvidence)
    assert (found.fitted, found.said) == (False, "out of memory")
    refuted = admission_of([found])
    for admission in (refuted, refuted.replaced(first=frozenset({"srv5"}))):
        said = word(seen(), admission)
        assert f"expected no evidence that exactly this did not fit, found {found.digest} [known_not_to_fit]" in said
    assert "[fit_not_evidenced]" in word(seen(), admission_of([]))
    explained_so = explained("chat", DESIRED, seen(), POLICY, [found])
    assert (explained_so.answer, explained_so.refuted) == (Answer.REFUTED, found.digest)


def test_the_last_word_on_a_subject_stands() -> None:
    def at(minute: int, said: str | None) -> FitEvidence:
        occasion = Occasion(deployment="c", at=host.NOON + timedelta(minutes=minute), by="a", said=said)
        made = fit_evidence(DESIRED, None, seen(), occasion)
        assert isinstance(made, FitEvidence)
        return made

    fits, again, short, later = at(0, None), at(1, None), at(2, "out of memory"), at(3, None)
    key = fits.subject.digest
    assert admission_of([fits, again]) == Admission(evidence={key: fits.digest})
    assert admission_of([fits, again, short]) == Admission(refuted={key: short.digest})
    assert admission_of([fits, again, short, later]) == Admission(evidence={key: later.digest})


def test_what_is_known_not_to_go_together_wins_over_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    against = Incompatible(runtime=subject().runtime.digest, effect="garbled words", source="a lab, 2026")
    monkeypatch.setattr(candidates, "KNOWN", (against,))
    for admission in (evidenced(subject()), FIRST):
        assert "garbled words (a lab, 2026) [kernel_dispatch_unsupported]" in word(seen(), admission)
    monkeypatch.setattr(candidates, "KNOWN", ())
    (served,) = subject().served
    made = candidate_of(subject(), served, "sha256:x")
    assert isinstance(made, DeploymentCandidate)
    assert (made.asked.hosts, made.loads.source) == (("srv5",), "sha256:x")


@pytest.mark.parametrize(
    ("words", "is_short"),
    [
        ("load m: /api/generate: status 500: model requires more system memory (44.0 GiB) than is available", True),
        ("load m: /api/generate: status 500: cudaMalloc failed: out of memory", True),
        ("load m: /api/generate: no answer", False),
        ("load m: /api/generate: status 404: model 'memory' not found", False),
    ],
)
def test_only_the_engines_own_words_say_that_memory_was_short(words: str, is_short: bool) -> None:
    step = resident_step(host.STAY, DESIRED, seen())
    assert isinstance(step, LoadResident)
    found = did_not_fit(step, words)
    assert (found is not None) is is_short
    assert did_not_fit(None, words) is None


def test_where_nobody_looked_before_nothing_is_said_of_what_was_taken() -> None:
    found = fit_evidence(
        DESIRED, None, seen(residents=(host.loaded(),)), Occasion(deployment="c", at=host.NOON, by="a")
    )
    assert isinstance(found, FitEvidence)
    assert {each.taken_bytes for each in found.measured} == {None}


def test_nothing_is_evidence_of_what_nobody_declared() -> None:
    found = fit_evidence(host.DESIRED, None, host.seen(), Occasion(deployment="c", at=host.NOON, by="a"))
    assert isinstance(found, Refusal)
    assert found.code == "memory_not_declared"
