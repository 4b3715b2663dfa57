"""What is due, what is refused, and the law: apply the steps to the state, decide again, nothing is left."""

import ast
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fleet.observation import Observation
from fleet.ollama.decide import evict_steps, model_step, resident_step, service_step
from fleet.ollama.deployment import OllamaDeployment, OllamaModelPin, OllamaResidentPin
from fleet.ollama.disrupt import disrupts
from fleet.ollama.residents_unit import residents_text
from fleet.ollama.service import ResidentsUnit, SettingsFile
from fleet.ollama.setting_values import PLACES, expected_value
from fleet.ollama.settings import SETTINGS
from fleet.ollama.steps import ConfigureService, LoadResident, PullModel
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.step import Effect, Step
from tests.fleet.ollama.host import DESIRED, HELD, PIN, STAY, A, B, applied, loaded, own_file, seen, service, states


def outcomes(found: Observation, desired: OllamaDeployment = DESIRED) -> list[Step | Refusal]:
    every = [
        service_step(desired, found),
        *(model_step(pin, found) for pin in desired.models),
        *evict_steps(desired, found),
        *(resident_step(pin, desired, found) for pin in desired.residents),
    ]
    return [each for each in every if each is not None]


def test_as_desired_nothing_is_due() -> None:
    assert outcomes(seen()) == []


@given(states())
def test_once_every_step_is_applied_nothing_is_left(found: Observation) -> None:
    after = found
    for step in outcomes(found):
        assert isinstance(step, Step)
        after = applied(step, DESIRED, after)
    assert outcomes(after) == []


@given(states(), st.integers(0, 4))
def test_a_killed_run_is_finished_by_the_next(found: Observation, killed_after: int) -> None:
    for step in outcomes(found)[:killed_after]:
        assert isinstance(step, Step)
        found = applied(step, DESIRED, found)
    for step in outcomes(found):
        assert isinstance(step, Step)
        found = applied(step, DESIRED, found)
    assert outcomes(found) == []


@given(states())
def test_the_plan_foresees_every_step(found: Observation) -> None:
    """Deciding again between two steps finds the steps that the first look foresaw."""
    planned = outcomes(found)
    for place, step in enumerate(planned):
        assert [each.subject for each in outcomes(found)] == [each.subject for each in planned[place:]]
        assert isinstance(step, Step)
        found = applied(step, DESIRED, found)


def test_a_restart_is_due_only_where_the_process_differs() -> None:
    unwritten = service(drop_ins=(), process_environment=DESIRED.desired_environment)
    step = service_step(DESIRED, seen(unwritten))
    assert isinstance(step, ConfigureService)
    assert (step.write, step.reload, step.enable, step.restart) == (True, True, False, False)
    assert step.effect is Effect.WRITE
    stale = service(process_environment={"OLLAMA_HOST": "127.0.0.1:1"})
    step = service_step(DESIRED, seen(stale))
    assert isinstance(step, ConfigureService)
    assert (step.write, step.restart, step.effect) == (False, True, Effect.RESTART)
    assert "OLLAMA_HOST=127.0.0.1:1" in step.before


def test_a_setting_that_was_given_up_is_out_of_the_process_too() -> None:
    old = {**DESIRED.desired_environment, "OLLAMA_DEBUG": "1"}
    step = service_step(DESIRED, seen(service(process_environment=old)))
    assert isinstance(step, ConfigureService)
    assert step.restart


def test_residents_come_back_by_a_unit_that_goes_when_they_do() -> None:
    nothing_stays = DESIRED.model_copy(update={"residents": ()})
    step = service_step(nothing_stays, seen(service()))
    assert isinstance(step, ConfigureService)
    assert (step.residents, step.residents_text, step.restart) == (True, None, False)
    assert service_step(nothing_stays, seen(service(residents=ResidentsUnit()))) is None


def test_the_residents_unit_asks_for_each_resident_as_it_is_declared() -> None:
    text = residents_text(DESIRED)
    assert text is not None
    (line,) = [line for line in text.splitlines() if line.startswith("ExecStart=")]
    assert f"'{json.dumps({'model': PIN.name, 'keep_alive': -1, 'options': {'num_ctx': 8192}})}'" in line
    assert line.endswith(f" {DESIRED.endpoint.url}/api/generate")
    assert "%" not in line


def test_without_curl_residents_are_refused() -> None:
    found = service(residents=ResidentsUnit(has_curl=False))
    refusal = service_step(DESIRED, seen(found))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "curl_missing"


