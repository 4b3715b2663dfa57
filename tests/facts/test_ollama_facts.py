"""The Ollama facts against a real stand-in process on loopback; only systemd is played, by a script."""

import os
from pathlib import Path

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts import ollama as facts
from facts.remote import ollama_systemd
from fleet.ollama import units
from tests.facts.played_ollama import PlayedHost
from tests.virtual.standin import PINS, SMALLEST, Standin, free_port


def test_models_come_from_the_api(played: PlayedHost, standin: Standin) -> None:
    assert played.look(facts.OllamaModels(), endpoint=standin.endpoint).models == ()
    standin.pull()
    store = played.look(facts.OllamaModels(), endpoint=standin.endpoint)
    assert (store.source, store.endpoint) == ("api", standin.endpoint)
    (model,) = store.models
    assert (model.name, model.manifest_digest) == (SMALLEST, PINS[SMALLEST]["digest"])
    assert (model.size_bytes, model.family) == (PINS[SMALLEST]["size_bytes"], PINS[SMALLEST]["family"])


def test_the_store_says_the_same_as_the_api(played: PlayedHost, standin: Standin) -> None:
    standin.pull()
    asked = played.look(facts.OllamaModels(), endpoint=standin.endpoint)
    played.runs(None)
    played.properties["Environment"] = f"HOME={standin.home}"
    read = played.look(facts.OllamaModels(), endpoint=standin.endpoint)
    assert read.source == "store"
    assert read.models == asked.models


def test_a_blob_that_is_missing_is_not_a_model(played: PlayedHost, standin: Standin) -> None:
    standin.pull()
    for blob in (standin.models / "blobs").iterdir():
        blob.unlink()
    played.runs(None)
    played.properties["Environment"] = f"HOME={standin.home}"
    with pytest.raises(FactProcessError, match=f"store: model {SMALLEST}"):
        played.look(facts.OllamaModels())


def test_a_process_that_listens_elsewhere_has_nothing_loaded_here(played: PlayedHost, standin: Standin) -> None:
    standin.pull()
    standin.ask("POST", "/api/generate", {"model": SMALLEST})
    elsewhere = f"http://127.0.0.1:{free_port()}"
    assert played.look(facts.OllamaResidency(), endpoint=elsewhere).source == "stopped"
    store = played.look(facts.OllamaModels(), endpoint=elsewhere)
    assert (store.source, [model.name for model in store.models]) == ("store", [SMALLEST])


def test_another_store_is_read_from_disk(played: PlayedHost, standin: Standin, tmp_path: Path) -> None:
    standin.pull()
    store = played.look(facts.OllamaModels(), endpoint=standin.endpoint, directory=str(tmp_path / "other"))
    assert (store.source, store.models) == ("store", ())
    same = played.look(facts.OllamaModels(), endpoint=standin.endpoint, directory=str(standin.models))
    assert (same.source, len(same.models)) == ("api", 1)


def test_a_place_is_where_ollama_takes_it_to_be(played: PlayedHost, standin: Standin) -> None:
    """It takes spaces and quotes away at both ends of a setting, wherever they come from."""
    standin.pull()
    standin.stop()
    played.runs(None)
    played.properties["Environment"] = f"\"OLLAMA_MODELS= '{standin.models}' \""
    store = played.look(facts.OllamaModels(), endpoint=standin.endpoint)
    assert (store.source, store.directory, len(store.models)) == ("store", str(standin.models), 1)


def test_residency(played: PlayedHost, standin: Standin) -> None:
    standin.pull()
    assert played.look(facts.OllamaResidency(), endpoint=standin.endpoint).residents == ()
    ask = {"model": SMALLEST, "options": {"num_ctx": 2048}}
    standin.ask("POST", "/api/generate", ask)
    (resident,) = played.look(facts.OllamaResidency(), endpoint=standin.endpoint).residents
    assert (resident.keep, resident.context_length, resident.processor) == ("forever", 2048, "100% GPU")
    standin.ask("POST", "/api/generate", ask | {"keep_alive": "1h"})
    (resident,) = played.look(facts.OllamaResidency(), endpoint=standin.endpoint).residents
    assert resident.keep == "until"
    assert 3590 <= resident.seconds_left <= 3600


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("garbage", "expected JSON"),
        ("500", "status 500: model list cache unavailable"),
        ("close", "remote end closed"),
        ("hang", "no answer in 5 s"),
    ],
)
def test_what_is_no_list_is_not_an_empty_list(played: PlayedHost, standin: Standin, fault: str, reason: str) -> None:
    standin.fail(tags=fault)
    with pytest.raises(FactProcessError, match=reason) as caught:
        played.look(facts.OllamaModels(), endpoint=standin.endpoint)
    assert "\n" not in str(caught.value)


