"""What tests share: the inputs of the cases, and one lab of virtual Sparks for all tests that need it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from virtual.lab import Lab

ROOT = Path(__file__).resolve().parents[1]
WAKING = pytest.StashKey["subprocess.Popen[bytes]"]()
"""The process that brings the lab up in the background."""
WAS_UP = pytest.StashKey[bool]()

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
"""No wall time decides: virtual Sparks are built beside these tests."""

CASES = Path(__file__).parent / "cases"

CaseText = Callable[[str, str], str]
"""The text of one input of a case, by the case's number and the file's name."""


def case_text(number: str, name: str) -> str:
    """The text of `tests/cases/<number>-…/<name>`."""
    (folder,) = CASES.glob(f"{number}-*")
    return (folder / name).read_text(encoding="utf-8")


@pytest.fixture(name="case", scope="session")
def _case() -> CaseText:
    return case_text


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need booted machines come last: a mistake elsewhere shows without waiting for a boot."""
    items.sort(key=lambda item: item.get_closest_marker("virtual") is not None)


@pytest.fixture(scope="session")
def say(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Tells whoever watches the tests what happens now, past pytest's capture."""
    terminal = pytestconfig.pluginmanager.getplugin("terminalreporter")
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")

    def tell(line: str) -> None:
        with capture.global_and_fixture_disabled():
            terminal.ensure_newline()
            terminal.write_line(f"  {line}")

    return tell


def pytest_collection_finish(session: pytest.Session) -> None:
    """Starts bringing the lab up while the tests that need none run: an image from nothing takes five minutes."""
    if any(item.get_closest_marker("virtual") for item in session.items) and not session.config.option.collectonly:
        session.config.stash[WAS_UP] = (ROOT / ".virtual" / "lab.json").exists()
        session.config.stash[WAKING] = subprocess.Popen(
            [sys.executable, "-m", "virtual", "up"],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves the lab as it was found: also behind a session that ended before it needed it."""
    waking = config.stash.get(WAKING, None)
    if waking is None:
        return
    if waking.poll() is None:
        waking.terminate()
        waking.wait()
    if not config.stash[WAS_UP]:
        from virtual.lab import Lab

        Lab().down()


@pytest.fixture(scope="session")
def lab(pytestconfig: pytest.Config, say: Callable[[str], None]) -> "Iterator[Lab]":
    """A pair of virtual Sparks, brought up once for all tests marked `virtual`.

    A lab that was up stays up, and is reset at the end; one that was down is taken down.
    """
    from virtual.lab import Lab

    lab = Lab(say=say)
    say("waiting for the virtual Sparks; from nothing that takes minutes")
    pytestconfig.stash[WAKING].wait()
    lab.up(layout="pair", count=2)
    yield lab
    if pytestconfig.stash[WAS_UP]:
        lab.reset()


@pytest.fixture
def fresh_lab(lab: "Lab") -> "Lab":
    """The lab as it was after `up`, whatever the test before did to it."""
    lab.reset()
    return lab
