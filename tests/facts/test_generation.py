"""The stamp as it is read from files: there, not there, and not to be read."""

import subprocess
from pathlib import Path

import pytest
from pyinfra.api.exceptions import FactProcessError

from facts import generation as facts
from fleet.generation import Generation, Stamp
from fleet.record import Unobserved
from tests.fleet.ollama.host import PROCESS, begun, stamped


class Host:
    """A folder in place of /var/lib/sparks."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stamp, self.begun = root / "generation.json", root / "generation.begun"
        monkeypatch.setattr(facts, "STAMP", str(self.stamp))
        monkeypatch.setattr(facts, "BEGUN", str(self.begun))
        monkeypatch.setattr(facts, "as_root", lambda command: command)

    def look(self) -> Stamp:
        fact = facts.GenerationStamp()
        done = subprocess.run(["sh", "-c", fact.command()], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: Stamp = fact.process(done.stdout.splitlines())
        return found


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, monkeypatch)


def test_no_file_is_no_stamp(host: Host) -> None:
    assert host.look() == Stamp(generation=None, begun=None)


def test_what_was_written_is_read(host: Host) -> None:
    wanted = stamped(PROCESS)
    assert isinstance(wanted.generation, Generation)
    host.stamp.write_text(wanted.generation.text)
    host.begun.write_text(begun().canonical)
    assert host.look() == Stamp(generation=wanted.generation, begun=begun())


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"null"])
def test_what_is_no_stamp_is_not_taken_for_none(host: Host, content: bytes) -> None:
    host.stamp.write_bytes(content)
    assert isinstance(host.look().generation, Unobserved)


def test_what_cannot_be_read_is_not_observed(host: Host) -> None:
    host.stamp.mkdir()
    with pytest.raises(FactProcessError, match=r"generation\.json: Is a directory"):
        host.look()
