"""What DKMS has built, as `dkms status` of 2.x and 3.x prints it."""

import re
from typing import Literal

from fleet.record import Record

State = Literal["added", "built", "installed", "broken"]
"""Only what is installed is loaded at boot."""

_LINE = re.compile(
    r"(?P<name>[^/,:\s]+)(?:/|, )(?P<version>[^,:\s]+)"
    r"(?:, (?P<kernel>[^,:\s]+)(?:, (?P<architecture>[^,:\s]+))?)?"
    r": (?P<state>added|built|installed|broken)(?P<note>.*)"
)
"""`nvidia/580.95.05, 6.17.0-1031-nvidia, aarch64: installed` (3.x); 2.x has a comma where that has the slash."""


class DkmsModule(Record):
    """One module, at one version, for one kernel."""

    name: str
    version: str
    kernel: str | None = None
    """The release that it was built for; None for one that is only known to DKMS."""
    architecture: str | None = None
    state: State
    note: str | None = None
    """What DKMS adds, as `original_module exists` or a warning."""


class Dkms(Record):
    """All of it."""

    is_there: bool
    """Is DKMS installed at all?"""
    modules: tuple[DkmsModule, ...] = ()
    notes: tuple[str, ...] = ()
    """Lines about no module: errors, and what goes on from the line before."""

    def for_kernel(self, release: str) -> tuple[DkmsModule, ...]:
        """What was built for a release."""
        return tuple(each for each in self.modules if each.kernel == release)

    def lacking(self, release: str) -> tuple[str, ...]:
        """Modules that some kernel has installed and this release has not, sorted."""
        there = {each.name for each in self.for_kernel(release) if each.state == "installed"}
        return tuple(sorted({each.name for each in self.modules if each.state == "installed"} - there))


def parse_dkms(text: str) -> Dkms:
    """From the output of `dkms status`, errors and all."""
    modules, notes = [], []
    for line in filter(None, map(str.strip, text.split("\n"))):
        match = _LINE.fullmatch(line)
        if match is None:
            notes.append(line)
            continue
        found = match.groupdict()
        note = (found.pop("note") or "").strip().removeprefix("(").removesuffix(")") or None
        modules.append(DkmsModule.model_validate(found | {"note": note}))
    return Dkms(is_there=True, modules=tuple(modules), notes=tuple(notes))
