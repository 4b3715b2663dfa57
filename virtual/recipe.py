"""The recipe of the image: everything that decides its bytes, and one digest over all of it."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from virtual.errors import LabError

HERE = Path(__file__).parent
GUEST = HERE / "guest"

SUITE = "trixie"
"""Debian 13: systemd, NetworkManager and netplan near those of DGX OS (virtual-sparks.md, 2026-11-29)."""

DISK_BYTES = 6 * 2**30

PACKAGE_SETS = {
    "system": ("linux-image-amd64", "initramfs-tools", "zstd", "systemd-sysv", "dbus", "udev", "kmod",
               "util-linux", "xz-utils", "e2fsprogs", "procps", "less", "sudo", "openssh-server", "python3"),
    "network": ("network-manager", "netplan.io", "python3-yaml", "iproute2", "iputils-ping", "ethtool",
                "ca-certificates", "curl"),
    "rdma": ("rdma-core", "ibverbs-utils", "rdmacm-utils", "perftest", "infiniband-diags"),
    "containers": ("docker.io", "docker-cli", "iptables"),
}  # fmt: skip
"""What is installed, by purpose. mmdebstrap installs no Recommends: name what is needed."""

GRUB_PACKAGES = (
    "linux-image-rt-amd64", "linux-image-cloud-amd64", "grub-pc", "grub2-common", "dkms", "unattended-upgrades",
    "nfs-common", "nfs-kernel-server",
)  # fmt: skip
"""What a machine that boots by GRUB has besides. Its other kernels are flavours of the same version: trixie and its
security suite often carry one version only, and flavours are always there. `rt` does all that the first one does;
`cloud` has no soft-RoCE, and so no RDMA device. DKMS has no compiler with it, which is 180 MB (2026-11-30)."""

MMDEBSTRAP_OPTIONS = (
    "--variant=minbase",
    "--mode=root",
    # apt verifies as user _apt, and fails wherever a parent folder is closed to it
    '--aptopt=APT::Sandbox::User "root"',
    '--aptopt=Acquire::Languages "none"',
)


@dataclass(frozen=True)
class GuestFile:
    """One file that the image gets."""

    path: str
    """Below the guest's root, without a leading slash."""
    content: bytes
    """Read once, so that a file edited during a build cannot get into an image of another key."""
    executable: bool

    @classmethod
    def read(cls, path: str, source: Path, executable: bool) -> Self:
        """The file as the repository has it now."""
        return cls(path, source.read_bytes(), executable)


@dataclass(frozen=True)
class Recipe:
    """The inputs of one image: a plain Debian, and what makes it a virtual Spark."""

    packages: tuple[str, ...]
    files: tuple[GuestFile, ...]
    before_packages: Path
    """Run by mmdebstrap before the packages are unpacked."""
    customize: Path
    """Makes the Spark out of the plain Debian."""
    customize_grub: Path | None = None
    """Run after it where the machine is to boot by GRUB; None where QEMU starts the kernel."""

    @property
    def debian_key(self) -> str:
        """The name of the plain Debian in the cache: 16 hex digits over what decides it."""
        return _key(SUITE, MMDEBSTRAP_OPTIONS, self.packages, _sha256(self.before_packages.read_bytes()))

    @property
    def key(self) -> str:
        """The name of the image in the cache: 16 hex digits over every input."""
        files = [(file.path, file.executable, _sha256(file.content)) for file in self.files]
        above = [_sha256(self.customize_grub.read_bytes())] if self.customize_grub else []
        return _key(self.debian_key, DISK_BYTES, files, _sha256(self.customize.read_bytes()), *above)


def current(by_grub: bool = False) -> Recipe:
    """The recipe as this checkout has it; that of a machine which boots by GRUB is the other one and more."""
    plain = _plain()
    if not by_grub:
        return plain
    return Recipe(
        (*plain.packages, *GRUB_PACKAGES), (*plain.files, *_files_of(GUEST / "grub" / "files")),
        plain.before_packages, plain.customize, GUEST / "grub" / "customize.sh",
    )  # fmt: skip


def _plain() -> Recipe:
    files = _files_of(GUEST / "files")
    packages = tuple(name for names in PACKAGE_SETS.values() for name in names)
    scripts = GUEST / "before-packages.sh", GUEST / "customize.sh"
    return Recipe(packages, (*files, *_ollama_stand_in()), *scripts)


def _files_of(own: Path) -> list[GuestFile]:
    """Every file of a folder that is laid out as the guest's root is."""
    return [
        GuestFile.read(str(source.relative_to(own)), source, source.stat().st_mode & 0o100 != 0)
        for source in sorted(own.rglob("*"))
        if source.is_file()
    ]


def _ollama_stand_in() -> tuple[GuestFile, ...]:
    program, registry = HERE / "ollama_standin.py", HERE / "ollama_registry.json"
    if not program.is_file():
        raise LabError(f"the image needs the lab's Ollama stand-in: expected {program}, found no such file")
    files = [GuestFile.read("usr/local/bin/ollama", program, executable=True)]
    if registry.is_file():
        path = "usr/local/share/ollama-standin/registry.json"
        files.append(GuestFile.read(path, registry, executable=False))
    return tuple(files)


def _key(*inputs: object) -> str:
    return _sha256(json.dumps(inputs).encode())[:16]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
