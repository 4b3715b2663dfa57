"""What a trial rests on, from an observation. Pure."""

from collections.abc import Iterator

from fleet.kernel.boot import Boot
from fleet.kernel.files import InstalledKernels
from fleet.kernel.grub import entry_at, selector_for
from fleet.kernel.trial import Entry, Standing
from fleet.observation import Observation, known
from fleet.refusal import Refusal

SECTIONS = ("kernel", "kernels", "boot")
"""The sections of an observation that it is made of."""


def standing(seen: Observation) -> Standing | tuple[Refusal, ...]:
    """How a Spark stands to a trial; or every section that could not be observed."""
    blind = tuple(no for section in SECTIONS if (no := seen.unobserved(section)) is not None)
    if blind:
        return blind
    kernel, boot = known(seen.kernel), known(seen.boot)
    return Standing(
        host=seen.host,
        running=kernel.release,
        boot_id=kernel.boot_id,
        default=boot.default.release,
        is_pinned=boot.default.is_pinned,
        one_shot=boot.environment.next_entry,
        entries=tuple(_entries(boot, known(seen.kernels))),
    )


def _entries(boot: Boot, installed: InstalledKernels) -> Iterator[Entry]:
    """Of every release that is installed, where GRUB starts exactly it by ids."""
    for each in installed.kernels:
        selector = selector_for(boot.menu, each.release)
        entry = None if selector is None else entry_at(boot.menu, selector)
        if selector is not None and entry is not None and entry.release == each.release:
            words = tuple(map(str, entry.parameters))
            yield Entry(release=each.release, selector=selector, parameters=words, missing=each.missing)