def later(path: str, **fields: Any) -> SettingsFile:
    return SettingsFile(path=path, **fields)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"load_state": "not-found"}, "ollama_unit_missing"),
        ({"load_state": "masked"}, "ollama_unit_masked"),
        ({"load_state": "bad-setting"}, "ollama_unit_unreadable"),
        ({"unit_file_state": "static"}, "ollama_unit_static"),
        (
            {"drop_ins": (own_file(), later("/run/zz.conf", environment={"OLLAMA_HOST": "127.0.0.1:1"}))},
            "ollama_setting_overridden",
        ),
        ({"drop_ins": (own_file(), later("/run/zz.conf", resets=True))}, "ollama_setting_overridden"),
        (
            {"environment_files": (later("/etc/default/ollama", environment={"OLLAMA_HOST": "1"}),)},
            "ollama_setting_overridden",
        ),
    ],
)
def test_a_unit_that_must_not_be_touched(changes: dict[str, Any], code: str) -> None:
    refusal = service_step(DESIRED, seen(service(**changes)))
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


def test_an_earlier_drop_in_is_no_hindrance() -> None:
    file = later("/etc/systemd/system/ollama.service.d/override.conf", environment={"OLLAMA_HOST": "127.0.0.1:1"})
    assert service_step(DESIRED, seen(service(drop_ins=(file, own_file())))) is None


THEIRS = {"OLLAMA_DEBUG": "1"}
EXPANDED = {"OLLAMA_TMPDIR": "/root/tmp"}
SPECIFIED = SettingsFile(
    path="/etc/systemd/system/ollama.service.d/override.conf", environment={"OLLAMA_TMPDIR": "%h/tmp"},
    specifiers=("OLLAMA_TMPDIR",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "running"),
    [
        ({"manager_environment": THEIRS | {"LANG": "C"}}, THEIRS),
        ({"manager_environment": {"OLLAMA_KEEP_ALIVE": "1"}}, {}),
        ({"drop_ins": (SPECIFIED, own_file()), "unit_environment": EXPANDED}, EXPANDED),
        ({"manager_environment": THEIRS, "unset": ("OLLAMA_DEBUG", "LANG")}, {}),
        ({"manager_environment": THEIRS, "unset": ("OLLAMA_DEBUG=0",)}, THEIRS),
    ],
)
def test_what_systemd_makes_of_it_needs_no_restart(changes: dict[str, Any], running: dict[str, str]) -> None:
    process = DESIRED.desired_environment | running
    assert service_step(DESIRED, seen(service(process_environment=process, **changes))) is None
    other = service_step(DESIRED, seen(service(process_environment=process | {"OLLAMA_DEBUG": "7"}, **changes)))
    assert isinstance(other, ConfigureService)
    assert other.restart


@pytest.mark.parametrize("changes", [{"need_daemon_reload": True}, {"unit_environment": {}}])
def test_what_a_specifier_means_is_only_known_of_what_is_loaded(changes: dict[str, Any]) -> None:
    """A restart with its reload is planned together, and the next look finds nothing."""
    loaded_once: dict[str, Any] = {"drop_ins": (SPECIFIED, own_file()), "unit_environment": EXPANDED} | changes
    found = service(process_environment=DESIRED.desired_environment | EXPANDED, **loaded_once)
    step = service_step(DESIRED, seen(found))
    assert isinstance(step, ConfigureService)
    assert step.restart


def test_a_specifier_that_another_file_sets_again_means_nothing() -> None:
    """The loaded value is that of the last file, ours here: it says nothing of what is behind it."""
    ours = DESIRED.replaced(environment=dict(DESIRED.environment) | {"OLLAMA_TMPDIR": "/x"})
    both = service(drop_ins=(SPECIFIED, own_file(ours)), unit_environment={"OLLAMA_TMPDIR": "/x"},
                   process_environment=ours.desired_environment)  # fmt: skip
    assert service_step(ours, seen(both)) is None
    step = service_step(DESIRED, seen(both))
    assert isinstance(step, ConfigureService)
    assert (step.write, step.restart) == (True, True)


def test_what_the_unit_takes_away_is_no_setting() -> None:
    for unset in ("OLLAMA_HOST", f"OLLAMA_HOST={DESIRED.listen}"):
        refusal = service_step(DESIRED, seen(service(unset=(unset,))))
        assert isinstance(refusal, Refusal)
        assert (refusal.code, "UnsetEnvironment=" in refusal.found) == ("ollama_setting_overridden", True)


