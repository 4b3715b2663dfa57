"""NetworkManager's profiles and devices, and the question an operator has: is it there after a reboot?"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator

from fleet.keyfile import REDACTED, WIFI_TYPES, Keyfile, Settings, Storage, shown_path, storage_of
from fleet.keyfile_loading import is_profile_path
from fleet.links import canonical_cidr
from fleet.nm_device import NmDevice, sorted_devices
from fleet.nmcli import is_yes, read_terse
from fleet.record import VOLATILE, Record, Unobserved

PROFILE_COLUMNS = ("NAME", "UUID", "TYPE", "DEVICE", "FILENAME", "AUTOCONNECT", "STATE")


class Networking(StrEnum):
    """Whether NetworkManager acts on the network at all."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    """`nmcli networking off`, or asleep: every device is then unmanaged for that reason alone."""


class Profile(Record):
    """One connection profile, loaded by NetworkManager."""

    name: str
    """What people call it; it identifies nothing ("Wired connection 2" is another port after a reboot)."""
    uuid: str
    type: str
    """As in a profile: `802-3-ethernet`, `802-11-wireless` (its name and file are redacted), vlan, bond, …"""
    device: Annotated[str | None, VOLATILE] = None
    """The interface on which it is active."""
    filename: str | None = None
    autoconnect: bool
    state: Annotated[str | None, VOLATILE] = None
    """activated, activating, deactivating; None when it is not active."""
    storage: Storage
    generated: bool = False
    """NetworkManager made it up for a device without a profile."""
    stored: Settings | Unobserved | None = None
    """What its file says, or why that is not known; None where there is no file or it was not read."""
    shadowed: Settings | Unobserved | None = None
    """What the file that it hides says, and so what comes back at the next boot."""

    @property
    def comes_and_goes(self) -> bool:
        """What NetworkManager makes up it also drops, and makes up again under another uuid."""
        return self.generated

    @property
    def survives_reboot(self) -> bool:
        """Will this profile, as it is, be there after the next boot?"""
        return self.storage.survives_reboot

    @property
    def settings(self) -> Settings | None:
        """What its file is known to say."""
        return self.stored if isinstance(self.stored, Settings) else None

    @property
    def is_active(self) -> bool:
        """Has NetworkManager brought it up?"""
        return self.state == "activated"

    def keeps_address(self, address: object) -> bool:
        """Will this address come back with the profile at the next boot?

        For a netplan profile this is what its generated file says. `nmcli connection modify --temporary`
        rewrites that file in place and leaves no mark (seen with NetworkManager 1.52.1), so the document
        under /etc/netplan has the last word.
        """
        wanted = canonical_cidr(str(address))
        settings = self.stored if self.survives_reboot else self.shadowed
        return isinstance(settings, Settings) and settings.ipv4_method == "manual" and wanted in settings.ipv4_addresses


def _sorted_profiles(profiles: tuple[Profile, ...]) -> tuple[Profile, ...]:
    return tuple(sorted(profiles, key=lambda each: (each.uuid, each.device or "", each.name)))


class Connections(Record):
    """All that NetworkManager knows; nmcli's order (last used first) never matters."""

    running: bool
    networking: Networking | None = None
    """None when NetworkManager is not running."""
    profiles: Annotated[tuple[Profile, ...], AfterValidator(_sorted_profiles)] = ()
    devices: Annotated[tuple[NmDevice, ...], AfterValidator(sorted_devices)] = ()
    keyfiles: tuple[Keyfile, ...] = ()
    """The files of wired and virtual profiles that stay when the power goes, loaded or not, by path."""

    def device(self, name: str) -> NmDevice | None:
        """The device of that name; None when NetworkManager has none."""
        return next((each for each in self.devices if each.name == name), None)

    def active_profile(self, device: str) -> Profile | None:
        """The profile that is up on a device; None when none is."""
        return next((each for each in self.profiles if each.device == device and each.is_active), None)

    def is_mirror(self, profile: Profile) -> bool:
        """Did NetworkManager make it up to show what somebody else configured on the device?"""
        device = self.device(profile.device) if profile.device else None
        return profile.generated and device is not None and device.is_external

    def profile(self, uuid: str) -> Profile | None:
        """The profile of that uuid; None when it is not loaded."""
        return next((each for each in self.profiles if each.uuid == uuid), None)

    def keeps_address(self, device: str, address: object) -> bool:
        """Is this address of this device durable: in a profile that is active on it and survives a reboot?"""
        profile = self.active_profile(device)
        return profile is not None and profile.keeps_address(address)


def durable_keyfiles(files: Iterable[Keyfile]) -> tuple[Keyfile, ...]:
    """Those that NetworkManager may load after the next boot. A Wi-Fi profile binds no wired interface."""
    kept = (file for file in files if file.is_durable and is_profile_path(file.path) and file.type not in WIFI_TYPES)
    return tuple(sorted(kept, key=lambda file: file.path))


def parse_profiles(
    text: str, keyfiles: Iterable[Keyfile] = (), columns: Sequence[str] = PROFILE_COLUMNS
) -> tuple[Profile, ...]:
    """The profiles in `nmcli -t -f <columns> connection show`, joined to what their files say."""
    files = tuple(keyfiles)
    return _sorted_profiles(tuple(_profile(row, files) for row in read_terse(text, columns)))


def _profile(row: dict[str, str], files: tuple[Keyfile, ...]) -> Profile:
    is_wifi = row["TYPE"] in WIFI_TYPES
    filename = shown_path(row["FILENAME"], is_wifi)
    own = _file_of(row["UUID"], filename, files)
    hides = own.shadows if own else None
    hidden = _file_of(row["UUID"], hides, files) if hides else None
    return Profile(
        name=REDACTED if is_wifi else row["NAME"],
        uuid=row["UUID"],
        type=row["TYPE"],
        device=row["DEVICE"] or None,
        filename=filename or None,
        autoconnect=is_yes(row["AUTOCONNECT"]),
        state=row["STATE"] or None,
        storage=storage_of(filename, shadows_another=hides is not None),
        generated=own is not None and own.nm_generated,
        stored=own.settings if own else None,
        shadowed=hidden.settings if hidden else None,
    )


def _is_of(file: Keyfile, uuid: str) -> bool:
    """A file may leave out its uuid; NetworkManager then derives one from the path (cases/044)."""
    return file.uuid in ("", uuid)


def _file_of(uuid: str, filename: str, files: tuple[Keyfile, ...]) -> Keyfile | None:
    """Two Wi-Fi files have one redacted path, so those are told apart by uuid alone."""
    here = [f for f in files if f.path == filename and _is_of(f, uuid)]
    exact = [f for f in here if f.uuid == uuid]
    return next(iter(exact or (here if REDACTED not in filename else [])), None)


def parse_networking(text: str) -> Networking:
    """From `nmcli -t general`, whose first field is the state: `asleep` means that networking is off."""
    lines = [line for line in text.split("\n") if line]
    if len(lines) != 1:
        raise ValueError(f"nmcli general: expected one line, found {len(lines)}")
    return Networking.DISABLED if lines[0].split(":")[0] == "asleep" else Networking.ENABLED
