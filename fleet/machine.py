"""What machine a host is. By allow-list: no serial number, and of the machine-id only its digest."""

import shlex

from fleet.record import Record

RELEASE_KEYS = {
    "DGX_NAME": "name",
    "DGX_PRETTY_NAME": "pretty_name",
    "DGX_PLATFORM": "platform",
    "DGX_SWBUILD_VERSION": "build_version",
    "DGX_SWBUILD_DATE": "build_date",
    "DGX_OTA_VERSION": "ota_version",
    "DGX_OTA_DATE": "ota_date",
}
"""The keys of /etc/dgx-release that may leave the host; DGX_SERIAL_NUMBER is not among them."""


class DgxRelease(Record):
    """/etc/dgx-release. An update appends its version, so the last of a repeated key is in force."""

    name: str | None = None
    pretty_name: str | None = None
    platform: str | None = None
    build_version: str | None = None
    """Of the image that was installed first."""
    build_date: str | None = None
    ota_version: str | None = None
    """Of the last over-the-air update; None when there was none."""
    ota_date: str | None = None

    @property
    def version(self) -> str | None:
        """The DGX OS version in force."""
        return self.ota_version or self.build_version


class Machine(Record):
    """The hardware and system that answer under a host's name."""

    hostname: str
    architecture: str
    """aarch64 on a Spark."""
    machine_id_digest: str | None = None
    """sha256 of the machine-id's 32 hex digits; None before the first boot has given it one."""
    sys_vendor: str | None = None
    """DMI; None on a machine without that field, here and below."""
    product_name: str | None = None
    """`NVIDIA_DGX_Spark`; other makers' boards differ."""
    board_vendor: str | None = None
    board_name: str | None = None
    os_name: str | None = None
    """PRETTY_NAME of os-release."""
    dgx_release: DgxRelease | None = None
    """None where the host has no /etc/dgx-release."""


def parse_dgx_release(text: str) -> DgxRelease:
    """The allowed keys of /etc/dgx-release; every other line is passed over unread."""
    found: dict[str, str] = {}
    for line in text.split("\n"):
        key, equals, value = line.strip().partition("=")
        if equals and key in RELEASE_KEYS:
            found[RELEASE_KEYS[key]] = shell_value(value)
    return DgxRelease(**found)


def shell_value(value: str) -> str:
    """A value of an os-release file: quoted as sh would have it; raises ValueError for an open quote."""
    return "".join(shlex.split(value)) if value.startswith(("'", '"')) else value.strip()


_DMI = ("sys_vendor", "product_name", "board_vendor", "board_name")
_PART = "dgx-release:"


def parse_machine(text: str) -> Machine:
    """From lines `key=value` and, where the host has it, `dgx-release:` with that file's allowed lines."""
    head, has_release, release = text.partition(f"{_PART}\n")
    values = dict(line.split("=", 1) for line in head.split("\n") if "=" in line)
    missing = {"hostname", "architecture"} - values.keys()
    if missing:
        raise ValueError(f"machine: expected {', '.join(sorted(missing))}, found none")
    digest = values.get("machine_id_sha256")
    return Machine(
        hostname=values["hostname"],
        architecture=values["architecture"],
        machine_id_digest=f"sha256:{digest}" if digest else None,
        **{key: values[key].strip() for key in _DMI if values.get(key, "").strip()},
        os_name=shell_value(values["PRETTY_NAME"]) if "PRETTY_NAME" in values else None,
        dgx_release=parse_dgx_release(release) if has_release else None,
    )
