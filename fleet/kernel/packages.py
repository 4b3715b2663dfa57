"""Packages about kernels as dpkg has them, in every state that dpkg knows."""

import re
from typing import Literal

from fleet.record import Record

Want = Literal["unknown", "install", "hold", "deinstall", "purge"]
Status = Literal[
    "not-installed", "config-files", "half-installed", "unpacked", "half-configured", "triggers-awaited",
    "triggers-pending", "installed",
]  # fmt: skip
"""dpkg(1), PACKAGE STATES."""

FORMAT = "${Status}|${Package}|${Version}|${Architecture}|${Depends}\\n"
"""What dpkg-query is asked for."""

_OF_A_RELEASE = re.compile(
    r"linux-(?P<kind>[a-z][a-z0-9-]*?)-(?P<release>[0-9]+\.[0-9]+\.[0-9]+(?:[.+-][0-9a-z.+~-]*)?)"
)
"""Three numbers: the `24.04` of a meta's name is no release."""
_IMAGES = ("image", "image-unsigned")
_DEPENDENCY = re.compile(r"(?P<name>[a-z0-9][a-z0-9+.-]+)")


class Package(Record):
    """One package. Only what is installed has files that count."""

    name: str
    version: str | None
    """None for one that was never installed."""
    architecture: str | None = None
    want: Want
    status: Status
    needs_reinstall: bool = False
    pulls: tuple[str, ...] = ()
    """The releases whose packages it depends on, where its own name says no release: then it is a meta."""

    @property
    def is_installed(self) -> bool:
        """Are its files there and configured? Held or marked for removal does not matter."""
        return self.status in ("installed", "triggers-awaited", "triggers-pending") and not self.needs_reinstall

    @property
    def is_broken(self) -> bool:
        """Did dpkg stop in the middle of it? An initramfs or GRUB's menu may lack it."""
        return self.needs_reinstall or self.status in ("half-installed", "unpacked", "half-configured")

    @property
    def is_held(self) -> bool:
        """Does apt leave it as it is?"""
        return self.want == "hold"

    @property
    def release(self) -> str | None:
        """The release that its name says; None for a meta, and for what belongs to no release."""
        match = _OF_A_RELEASE.fullmatch(self.name)
        return match["release"] if match else None

    @property
    def kind(self) -> str | None:
        """`image`, `image-unsigned`, `modules`, `headers`, `modules-nvidia-580-open`; None where it says no release."""
        match = _OF_A_RELEASE.fullmatch(self.name)
        return match["kind"] if match else None

    @property
    def is_image(self) -> bool:
        """Is it the image of a release, signed or not?"""
        return self.kind in _IMAGES and not self.name.endswith("-dbg")

    @property
    def is_meta(self) -> bool:
        """Does it follow the newest kernel?"""
        return self.release is None and bool(self.pulls)

    @property
    def words(self) -> str:
        """Its state, in words."""
        if self.is_broken:
            return f"{self.version} {self.status}"
        if not self.is_installed:
            return "absent"
        return f"{self.version}, {'held' if self.is_held else 'not held'}"


class Packages(Record):
    """Every package about kernels, and those that a policy names."""

    packages: tuple[Package, ...]

    def named(self, name: str) -> Package | None:
        """The package of that name, in any state."""
        return next((each for each in self.packages if each.name == name), None)

    def installed(self, name: str) -> Package | None:
        """The package of that name where it is installed."""
        found = self.named(name)
        return found if found is not None and found.is_installed else None

    def words(self, name: str) -> str:
        """The state of a package, in words, also of one that dpkg never heard of."""
        found = self.named(name)
        return "absent" if found is None else found.words

    @property
    def images(self) -> tuple[Package, ...]:
        """The installed images; a meta is none."""
        return tuple(each for each in self.packages if each.is_image and each.is_installed)

    @property
    def broken(self) -> tuple[Package, ...]:
        """Those that dpkg stopped in the middle of."""
        return tuple(each for each in self.packages if each.is_broken)

    @property
    def movers(self) -> tuple[Package, ...]:
        """Installed metas that nobody holds: an upgrade brings the kernel that they depend on then."""
        return tuple(each for each in self.packages if each.is_meta and each.is_installed and not each.is_held)


def parse_packages(text: str) -> Packages:
    """From lines of `FORMAT`; raises ValueError for a state that dpkg does not have."""
    return Packages(packages=tuple(_package(line) for line in text.split("\n") if line.strip()))


def _package(line: str) -> Package:
    status, name, version, architecture, depends = [*line.split("|", 4), "", "", "", ""][:5]
    words = status.split()
    if len(words) != 3 or not name:
        raise ValueError(f"dpkg: expected a status of three words and a name, found {len(words)} words")
    want, flag, state = words
    return Package.model_validate(
        {
            "name": name,
            "version": version or None,
            "architecture": architecture or None,
            "want": want,
            "status": state,
            "needs_reinstall": flag == "reinstreq",
            "pulls": () if _OF_A_RELEASE.fullmatch(name) else _pulled(depends),
        }
    )


def _pulled(depends: str) -> tuple[str, ...]:
    """The releases whose packages stand in a Depends field; a version condition is none."""
    names = (_DEPENDENCY.match(each.strip()) for group in depends.split(",") for each in group.split("|"))
    found = (_OF_A_RELEASE.fullmatch(name[0]) for name in names if name)
    return tuple(dict.fromkeys(match["release"] for match in found if match))
