"""Builds the image of a virtual Spark: kernel, initrd, disk and the key its users accept."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from virtual import cache, debian, disk, grub, host, recipe
from virtual.errors import LabError
from virtual.progress import Say
from virtual.recipe import Recipe


@dataclass(frozen=True)
class Image:
    """A complete image in the cache."""

    directory: Path
    boots_by_grub: bool = False
    """Whether its disk boots itself; else QEMU is given the kernel."""

    @property
    def base(self) -> Path:
        """The disk that all machines share and none writes to."""
        return self.directory / "base.qcow2"

    @property
    def kernel(self) -> Path:
        """The kernel QEMU starts."""
        return self.directory / "vmlinuz"

    @property
    def initrd(self) -> Path:
        """Its first file system."""
        return self.directory / "initrd.img"

    @property
    def ssh_key(self) -> Path:
        """The private key of the lab; its public half is in the image."""
        return self.directory / "id_ed25519"


def obtain(say: Say, by_grub: bool = False) -> Image:
    """The image of the current recipe: from the cache, or built now."""
    wanted = recipe.current(by_grub)
    key = wanted.key

    def make(scratch: Path, lock: int) -> None:
        host.require(host.TO_BUILD + host.TO_RUN, keyring=True)
        plain = debian.obtain(wanted, say)
        say(f"building the image {key}: once, then it is cached in {cache.root()}")
        _build(wanted, plain, scratch, say)
        say(f"the image {key} is built")

    return Image(cache.obtain(cache.root() / key, "building the image", make, say), by_grub)


def _build(wanted: Recipe, plain: Path, scratch: Path, say: Say) -> None:
    image, files, rootfs = Image(scratch), scratch / "files", scratch / "rootfs"
    key = os.fspath(image.ssh_key)
    host.run([host.program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "virtual-sparks", "-f", key])
    _stage(wanted, files)
    say("  unpacking Debian and making it a Spark")
    customize = ["sh", os.fspath(wanted.customize), os.fspath(plain), os.fspath(rootfs), os.fspath(files)]
    host.run(host.as_root([*customize, f"{key}.pub"]))
    if wanted.customize_grub:
        host.run(host.as_root(["sh", os.fspath(wanted.customize_grub), os.fspath(rootfs)]))
    for pattern, target in (("vmlinuz-*", image.kernel), ("initrd.img-*", image.initrd)):
        _take_newest(rootfs / "boot", pattern, target)
    say("  writing the disk")
    disk.write_base(rootfs, image.base)
    host.remove_tree(rootfs)
    shutil.rmtree(files)
    if wanted.customize_grub:
        say("  installing GRUB in a first boot")
        grub.install(image.base, image.kernel, image.initrd)


def _stage(wanted: Recipe, files: Path) -> None:
    """Lay out the guest's own files as the image will have them."""
    for file in wanted.files:
        target = files / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.content)
        target.chmod(0o755 if file.executable else 0o644)


def _take_newest(boot: Path, pattern: str, target: Path) -> None:
    found = sorted(boot.glob(pattern))
    if not found:
        raise LabError(f"the image's /boot: expected {pattern}, found none")
    owner = [f"--owner={os.getuid()}", f"--group={os.getgid()}"]
    host.run(host.as_root(["install", "-m", "644", *owner, os.fspath(found[-1]), os.fspath(target)]))
