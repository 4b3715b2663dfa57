"""The cache of images and snapshots: a folder per key, complete or absent, never half-made.

What is made goes into a scratch folder beside its place and is renamed at the end, under a lock. A
maker that was killed leaves scratch behind; the next one removes it first.
"""

import os
from collections.abc import Callable
from pathlib import Path

from virtual import host, locks, process
from virtual.progress import Say

KEPT_IMAGES = 6
"""How many images stay, each with its snapshots about 1.5 GB: a few branches of work, two for each where they boot by
GRUB as well."""


def root() -> Path:
    """`$XDG_CACHE_HOME/sparks/virtual`, by default below `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base).absolute() / "sparks" / "virtual"


def obtain(place: Path, purpose: str, make: Callable[[Path, int], None], say: Say) -> Path:
    """The folder `place`, made by `make(scratch, lock)` when it is not there yet.

    `lock` is the descriptor of the lock that is held; a child that inherits it keeps the next maker
    waiting even when this process is killed.
    """
    if place.is_dir():
        os.utime(place)
        return place
    with locks.held(place.with_name(f"{place.name}.lock"), purpose, say) as lock:
        if place.is_dir():
            return place
        scratch = place.with_name(f"{place.name}.tmp")
        process.stop_all_below(scratch)
        host.remove_tree(scratch)
        scratch.mkdir(mode=0o700)
        try:
            make(scratch, lock)
            scratch.rename(place)
        finally:
            host.remove_tree(scratch)
    return place


def sweep() -> None:
    """Remove what killed makers left, their machines first, and the images that were not used lately."""
    for scratch in (*root().glob("*.tmp"), *root().glob("*/*.tmp")):
        _remove_if_free(scratch.with_suffix(".lock"), scratch)
    images = [place for place in root().glob("*") if (place / "base.qcow2").is_file()]
    images.sort(key=lambda place: place.stat().st_mtime, reverse=True)
    for place in images[KEPT_IMAGES:]:
        _remove_if_free(place.with_name(f"{place.name}.lock"), place)


def _remove_if_free(lock: Path, folder: Path) -> None:
    with locks.free(lock) as is_free:
        if is_free:
            process.stop_all_below(folder)
            host.remove_tree(folder)