def test_models() -> None:
    assert isinstance(model_step(PIN, seen(models=())), PullModel)
    kept = PIN.model_copy(update={"pull": False})
    absent, other = model_step(kept, seen(models=())), HELD.model_copy(update={"manifest_digest": B})
    differs = model_step(PIN, seen(models=(other,)))
    assert isinstance(absent, Refusal)
    assert isinstance(differs, Refusal)
    assert absent.code == "model_absent"
    assert (differs.code, differs.expected, differs.found) == ("model_digest_differs", A, B)


MOVED = HELD.model_copy(update={"manifest_digest": B, "size_bytes": 7})
"""What the host has under the tag: another digest than the pin."""


def test_a_tag_that_moved_is_decided_by_one_of_two_rows() -> None:
    refusal = model_step(PIN, seen(models=(MOVED,)))
    assert isinstance(refusal, Refusal)
    assert refusal.hint is not None
    kept, moved = (ast.literal_eval(row) for row in re.findall(r"\{[^}]*\}", refusal.hint))
    assert model_step(OllamaModelPin(**kept), seen(models=(MOVED,))) is None
    step = model_step(OllamaModelPin(**moved), seen(models=(MOVED,)))
    assert isinstance(step, PullModel)
    assert (step.before, step.after, step.replaces, step.manifest_digest) == (B, A, B, A)


def test_a_tag_moves_from_the_named_digest_alone() -> None:
    for replaces in (None, "sha256:" + "c" * 64):
        assert isinstance(model_step(PIN.replaced(replaces=replaces), seen(models=(MOVED,))), Refusal)
    kept = PIN.replaced(replaces=B, pull=False)
    refusal = model_step(kept, seen(models=(MOVED,)))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.found) == ("model_absent", B)


def test_what_is_loaded_of_a_tag_that_moves_is_loaded_again() -> None:
    desired = DESIRED.replaced(models=(PIN.replaced(replaces=B),))
    found = seen(models=(MOVED,), residents=(loaded(manifest_digest=B),))
    steps = [model_step(desired.models[0], found), resident_step(STAY, desired, found)]
    assert [type(each) for each in steps] == [PullModel, LoadResident]
    assert isinstance(steps[0], PullModel)
    assert disrupts(steps[0], desired, found)
    assert not disrupts(steps[0], desired, seen(models=(MOVED,), residents=()))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"size_vram_bytes": 0}, "resident_on_cpu"),
        ({"size_vram_bytes": 10}, "resident_on_cpu"),
        ({"manifest_digest": B}, "resident_digest_differs"),
        ({"context_length": None}, "resident_context_unknown"),
    ],
)
def test_a_resident_that_loading_again_does_not_mend(changes: dict[str, Any], code: str) -> None:
    refusal = resident_step(STAY, DESIRED, seen(residents=(loaded(**changes),)))
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


@pytest.mark.parametrize(
    ("found", "is_due"),
    [
        ({"keep": "until", "seconds_left": 3600}, False),
        ({"keep": "until", "seconds_left": 1}, False),
        ({"keep": "until", "seconds_left": 7200}, True),
        ({"keep": "forever"}, True),
    ],
)
def test_a_finite_time_runs_down_and_is_not_renewed(found: dict[str, Any], is_due: bool) -> None:
    pin = OllamaResidentPin(model=PIN.name, context=8192, keep_alive="1h")
    step = resident_step(pin, DESIRED, seen(residents=(loaded(**found),)))
    assert isinstance(step, LoadResident) is is_due


def test_a_plan_does_not_change_with_the_clock() -> None:
    steps = {
        resident_step(STAY, DESIRED, seen(residents=(loaded(keep="until", seconds_left=left),))) for left in (300, 299)
    }
    assert len(steps) == 1


def test_undeclared_residents_stay_unless_the_deployment_says_otherwise() -> None:
    found = seen(residents=(loaded(), loaded(name="stranger:1")))
    assert [getattr(each, "model", None) for each in evict_steps(DESIRED, found)] == ["stranger:1"]
    assert evict_steps(DESIRED.model_copy(update={"evict_undeclared": False}), found) == ()