def test_null_is_an_empty_list(played: PlayedHost, standin: Standin) -> None:
    standin.fail(ps="null", tags="null")
    assert played.look(facts.OllamaModels(), endpoint=standin.endpoint).models == ()
    assert played.look(facts.OllamaResidency(), endpoint=standin.endpoint).residents == ()


def test_a_running_service_that_refuses_is_not_observed(played: PlayedHost, standin: Standin) -> None:
    standin.stop()
    played.runs(os.getpid())
    played.properties["LoadState"] = "not-found"
    with pytest.raises(FactProcessError, match=r"ollama API http://127\.0\.0\.1:\d+/api/tags: connection refused"):
        played.look(facts.OllamaModels(), endpoint=standin.endpoint)


def test_the_service_and_its_settings(played: PlayedHost, standin: Standin) -> None:
    (played.drop_ins / "override.conf").write_text('[Service]\nEnvironment=OLLAMA_DEBUG=1 "HF_TOKEN=hidden"\n')
    (played.root / "ollama.env").write_text("OLLAMA_MODELS=/data/my models\nAPI_KEY=hidden\n")
    played.properties["EnvironmentFiles"] = f"{played.root / 'ollama.env'} (ignore_errors=yes)"
    played.properties["Environment"] = 'PATH=/usr/bin OLLAMA_DEBUG=1 "HF_TOKEN=hid den"'
    state = played.look(facts.OllamaService())
    assert (state.load_state, state.active_state, state.main_pid) == ("loaded", "active", standin.process.pid)
    assert (state.exec_start, state.started_monotonic_us) == ("/usr/local/bin/ollama", 123)
    assert state.drop_ins[0].environment == {"HF_TOKEN": "(redacted)", "OLLAMA_DEBUG": "1"}
    assert state.environment_files[0].environment == {
        "API_KEY": "(redacted)",
        "OLLAMA_MODELS": "/data/my models",
    }
    assert state.unit_environment == {"HF_TOKEN": "(redacted)", "OLLAMA_DEBUG": "1", "PATH": "/usr/bin"}
    assert state.process_environment is not None
    assert state.process_environment["OLLAMA_KEEP_ALIVE"] == "-1"
    assert state.own_drop_in is None
    assert "hidden" not in state.canonical
    assert "hid den" not in state.canonical


def test_what_systemd_gives_to_every_process_is_asked_for_where_the_unit_does_not_say_it(
    played: PlayedHost, standin: Standin
) -> None:
    """The stand-in runs with variables that no file sets."""
    (played.root / "manager").write_text("Environment=OLLAMA_KEEP_ALIVE=-1 TOKEN=hidden LANG=C.UTF-8\n")
    state = played.look(facts.OllamaService())
    assert state.manager_environment == {"LANG": "C.UTF-8", "OLLAMA_KEEP_ALIVE": "-1", "TOKEN": "(redacted)"}
    assert state.process_environment is not None
    assert state.process_environment["OLLAMA_KEEP_ALIVE"] == "-1"
    said = " ".join(name for name in state.process_environment if name.startswith("OLLAMA_"))
    (played.drop_ins / "all.conf").write_text(f"[Service]\nEnvironment={said.replace(' ', '=x ')}=x B=%h/x\n")
    state = played.look(facts.OllamaService())
    assert (state.manager_environment, state.drop_ins[0].specifiers) == ({}, ("B",))
    played.properties |= {"PassEnvironment": "PATH OTHER", "UnsetEnvironment": '"A=b c" OLLAMA_DEBUG'}
    state = played.look(facts.OllamaService())
    assert (state.manager_environment, state.unset) == ({}, ("A=b c", "OLLAMA_DEBUG"))


def test_what_the_unit_passes_on_is_systemds_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama_systemd, "asked", lambda *_: "Environment=LANG=C\n")
    monkeypatch.setattr(ollama_systemd, "own", lambda _: {"OLLAMA_DEBUG": "1", "TOKEN": "x"})
    assert ollama_systemd.of_manager(["OLLAMA_DEBUG"], units, ValueError) == {"LANG": "C", "OLLAMA_DEBUG": "1"}


def test_a_unit_that_does_not_run_has_no_process_environment(played: PlayedHost) -> None:
    state = played.look(facts.OllamaService())
    assert not state.is_active
    assert (state.process_environment, state.main_pid) == (None, None)


def test_a_broken_systemctl_is_not_observed(played: PlayedHost) -> None:
    (played.root / "bin" / "systemctl").write_text("#!/bin/sh\necho no bus >&2; exit 1\n")
    with pytest.raises(FactProcessError, match="systemctl show: no bus"):
        played.look(facts.OllamaService())
