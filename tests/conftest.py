"""What tests share: the inputs of the cases, and the labs of virtual Sparks.

Two labs, so that two processes have one each (`tests.both`): this checkout's own, a pair first and then others, which
its inventories are about; and a side lab, a pair, for tests that write their own inventory and so are marked `side`.
"""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.both import MARK, is_marked
from tests.labs import Labs

if TYPE_CHECKING:
    from virtual.lab import Lab

LABS = pytest.StashKey[Labs]()

LAYOUTS = (None, "pair", "grub-pair", "ring4")
"""The order of the tests, by the lab they need: it changes from each layout to the next once."""

for _profile, _examples in {"busy": 50, "nightly": 200}.items():
    settings.register_profile(
        _profile, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=_examples,
        derandomize=_profile == "busy",
    )  # fmt: skip
settings.load_profile("busy")
"""No wall time decides: virtual Sparks are built beside these tests. A change is tried with the same examples each
time, so that what fails is the change; `make nightly` looks for new ones, and what it finds becomes an `@example`."""

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
    _hear_signals()
    config.stash[LABS] = Labs(teller(config))


def _hear_signals() -> None:
    """Whoever was started in the background was told to ignore these, and so would be the commands that tests stop."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need booted machines come last: a mistake elsewhere shows without waiting for a boot."""
    for path in {item.path for item in items if item.get_closest_marker("virtual") is not None}:
        assert is_marked(path), f"{path}: expected {MARK}, by which tests.both finds it"
    items.sort(key=lambda item: LAYOUTS.index(layout_of(item)))
    for item in items:
        if needs_side(item):
            item.add_marker("side")


def layout_of(item: pytest.Item) -> str | None:
    """How the virtual Sparks of a test are cabled; None for a test that needs none."""
    if item.get_closest_marker("virtual") is None:
        return None
    if item.get_closest_marker("grub") is not None:
        return "grub-pair"
    return "ring4" if item.get_closest_marker("ring") else "pair"


def needs_side(item: pytest.Item) -> bool:
    return "side_lab" in getattr(item, "fixturenames", ())


def teller(config: pytest.Config) -> Callable[[str], None]:
    """Tells whoever watches the tests what happens now, past pytest's capture."""

    def tell(line: str) -> None:
        terminal = config.pluginmanager.getplugin("terminalreporter")
        with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            terminal.ensure_newline()
            terminal.write_line(f"  {line}")

    return tell


def pytest_collection_finish(session: pytest.Session) -> None:
    """Starts bringing the first lab up while the tests that need none run: an image from nothing takes minutes."""
    layouts = [layout for item in session.items if (layout := layout_of(item)) and not needs_side(item)]
    if layouts and not session.config.option.collectonly:
        session.config.stash[LABS].wake(layouts[0])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves the labs as they were found: also behind a session that ended before it needed them."""
    labs = config.stash.get(LABS, None)
    if labs is not None:
        labs.restore()


@pytest.fixture(scope="session")
def lab(pytestconfig: pytest.Config) -> "Lab":
    """A pair of virtual Sparks, brought up once for all tests marked `virtual` and not `ring`."""
    return pytestconfig.stash[LABS].brought_up("pair", 2)


@pytest.fixture(scope="session")
def ring(pytestconfig: pytest.Config) -> "Lab":
    """A ring of four, brought up once in place of the pair for all tests marked `virtual` and `ring`."""
    return pytestconfig.stash[LABS].brought_up("ring4", 4)


@pytest.fixture(scope="session")
def grub(pytestconfig: pytest.Config) -> "Lab":
    """A pair that boots by GRUB, brought up once in place of the other for all tests marked `virtual` and `grub`."""
    return pytestconfig.stash[LABS].brought_up("grub-pair", 2)


@pytest.fixture(scope="session")
def side_lab(pytestconfig: pytest.Config) -> "Lab":
    """Another pair, apart from this checkout's lab: its tests write their own inventories and may run beside others."""
    return pytestconfig.stash[LABS].side()


@pytest.fixture
def fresh_lab(lab: "Lab") -> "Lab":
    """The lab as it was after `up`, whatever the test before did to it."""
    lab.reset()
    return lab
