"""What looks at Ollama share: a played host, and a stand-in as its unit's process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.facts.played_ollama import PlayedHost
from tests.virtual.standin import Standin


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    return PlayedHost(tmp_path, monkeypatch)


@pytest.fixture
def standin(tmp_path: Path, played: PlayedHost) -> Iterator[Standin]:
    (tmp_path / "home").mkdir()
    found = Standin(tmp_path / "home", OLLAMA_KEEP_ALIVE="-1", SOME_TOKEN="hidden", OLLAMA_API_KEY="hidden")
    played.runs(found.process.pid)
    yield found
    found.stop()
