"""The ring of four, converged once for the modules that look at a ring, and again after one that spoilt it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.e2e.control import converge
from tests.e2e.ring import FABRIC, RUNS_DOCKER, together

if TYPE_CHECKING:
    from virtual.lab import Lab


@pytest.fixture(scope="session")
def converged(ring: "Lab") -> Iterator[list["Lab"]]:
    """The ring while it is as it was converged: empty before, and after a test that `spoils` it."""
    yield []
    ring.reset()


@pytest.fixture(scope="module")
def converged_ring(ring: "Lab", converged: list["Lab"], tmp_path_factory: pytest.TempPathFactory) -> "Lab":
    """The ring, converged from blank in one run while Docker forbids forwarding on each of its Sparks."""
    if not converged:
        ring.reset()
        together(ring, "systemctl enable --quiet docker.service; " + RUNS_DOCKER)
        run = converge(tmp_path_factory.mktemp("ring") / "trace.jsonl", *FABRIC)
        assert run.status == 0, run.said
        converged.append(ring)
    return ring


@pytest.fixture
def spoils(converged: list["Lab"]) -> Iterator[None]:
    """Whatever such a test leaves, the next module begins from a ring that is converged anew."""
    yield
    converged.clear()
