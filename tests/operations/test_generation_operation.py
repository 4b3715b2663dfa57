"""The stamp in a pyinfra run on this machine: a real file below a directory, written only where a run acted."""

import json
import subprocess
from pathlib import Path

import pytest

from fleet.generation import Begun, Generation
from tests import forked
from tests.fleet.ollama.host import begun
from tests.fleet.test_generation import PLAIN

DEPLOY = """
from tests.forked import everywhere
import facts.look, fleet.generation, fleet.lock
everywhere(fleet.lock.PLACE, {home!r} + ".run")
everywhere(facts.look.as_root, lambda command, otherwise="": command)
everywhere(fleet.generation.HOME, {home!r})
everywhere(fleet.generation.STAMP, {home!r} + "/generation.json")
everywhere(fleet.generation.BEGUN, {home!r} + "/generation.begun")
from fleet.desired import DesiredSpark
from operations import generation

applied = fleet.generation.Begun.from_canonical({applied!r}) if {applied!r} else None
generation.stamp(name="generation", desired=DesiredSpark.from_canonical({desired!r}), applied=lambda: applied)
"""


class Played:
    """One played host, and the runs of a deploy on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "sparks"
        self.stamp, self.begun = self.home / "generation.json", self.home / "generation.begun"

    def run(self, applied: Begun | None) -> subprocess.CompletedProcess[str]:
        deploy = self.root / "deploy.py"
        text = "" if applied is None else applied.canonical
        deploy.write_text(DEPLOY.format(home=str(self.home), applied=text, desired=PLAIN.canonical))
        return forked.ran(forked.pyinfra_command, "@local", deploy, "-y")

    def runs(self, applied: Begun | None) -> str:
        done = self.run(applied)
        assert done.returncode == 0, done.stderr
        return done.stderr


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path)


def test_it_is_written_where_a_run_acted_and_then_stays(played: Played) -> None:
    played.runs(None)
    assert not played.home.exists()
    played.runs(begun())
    assert Generation.from_canonical(played.stamp.read_text()) == Generation(**dict(begun()))
    assert played.stamp.stat().st_mode & 0o777 == 0o644
    assert played.home.stat().st_mode & 0o777 == 0o755
    before = played.stamp.stat()
    assert "No changes" in played.runs(None)
    assert played.stamp.stat() == before


def test_a_run_that_was_cut_off_is_brought_to_its_end(played: Played) -> None:
    played.home.mkdir()
    played.begun.write_text(begun().canonical)
    played.runs(None)
    assert json.loads(played.stamp.read_text())["plan"] == begun().plan
    assert [each.name for each in played.home.iterdir()] == ["generation.json"]


def test_a_stamp_that_cannot_be_read_is_replaced(played: Played) -> None:
    played.home.mkdir()
    played.stamp.write_text("{}")
    played.runs(begun())
    assert Generation.from_canonical(played.stamp.read_text()).plan == begun().plan


def test_a_write_that_the_host_lost_is_no_stamp(played: Played) -> None:
    played.home.mkdir()
    (played.home / "generation.json").mkdir()
    done = played.run(begun())
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
