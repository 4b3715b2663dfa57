"""The computer that every virtual Spark is: what QEMU emulates, whoever starts the kernel on it."""

MEMORY_MIB = 512
"""66 MB of it are used when idle, 146 MB with a container (virtual-sparks.md, measured 2026-11-29)."""

CODE_CACHE_MIB = 256
"""QEMU's own default, 1 GiB, is more than the guest has (virtual-sparks.md, measured 2026-11-29)."""

CPU = "Nehalem"
"""Boots in 44 s; `max` takes 66 to 79 s (virtual-sparks.md, measured 2026-11-29)."""

SAME_PLACES = "norandmaps"
"""Every process finds its libraries where it found them before: QEMU keeps what it translated by address. A look at
everything costs 11 s of a processor in place of 27 (measured 2026-11-30)."""

SERIAL_NUMBER = "VIRTUAL0000000"
"""The same in every machine: the tables stay in the memory that a clone shares with its original."""

DISK = "virtio-blk-pci,drive=disk,addr=0xa"
"""The card of the disk, /dev/vda."""

_SMBIOS = f"type=1,manufacturer=NVIDIA,product=NVIDIA_DGX_Spark_virtual,serial={SERIAL_NUMBER}"


def computer(name: str) -> tuple[str, ...]:
    """Processor, memory, clock and tables, as QEMU takes them on its command line."""
    return (
        "-name", name, "-nodefaults", "-no-user-config", "-display", "none",
        "-accel", f"tcg,thread=multi,tb-size={CODE_CACHE_MIB}", "-cpu", CPU,
        "-m", str(MEMORY_MIB), "-smp", "1", "-rtc", "base=utc,clock=host", "-smbios", _SMBIOS,
    )  # fmt: skip


def drive(path: str) -> str:
    """The disk in `DISK`. Its writes may be lost when this machine crashes, not when the virtual one does."""
    return f"file={path},if=none,id=disk,cache=unsafe,discard=unmap"