def test_what_was_not_observed_is_refused() -> None:
    blind = Unobserved(reason="ollama API http://127.0.0.1:11434/api/tags: connection refused")
    for found in (seen(models=blind), seen(residents=blind)):
        refusals = outcomes(found)
        assert refusals
        assert all(isinstance(each, Refusal) and each.code == "unobserved" for each in refusals)
        assert "connection refused" in str(refusals[0])


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"listen": "0.0.0.0"}, "listen_address"),
    ({"listen": "http://spark:80"}, "listen_address"),
    ({"listen": ":11434"}, "listen_address"),
    ({"listen": "spark:70000"}, "listen_address"),
    ({"environment": {"OLLAMA_HOST": "x"}}, "listen_is_host"),
    ({"environment": {"OLLAMA_KEEPALIVE": "1"}}, "unknown_setting"),
    ({"environment": {"OLLAMA_API_KEY": "1"}}, "unknown_setting"),
    ({"environment": {"OLLAMA_MODELS": "a\nb"}}, "setting_text"),
    ({"environment": {"OLLAMA_MODELS": "models"}}, "setting_value"),
    ({"environment": {"OLLAMA_MODELS": "/data/my 'models'"}}, "setting_value"),
    ({"environment": {"OLLAMA_TMPDIR": "/data/tmp "}}, "setting_value"),
    ({"environment": {"OLLAMA_NUM_PARALLEL": "many"}}, "setting_value"),
    ({"environment": {"OLLAMA_CONTEXT_LENGTH": "8k"}}, "setting_value"),
    ({"environment": {"OLLAMA_CONTEXT_LENGTH": "-1"}}, "setting_value"),
    ({"environment": {"OLLAMA_KEEP_ALIVE": "forever"}}, "setting_value"),
    ({"environment": {"OLLAMA_LOAD_TIMEOUT": ""}}, "setting_value"),
    ({"environment": {"OLLAMA_FLASH_ATTENTION": "off"}}, "setting_value"),
    ({"environment": {"OLLAMA_KV_CACHE_TYPE": "q5_1"}}, "setting_value"),
    ({"environment": {"OLLAMA_DEBUG": "yes"}}, "setting_value"),
    ({"environment": {"OLLAMA_KV_CACHE_TYPE": "q8_0", "OLLAMA_FLASH_ATTENTION": "0"}}, "setting_lost"),
    ({"models": [PIN, PIN]}, "declared_twice"),
    ({"models": [PIN], "residents": [STAY, STAY]}, "declared_twice"),
    ({"residents": [STAY]}, "resident_undeclared"),
    ({"models": [{"name": "qwen3:1", "digest": A, "size_bytes": 1, "replaces": A}]}, "replaces_itself"),
    ({"models": [{"name": "qwen3", "digest": A, "size_bytes": 1}]}, "string_pattern_mismatch"),
    ({"models": [{"name": "qwen3:1", "digest": "a" * 64, "size_bytes": 1}]}, "string_pattern_mismatch"),
    ({"models": [{"name": "qwen3:1", "size_bytes": 1}]}, "missing"),
    ({"models": [PIN], "residents": [{"model": PIN.name, "context": 0}]}, "greater_than"),
    ({"models": [PIN], "residents": [{"model": PIN.name, "context": 1, "keep_alive": "-1"}]}, "keep_alive"),
]


@pytest.mark.parametrize(("fields", "code"), WRONG)
def test_what_cannot_be_a_deployment(fields: dict[str, Any], code: str) -> None:
    with pytest.raises(ValidationError) as caught:
        OllamaDeployment(**fields)
    assert [each["type"] for each in caught.value.errors()] == [code]


@pytest.mark.parametrize("name", sorted(SETTINGS - {"OLLAMA_HOST"}))
def test_each_setting_has_values(name: str) -> None:
    """Whatever kind it is of, one of these is one of its values."""
    every = ("1", "24h", "-1", "/data/models", "q8_0", "http://a,https://b")
    assert any(expected_value(name, each) is None for each in every)
    assert expected_value(name, "1") is None or name in PLACES | {"OLLAMA_KV_CACHE_TYPE"}


def test_the_drop_in_is_exact() -> None:
    assert DESIRED.drop_in_text == (
        "# Managed by sparks (operations.ollama.service); what is written here by hand is replaced.\n"
        "[Service]\n"
        'Environment="OLLAMA_HOST=0.0.0.0:11434"\n'
        'Environment="OLLAMA_KEEP_ALIVE=-1"\n'
        'Environment="OLLAMA_MODELS=/data/my 100%% models"\n'
    )


def test_a_deployment_has_one_spelling() -> None:
    assert OllamaDeployment.from_canonical(DESIRED.canonical) == DESIRED
    assert '"digest":' in DESIRED.canonical
