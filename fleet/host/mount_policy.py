"""A share of a NAS as a policy wants it mounted."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fleet.host.fstab import nfs_server
from fleet.record import Record
from fleet.wall import wall

MountPoint = Annotated[str, Field(pattern=r"^(/[^/\x00-\x1f]+)+$", max_length=200)]
_OPTION = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/+-]+(=[A-Za-z0-9_.:/@%+-]+)?$", max_length=100)]
_SYSTEM = re.compile(r"/(bin|boot|dev|etc|lib.*|proc|root|run|sbin|sys|tmp|usr|var)(/.*)?")
"""Where a share would hide what the host needs; data is under /mnt, /srv, /home, /data, …"""


class MountPolicy(Record):
    """One NFS share: mounted now, and at every boot."""

    source: str
    """Server and export: `nas:/volume1/models`."""
    type: Literal["nfs", "nfs4"] = "nfs4"
    options: tuple[_OPTION, ...] = ()
    """As mount(8) and nfs(5) have them, `nconnect=8`; with `_netdev` and `nofail` a Spark boots without its NAS."""

    @property
    def is_automounted(self) -> bool:
        """Is it mounted when somebody first looks there?"""
        return "x-systemd.automount" in self.options

    @model_validator(mode="after")
    def _server_and_export(self) -> Self:
        try:
            nfs_server(self.source)
        except ValueError as error:
            raise wall("nfs_source", f"source: {error}") from error
        names = [each.partition("=")[0] for each in self.options]
        for name in names:
            if names.count(name) > 1:
                raise wall("option_twice", f"options: expected each once, found {name} {names.count(name)} times")
            if name == "noauto" and not self.is_automounted:
                raise wall("not_at_boot", "options: expected a mount that a boot makes, found noauto")
        return self


def mount_wall(target: str) -> None:
    """The wall against a mount that would hide what the host needs."""
    if _SYSTEM.fullmatch(target) or any(part in (".", "..") for part in target.split("/")):
        sentence = f"mounts.{target}: expected a place for data as /mnt/models, found one of the system"
        raise wall("mount_over_system", sentence)
