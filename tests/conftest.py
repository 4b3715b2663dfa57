"""What tests share: the inputs of the cases, and the lab of virtual Sparks, a pair first and then a ring."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from virtual.lab import Lab

ROOT = Path(__file__).resolve().parents[1]
WAKING = pytest.StashKey["subprocess.Popen[bytes]"]()
"""The process that brings the lab up in the background."""
FOUND = pytest.StashKey[tuple[str, int] | None]()
"""The layout and the size of the lab that was up before, if one was."""

LAYOUTS = (None, "pair", "ring4")
"""The order of the tests, by the lab they need: it changes from one layout to the other once."""

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
    items.sort(key=lambda item: LAYOUTS.index(layout_of(item)))


def layout_of(item: pytest.Item) -> str | None:
    """How the virtual Sparks of a test are cabled; None for a test that needs none."""
    if item.get_closest_marker("virtual") is None:
        return None
    return "ring4" if item.get_closest_marker("ring") else "pair"


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
    """Starts bringing the first lab up while the tests that need none run: an image from nothing takes minutes."""
    layouts = [layout for item in session.items if (layout := layout_of(item))]
    if layouts and not session.config.option.collectonly:
        session.config.stash[FOUND] = _what_is_up()
        session.config.stash[WAKING] = subprocess.Popen(
            [sys.executable, "-m", "virtual", "up", "--layout", layouts[0]],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves the lab as it was found: also behind a session that ended before it needed it."""
    waking, found = config.stash.get(WAKING, None), config.stash.get(FOUND, None)
    if waking is None:
        return
    if waking.poll() is None:
        waking.terminate()
        waking.wait()
    from virtual.lab import Lab

    lab = Lab()
    if _what_is_up() != found:
        lab.down()
    if found:
        lab.up(*found)
        lab.reset()


def _what_is_up() -> tuple[str, int] | None:
    """The layout of this checkout's lab and how many machines it has; None when it is down."""
    from virtual.errors import LabError
    from virtual.lab import Lab

    try:
        known = Lab().state
    except LabError:
        return None
    return known.layout, len(known.machines)


@pytest.fixture(scope="session")
def lab(pytestconfig: pytest.Config, say: Callable[[str], None]) -> "Lab":
    """A pair of virtual Sparks, brought up once for all tests marked `virtual` and not `ring`."""
    return _brought_up(pytestconfig, say, "pair", 2)


@pytest.fixture(scope="session")
def ring(pytestconfig: pytest.Config, say: Callable[[str], None]) -> "Lab":
    """A ring of four, brought up once in place of the pair for all tests marked `virtual` and `ring`."""
    return _brought_up(pytestconfig, say, "ring4", 4)


def _brought_up(config: pytest.Config, say: Callable[[str], None], layout: str, count: int) -> "Lab":
    """The one lab in a layout; one in another layout, the tests' or a user's, gives way till the session ends."""
    from virtual.lab import Lab

    lab = Lab(say=say)
    say(f"waiting for the virtual Sparks ({layout}); from nothing that takes minutes")
    config.stash[WAKING].wait()
    if _what_is_up() not in (None, (layout, count)):
        lab.down()
    lab.up(layout, count)
    return lab


@pytest.fixture
def fresh_lab(lab: "Lab") -> "Lab":
    """The lab as it was after `up`, whatever the test before did to it."""
    lab.reset()
    return lab
