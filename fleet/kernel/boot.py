"""How a host boots: GRUB's menu, its environment, and what the next menu will be made from."""

import json
from typing import Literal

from fleet.kernel.defaults import GrubDefaults
from fleet.kernel.grub import Menu, NextBoot, default_boot, names, next_boot, selected_by
from fleet.kernel.grub_cfg import parse_grub_cfg
from fleet.kernel.grubenv import GrubEnvironment, parse_grubenv
from fleet.record import Record

SecureBootState = Literal["on", "off", "no efi"]


class Boot(Record):
    """All that decides about the next boot."""

    menu: Menu
    environment: GrubEnvironment
    defaults: GrubDefaults

    @property
    def next(self) -> NextBoot:
        """What the next boot starts, a pending one-shot included."""
        return next_boot(self.menu, self.environment)

    @property
    def default(self) -> NextBoot:
        """What every other boot starts, as the menu is now."""
        return default_boot(self.menu, self.environment)

    @property
    def default_once_made(self) -> NextBoot:
        """The same, once the menu is made anew from the files: by an upgrade, or by anybody who calls update-grub."""
        return default_boot(self.menu.replaced(default=self.defaults.default), self.environment)

    def is_chosen(self, release: str) -> bool:
        """Do the files and the saved entry name this release? Making the menu anew leaves that so."""
        return names(selected_by(self.defaults.default, self.environment)[1], release)


class SecureBoot(Record):
    """Does the firmware start only what is signed?"""

    state: SecureBootState
    lockdown: str | None = None
    """`none`, `integrity` or `confidentiality`: with the latter two only signed modules load. None: no such thing."""


def parse_boot(text: str) -> Boot:
    """From the JSON of `facts/remote/grub.py`; raises ValueError with its complaint where it could not look."""
    found = json.loads(text)
    if "error" in found:
        raise ValueError(found["error"])
    return Boot(
        menu=parse_grub_cfg(found["menu"]),
        environment=parse_grubenv(found["environment"]),
        defaults=GrubDefaults.model_validate_json(json.dumps(found["defaults"])),
    )


def parse_secure_boot(text: str) -> SecureBoot:
    """From lines `efi=yes|no`, `secure=<byte>`, `lockdown=<the file>`."""
    said = dict(line.split("=", 1) for line in text.split("\n") if "=" in line)
    if said.get("efi") not in ("yes", "no"):
        raise ValueError("secure boot: expected whether there is EFI, found nothing of it")
    state: SecureBootState = (
        "no efi" if said["efi"] == "no" else "on" if said.get("secure", "").strip() == "1" else "off"
    )
    chosen = [word.strip("[]") for word in said.get("lockdown", "").split() if word.startswith("[")]
    return SecureBoot(state=state, lockdown=chosen[0] if chosen else None)
