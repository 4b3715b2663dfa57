"""Which build of Ollama runs: installed beside the old one, switched to, or somebody else's that stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fleet.evidence import FitSubject
from fleet.observation import NOT_LOOKED, Observation
from fleet.ollama.deployment import OllamaDeployment
from fleet.ollama.program import (
    LINK,
    TREES,
    UNIT_DIGEST,
    UNIT_PATH,
    UNIT_TEXT,
    OllamaProgram,
    ProgramState,
    Tree,
    parse_program,
)
from fleet.ollama.program_due import install_step
from fleet.ollama.service import ResidentsUnit, SettingsFile
from fleet.ollama.service_due import service_step
from fleet.ollama.steps import ConfigureService, InstallProgram
from fleet.ollama.subject import subject_of
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.step import Effect
from tests.fleet.observed import NO_OLLAMA
from tests.fleet.ollama import fitting, host
from tests.fleet.ollama.host import DESIRED, A, B, own_file, service

C, D = "sha256:" + "c" * 64, "sha256:" + "d" * 64
URL = "https://github.com/ollama/ollama/releases/download/v0.33.1/ollama-linux-arm64.tgz"
NEW = OllamaProgram(version="0.33.1", archive=URL, archive_digest=C, size_bytes=1000)
THERE = Tree(folder=NEW.folder, archive_digest=C, version="0.33.1", executable_digest=D, installed_digest=D)
OLD = Tree(folder="0.32.0-eeeeeeeeeeee", archive_digest=B, version="0.32.0", executable_digest=A, installed_digest=A)
OURS = SettingsFile(path=UNIT_PATH, content_digest=UNIT_DIGEST, managed=True, environment={"PATH": "/usr/bin"})
THEIRS = SettingsFile(path=UNIT_PATH, content_digest=B, environment={"PATH": "/usr/bin"})


def state(**changes: Any) -> ProgramState:
    """The declared build is there and runs, but for `changes`."""
    found: dict[str, Any] = {
        "link": NEW.executable, "executable": LINK, "executable_digest": D, "trees": (THERE,), "runs": NEW.executable,
        "version": "0.33.1", "has_user": True, "room_bytes": 10**12,
    }  # fmt: skip
    return ProgramState(**(found | changes))


def seen(found: ProgramState | Unobserved | None = None, **unit: Any) -> Observation:
    return host.seen(service(**({"fragment": OURS} | unit))).replaced(ollama_program=found or state())


def desired(program: OllamaProgram | None = NEW) -> OllamaDeployment:
    return DESIRED.replaced(program=program)


def configure(found: Observation, program: OllamaProgram = NEW) -> ConfigureService | Refusal | None:
    return service_step(desired(program), found)


def test_as_desired_nothing_is_due() -> None:
    assert install_step(NEW, seen()) is None
    assert configure(seen()) is None


def test_a_build_comes_beside_what_runs_and_its_size_is_told() -> None:
    step = install_step(NEW, seen(state(trees=(OLD,))))
    assert isinstance(step, InstallProgram)
    assert (step.effect, step.folder, step.size_bytes) == (Effect.DOWNLOAD, f"0.33.1-{'c' * 12}", 1000)
    assert (step.before, step.reason) == ("0.32.0-eeeeeeeeeeee unpacked", f"declared: 1,000 bytes from {URL}")
    local = NEW.replaced(archive="/srv/ollama.tgz")
    step = install_step(local, seen(state(trees=())))
    assert isinstance(step, InstallProgram)
    assert step.effect is Effect.WRITE
    assert "sent from this machine, /srv/ollama.tgz" in step.reason


def test_a_fresh_host_gets_user_unit_and_link() -> None:
    fresh = host.seen(NO_OLLAMA, models=(), residents=()).replaced(
        ollama_program=state(link=None, executable_digest=None, trees=(), runs=None, version=None, has_user=False)
    )
    assert isinstance(install_step(NEW, fresh), InstallProgram)
    step = configure(fresh)
    assert isinstance(step, ConfigureService)
    assert (step.unit_text, step.user, step.switch, step.version) == (UNIT_TEXT, True, NEW.executable, "0.33.1")
    assert (step.restart, step.enable, step.reload, step.forgets, step.kept) == (True, True, True, (), None)
    without = service_step(DESIRED, fresh)
    assert isinstance(without, Refusal)
    assert without.code == "ollama_unit_missing"


def test_another_version_is_switched_to_and_the_old_one_goes_once_it_answers() -> None:
    old = state(link=f"{TREES}/{OLD.folder}/bin/ollama", trees=(OLD, THERE), runs=f"{TREES}/{OLD.folder}/bin/ollama",
                version="0.32.0")  # fmt: skip
    step = configure(seen(old))
    assert isinstance(step, ConfigureService)
    assert (step.switch, step.restart, step.forgets) == (NEW.executable, True, (OLD.folder,))
    assert (step.write, step.unit_text, step.effect) == (False, None, Effect.RESTART)


@pytest.mark.parametrize(
    ("runs", "version", "is_due"),
    [
        (NEW.executable, "0.33.1", False),
        (f"{NEW.executable} (deleted)", "0.33.1", True),
        (f"{TREES}/{OLD.folder}/bin/ollama", "0.33.1", True),
        ("/usr/bin/python3.12", "0.32.0", True),
        ("/usr/bin/python3.12", "0.33.1", False),
        ("/usr/bin/python3.12", Unobserved(reason="no answer in 5 s"), False),
        (None, None, False),
    ],
)
def test_a_run_killed_between_switch_and_restart_is_finished(runs: str | None, version: Any, is_due: bool) -> None:
    step = configure(seen(state(runs=runs, version=version)))
    assert isinstance(step, ConfigureService) is is_due
    if isinstance(step, ConfigureService):
        assert (step.switch, step.restart) == (None, True)


def test_what_is_left_of_an_old_build_goes_without_a_restart() -> None:
    step = configure(seen(state(trees=(OLD, THERE))))
    assert isinstance(step, ConfigureService)
    assert (step.forgets, step.restart, step.effect) == ((OLD.folder,), False, Effect.WRITE)


def test_a_build_that_was_changed_is_unpacked_again() -> None:
    changed = seen(state(trees=(THERE.replaced(executable_digest=A),)))
    assert isinstance(install_step(NEW, changed), InstallProgram)
    unpacked = seen(state(runs=f"{NEW.executable} (deleted)"))
    assert configure(changed) == configure(unpacked) is not None, "what runs of it is started anew, as it was planned"


FOREIGN = state(link=None, executable_digest=A, trees=(), runs=LINK, version="0.30.0")


def test_what_others_installed_gives_way_only_where_the_roster_names_it() -> None:
    refusal = install_step(NEW, seen(FOREIGN, fragment=THEIRS))
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.found) == ("ollama_program_foreign", A)
    assert refusal.hint is not None
    assert f'"adopted": "{A}"' in refusal.hint
    assert f'"replaces": "{A}"' in refusal.hint
    program = NEW.replaced(replaces=A)
    assert isinstance(install_step(program, seen(FOREIGN, fragment=THEIRS)), InstallProgram)
    step = configure(seen(FOREIGN.replaced(trees=(THERE,)), fragment=THEIRS), program)
    assert isinstance(step, ConfigureService)
    assert (step.kept, step.unit_text) == (A, None), "their unit stays"


def test_a_unit_of_others_names_its_own_user() -> None:
    without = state(has_user=False)
    step = configure(seen(without))
    assert isinstance(step, ConfigureService)
    assert step.user
    assert configure(seen(without, fragment=THEIRS)) is None


def test_what_was_adopted_is_only_looked_at() -> None:
    adopted = OllamaProgram(version="0.30.0", adopted=A)
    for place in (LINK, "/usr/bin/ollama"):
        found = seen(FOREIGN.replaced(executable=place), fragment=THEIRS)
        assert install_step(adopted, found) is None
        assert service_step(desired(adopted), found) is None
        refusal = install_step(adopted.replaced(adopted=B), found)
        assert isinstance(refusal, Refusal)
        assert (refusal.code, refusal.expected, refusal.found) == ("ollama_program_differs", B, f"{A} at {place}")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"executable": "/usr/bin/ollama", "trees": ()}, "ollama_unit_other_program"),
        ({"trees": (), "room_bytes": 2999}, "ollama_program_room"),
    ],
)
def test_what_must_not_be_installed(changes: dict[str, Any], code: str) -> None:
    refusal = install_step(NEW, seen(state(**changes)))
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


def test_what_was_not_observed_is_refused() -> None:
    for found in (NOT_LOOKED, Unobserved(reason="systemctl show: TimeoutExpired")):
        for outcome in (install_step(NEW, seen(found)), configure(seen(found))):
            assert isinstance(outcome, Refusal)
            assert outcome.code == "unobserved"
    assert install_step(None, seen(NOT_LOOKED)) is None
    assert service_step(DESIRED, seen(NOT_LOOKED, drop_ins=(own_file(),))) is None


def applied(step: InstallProgram | ConfigureService, found: Observation) -> Observation:
    """The observation after a step, as a host would then be."""
    now = found.ollama_program
    assert isinstance(now, ProgramState)
    if isinstance(step, InstallProgram):
        return found.replaced(ollama_program=now.replaced(trees=(*now.trees, THERE)))
    after = host.applied(step, desired(), found)
    changes: dict[str, Any] = {"has_user": True, "trees": tuple(each for each in now.trees if each.folder not in
                                                               step.forgets)}  # fmt: skip
    if step.switch is not None:
        changes |= {"link": step.switch, "executable_digest": D}
    if step.restart:
        changes |= {"runs": NEW.executable, "version": "0.33.1"}
    unit = {} if step.unit_text is None else {"fragment": OURS, "load_state": "loaded"}
    assert not isinstance(after.ollama_service, Unobserved)
    return after.replaced(ollama_program=now.replaced(**changes), ollama_service=after.ollama_service.replaced(**unit))


@given(
    st.sampled_from([None, NEW.executable, f"{TREES}/{OLD.folder}/bin/ollama"]),
    st.sampled_from([(), (OLD,), (THERE,), (OLD, THERE)]),
    st.sampled_from([None, "0.32.0", "0.33.1"]),
    st.booleans(),
    st.sampled_from([None, OURS, THEIRS, OURS.replaced(content_digest=B)]),
)
def test_once_every_step_is_applied_nothing_is_left(
    link: str | None, trees: tuple[Tree, ...], version: str | None, has_user: bool, unit: SettingsFile | None
) -> None:
    runs = None if version is None else "/usr/bin/python3.12"
    program = state(link=link, trees=trees, version=version, runs=runs, has_user=has_user,
                    executable_digest=None if link is None else D)  # fmt: skip
    process = None if version is None else {"PATH": "/usr/bin", **DESIRED.desired_environment}
    bare = {"load_state": "not-found", "unit_file_state": "", "drop_ins": (), "residents": ResidentsUnit()}
    found = seen(program, fragment=unit, process_environment=process, **(bare if unit is None else {}))
    for step in (install_step(NEW, found), configure(found)):
        assert not isinstance(step, Refusal), step
        found = found if step is None else applied(step, found)
    assert install_step(NEW, found) is None
    assert configure(found) is None


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "program_source"),
    ({"archive": URL}, "program_source"),
    ({"archive": URL, "digest": C}, "program_source"),
    ({"archive": URL, "digest": C, "size_bytes": 1, "adopted": A}, "program_source"),
    ({"adopted": A, "replaces": A}, "program_source"),
    ({"archive": "ollama.tgz", "digest": C, "size_bytes": 1}, "archive_place"),
    ({"archive": "ftp://x/y", "digest": C, "size_bytes": 1}, "archive_place"),
    ({"archive": "https://x y/z", "digest": C, "size_bytes": 1}, "archive_place"),
    ({"archive": URL, "digest": C, "size_bytes": 0}, "greater_than"),
    ({"archive": URL, "digest": "x", "size_bytes": 1}, "string_pattern_mismatch"),
    ({"version": "v0.33", "adopted": A}, "string_pattern_mismatch"),
    ({"version": "0.33/../x", "adopted": A}, "string_pattern_mismatch"),
]


@pytest.mark.parametrize(("fields", "code"), WRONG)
def test_what_cannot_be_a_program(fields: dict[str, Any], code: str) -> None:
    with pytest.raises(ValidationError) as caught:
        OllamaProgram(**({"version": "0.33.1"} | fields))
    assert [each["type"] for each in caught.value.errors()] == [code]


LOOKED: dict[str, Any] = {
    "link": None, "executable": LINK, "executable_digest": "a" * 64, "trees": [], "runs": LINK, "has_user": True,
    "room_bytes": 1, "version": {"body": '{"version": "0.33.1"}'},
}  # fmt: skip


def test_a_look_is_read() -> None:
    found = parse_program(json.dumps(LOOKED))
    assert (found.executable_digest, found.version) == (A, "0.33.1")
    for version, reason in (({"error": "status 500"}, "status 500"), ({"body": "<html>"}, "expected a version")):
        told = parse_program(json.dumps(LOOKED | {"version": version})).version
        assert isinstance(told, Unobserved)
        assert reason in told.reason
    with pytest.raises(ValueError, match="no such"):
        parse_program('{"error": "no such"}')


def test_evidence_is_about_the_build_that_will_serve_and_no_other() -> None:
    wanted = fitting.DESIRED.replaced(program=NEW)
    found = fitting.seen(desired=wanted).replaced(ollama_program=state())
    made = subject_of(wanted, found)
    assert isinstance(made, FitSubject)
    assert made.runtime.content_digest == D
    assert made.digest != fitting.subject().digest
    unpacked = subject_of(wanted, found.replaced(ollama_program=state(trees=())))
    assert isinstance(unpacked, Refusal)
    assert (unpacked.code, NEW.folder in unpacked.found) == ("fit_not_evidenced", True)
    blind = subject_of(wanted, found.replaced(ollama_program=NOT_LOOKED))
    assert isinstance(blind, Refusal)
    assert blind.code == "unobserved"
