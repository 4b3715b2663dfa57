"""Which serving processes were drained, by the receipts of a site."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from fleet.ollama.disrupt import Drained
from fleet.receipt import acts
from lab.command import Failed
from lab.receipts.folder import Folder, folder

FRESH_SECONDS = 3600
"""How long a drain counts. Ollama goes on taking requests, so it says that nobody was served then, not that nobody is
now; an hour is for looking at a plan and carrying it out."""


def drained_in(path: Path) -> Drained:
    """The digest of each process that was drained in the last hour; what is not as it was written drains nothing."""
    try:
        with folder(path) as place:
            return frozenset(digest for name in _recent(place) for digest in _drained(place, name))
    except (Failed, OSError):
        return frozenset()


def _recent(place: Folder) -> Iterator[str]:
    """A site may have thousands of receipts; only those that were written lately are read."""
    for name in place.names():
        if _is_fresh(os.stat(name, dir_fd=place.descriptor).st_mtime):
            yield name


def _drained(place: Folder, name: str) -> Iterator[str]:
    receipt = place.receipt(name)
    if receipt.faults:
        return
    for line in receipt.lines:
        if isinstance(line.data, acts.Drained) and _is_fresh(line.at.timestamp()):
            yield line.data.invocation


def _is_fresh(seconds: float) -> bool:
    """The clock may have been set back since."""
    return abs(time.time() - seconds) <= FRESH_SECONDS
