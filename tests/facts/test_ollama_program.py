"""Which build of Ollama a host has, looked at for real: only systemd is played, and the places are the test's."""

import hashlib
import json
from pathlib import Path

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts import ollama as facts
from fleet.record import Unobserved
from tests.facts.played_ollama import PlayedHost
from tests.virtual.standin import PROGRAM, Standin, free_port


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The link and the folder of builds."""
    link, trees = tmp_path / "ollama", tmp_path / "trees"
    monkeypatch.setattr(facts, "LINK", str(link))
    monkeypatch.setattr(facts, "TREES", str(trees))
    return link, trees


def unpacked(trees: Path, folder: str, content: bytes = b"x") -> str:
    (trees / folder / "bin").mkdir(parents=True)
    (trees / folder / "bin" / "ollama").write_bytes(content)
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    record = {"archive_digest": f"sha256:{'c' * 64}", "version": folder, "installed_digest": digest}
    (trees / folder / "sparks.json").write_text(json.dumps(record))
    return digest


def test_a_fresh_host(played: PlayedHost, places: tuple[Path, Path]) -> None:
    played.properties["LoadState"] = "not-found"
    found = played.look(facts.OllamaProgram())
    assert (found.link, found.executable, found.executable_digest) == (None, str(places[0]), None)
    assert (found.trees, found.runs, found.version) == ((), None, None)
    assert found.room_bytes > 0


def test_the_build_that_is_linked_and_what_runs(
    played: PlayedHost, standin: Standin, places: tuple[Path, Path]
) -> None:
    link, trees = places
    digest = unpacked(trees, "0.33.1-abc")
    unpacked(trees, ".0.34.0-abc.new")
    link.symlink_to(trees / "0.33.1-abc" / "bin" / "ollama")
    played.properties["ExecStart"] = f"{{ path={link} ; argv[]={link} serve ; }}"
    found = played.look(facts.OllamaProgram(), endpoint=standin.endpoint)
    assert found.link == str(trees / "0.33.1-abc" / "bin" / "ollama")
    (tree,) = found.trees
    assert (tree.folder, tree.executable_digest, tree.is_whole) == ("0.33.1-abc", digest, True)
    assert found.executable_digest == digest
    assert (found.foreign, found.version) == (None, "0.0.0-stand-in")
    assert found.runs is not None
    assert "python" in found.runs
    (trees / "0.33.1-abc" / "bin" / "ollama").write_bytes(b"changed")
    assert not played.look(facts.OllamaProgram(), endpoint=standin.endpoint).trees[0].is_whole


def test_what_others_installed(played: PlayedHost, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    places[0].write_bytes(PROGRAM.read_bytes())
    played.properties["ExecStart"] = f"{{ path={places[0]} ; }}"
    found = played.look(facts.OllamaProgram())
    assert found.link is None
    assert found.executable_digest == "sha256:" + hashlib.sha256(PROGRAM.read_bytes()).hexdigest()


def test_a_server_that_does_not_say_its_version(
    played: PlayedHost, standin: Standin, places: tuple[Path, Path]
) -> None:
    standin.fail(version="garbage")
    version = played.look(facts.OllamaProgram(), endpoint=standin.endpoint).version
    assert isinstance(version, Unobserved)
    elsewhere = played.look(facts.OllamaProgram(), endpoint=f"http://127.0.0.1:{free_port()}").version
    assert isinstance(elsewhere, Unobserved)
    assert "refused" in elsewhere.reason


def test_a_record_that_cannot_be_read_is_not_observed(played: PlayedHost, places: tuple[Path, Path]) -> None:
    unpacked(places[1], "0.33.1-abc")
    (places[1] / "0.33.1-abc" / "sparks.json").write_text("{")
    with pytest.raises(FactProcessError, match="expected a record of ours"):
        played.look(facts.OllamaProgram())


def test_models_of_a_host_that_is_to_get_ollama(played: PlayedHost, standin: Standin, tmp_path: Path) -> None:
    """Nobody listens, so nothing is loaded, and what is on its disk is what it holds."""
    played.runs(None)
    played.properties["LoadState"] = "not-found"
    nobody = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(FactProcessError, match="connection refused"):
        played.look(facts.OllamaModels(), endpoint=nobody)
    store = played.look(facts.OllamaModels(), endpoint=nobody, installs=True)
    assert (store.source, store.directory) == ("store", "/usr/share/ollama/.ollama/models")
    assert played.look(facts.OllamaResidency(), endpoint=nobody, installs=True).source == "stopped"
    standin.pull()
    asked = played.look(facts.OllamaModels(), endpoint=standin.endpoint, installs=True)
    assert (asked.source, len(asked.models)) == ("api", 1), "somebody runs one without a unit"
