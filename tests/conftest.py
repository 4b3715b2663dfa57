"""What tests share: the inputs of the cases, and the labs of virtual Sparks.

Two labs, so that two workers have one each (`pytest -n 2 --dist loadgroup`): this checkout's own, a pair first and then
a ring, which its inventories are about; and a side lab, a pair, for tests that write an inventory of their own.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from tests.labs import Labs

if TYPE_CHECKING:
    from virtual.lab import Lab

LABS = pytest.StashKey[Labs]()

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


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LABS] = Labs(teller(config))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need booted machines come last: a mistake elsewhere shows without waiting for a boot."""
    items.sort(key=lambda item: LAYOUTS.index(layout_of(item)))
    for item in items:
        if layout_of(item) is not None:
            item.add_marker(pytest.mark.xdist_group("side lab" if needs_side(item) else "lab"))


def layout_of(item: pytest.Item) -> str | None:
    """How the virtual Sparks of a test are cabled; None for a test that needs none."""
    if item.get_closest_marker("virtual") is None:
        return None
    return "ring4" if item.get_closest_marker("ring") else "pair"


def needs_side(item: pytest.Item) -> bool:
    return "side_lab" in getattr(item, "fixturenames", ())


def teller(config: pytest.Config) -> Callable[[str], None]:
    """Tells whoever watches the tests what happens now, past pytest's capture; a worker has no terminal of its own."""

    def tell(line: str) -> None:
        terminal = config.pluginmanager.getplugin("terminalreporter")
        if terminal is None or hasattr(config, "workerinput"):
            print(f"  {line}", file=sys.__stderr__, flush=True)
            return
        with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            terminal.ensure_newline()
            terminal.write_line(f"  {line}")

    return tell


def pytest_collection_finish(session: pytest.Session) -> None:
    """Starts bringing the first lab up while the tests that need none run: an image from nothing takes minutes."""
    layouts = [layout for item in session.items if (layout := layout_of(item)) and not needs_side(item)]
    if layouts and not session.config.option.collectonly and _worker(session.config) in (None, "gw0"):
        session.config.stash[LABS].wake(layouts[0])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells what it used: the other may still be at work, so that only their master cleans up."""
    if _worker(session.config) is not None:
        session.config.workeroutput["used"] = session.config.stash[LABS].used  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[LABS].used |= getattr(node, "workeroutput", {}).get("used", True)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves the labs as they were found: also behind a session that ended before it needed them."""
    labs = config.stash.get(LABS, None)
    if labs is not None:
        labs.end_waking()
        if _worker(config) is None:
            labs.restore()


def _worker(config: pytest.Config) -> str | None:
    """Which worker of xdist this is; None where there are none, and for what starts them."""
    given: dict[str, str] = getattr(config, "workerinput", {})
    return given.get("workerid")


@pytest.fixture(scope="session")
def lab(pytestconfig: pytest.Config) -> "Lab":
    """A pair of virtual Sparks, brought up once for all tests marked `virtual` and not `ring`."""
    return pytestconfig.stash[LABS].brought_up("pair", 2)


@pytest.fixture(scope="session")
def ring(pytestconfig: pytest.Config) -> "Lab":
    """A ring of four, brought up once in place of the pair for all tests marked `virtual` and `ring`."""
    return pytestconfig.stash[LABS].brought_up("ring4", 4)


@pytest.fixture(scope="session")
def side_lab(pytestconfig: pytest.Config) -> "Lab":
    """Another pair, apart from this checkout's lab: its tests write their own inventories and may run beside others."""
    return pytestconfig.stash[LABS].side()


@pytest.fixture
def fresh_lab(lab: "Lab") -> "Lab":
    """The lab as it was after `up`, whatever the test before did to it."""
    lab.reset()
    return lab
