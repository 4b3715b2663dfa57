"""The ring of four, converged once for every module that looks at a ring."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.e2e.control import converge
from tests.e2e.ring import FABRIC, RUNS_DOCKER, together

if TYPE_CHECKING:
    from virtual.lab import Lab


@pytest.fixture(scope="session")
def converged_ring(ring: "Lab", tmp_path_factory: pytest.TempPathFactory) -> Iterator["Lab"]:
    """The ring, converged from blank in one run while Docker forbids forwarding on each of its Sparks."""
    ring.reset()
    together(ring, "systemctl enable --quiet docker.service; " + RUNS_DOCKER)
    run = converge(tmp_path_factory.mktemp("ring") / "trace.jsonl", *FABRIC)
    assert run.status == 0, run.said
    yield ring
    ring.reset()
