"""The disk of a machine: a partition table written by hand, one ext4 file system, a qcow2 file."""

import os
import struct
from pathlib import Path

from virtual import host
from virtual.recipe import DISK_BYTES

SECTOR_BYTES = 512
FIRST_SECTOR = 2048
"""One MiB before the partition: room for a boot loader, so GRUB can be put in later."""

DISK_SIGNATURE = 0x5BA4C0DE
LINUX_PARTITION = 0x83
BOOTABLE = 0x80
# Cylinder, head, sector of a partition that is addressed by sector number only.
CHS_UNUSED = b"\xfe\xff\xff"


def partition_table(disk_bytes: int) -> bytes:
    """The 512 bytes of a master boot record with one bootable Linux partition, up to the disk's end."""
    sectors = disk_bytes // SECTOR_BYTES - FIRST_SECTOR
    entry = struct.pack("<B3sB3sII", BOOTABLE, CHS_UNUSED, LINUX_PARTITION, CHS_UNUSED, FIRST_SECTOR, sectors)
    return b"".join((bytes(440), struct.pack("<IH", DISK_SIGNATURE, 0), entry, bytes(48), b"\x55\xaa"))


def write_base(rootfs: Path, base: Path) -> None:
    """Make `base`, a qcow2 disk that holds the file tree `rootfs`."""
    raw = base.with_suffix(".raw")
    with raw.open("wb") as disk:
        disk.write(partition_table(DISK_BYTES))
        disk.truncate(DISK_BYTES)
    offset_bytes = FIRST_SECTOR * SECTOR_BYTES
    options = f"offset={offset_bytes},lazy_itable_init=1,lazy_journal_init=1"
    size = f"{(DISK_BYTES - offset_bytes) // 1024}k"
    make = [host.program("mke2fs"), "-q", "-t", "ext4", "-L", "root", "-E", options]
    host.run(host.as_root([*make, "-d", os.fspath(rootfs), os.fspath(raw), size]))
    convert = [host.program("qemu-img"), "convert", "-f", "raw", "-O", "qcow2"]
    host.run([*convert, os.fspath(raw), os.fspath(base)])
    raw.unlink()


def overlay(base: Path, disk: Path) -> None:
    """Make `disk`, which shares `base` and keeps what is written to it."""
    create = [host.program("qemu-img"), "create", "-q", "-f", "qcow2", "-F", "qcow2"]
    host.run([*create, "-b", os.fspath(base), os.fspath(disk)])


def copy(source: Path, target: Path) -> None:
    """Copy a disk with the snapshots inside it; shares blocks where the file system can."""
    host.run(["cp", "--reflink=auto", "--sparse=always", os.fspath(source), os.fspath(target)])
