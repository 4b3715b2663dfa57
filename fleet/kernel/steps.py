"""What makes the kernel of a Spark as its policy says. None of these boots anything."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fleet.kernel.words import PackageName, Release, Version
from fleet.record import Digest, Record
from fleet.step import FOUND, Effect, Step

INSTALL, WORDS = "install_kernel", "kernel_words"


class InstallKernel(Step):
    """Install packages at exact versions, and hold them."""

    kind: Literal["install_kernel"] = "install_kernel"
    effect: Effect = Effect.DOWNLOAD
    packages: Annotated[dict[PackageName, Version], Field(min_length=1)]
    downgrades: tuple[PackageName, ...] = ()
    """Those of them that are there at a later version: nothing else may go back to an older one."""


class HoldPackages(Step):
    """Hold packages that are there: apt leaves them alone, and so do unattended upgrades."""

    kind: Literal["hold_packages"] = "hold_packages"
    effect: Effect = Effect.WRITE
    packages: Annotated[tuple[PackageName, ...], Field(min_length=1)]


class MakeInitramfs(Step):
    """Make the initramfs of a release that has none."""

    follows: ClassVar[frozenset[str]] = frozenset({INSTALL})

    kind: Literal["make_initramfs"] = "make_initramfs"
    effect: Effect = Effect.NEXT_BOOT
    release: Release


class Cut(Record):
    """Words that are cut out of somebody's file; every other byte stays."""

    path: str
    content_digest: Digest
    """Of the file that was looked at; another one is not cut."""
    pieces: Annotated[tuple[tuple[int, int], ...], Field(min_length=1)]
    """From where to where, in bytes, in order; the end is not part of a piece."""


class SetWords(Step):
    """Add words to the kernel command line and take others out, and make GRUB's menu anew."""

    follows: ClassVar[frozenset[str]] = frozenset({INSTALL})

    kind: Literal["kernel_words"] = "kernel_words"
    effect: Effect = Effect.NEXT_BOOT
    path: str
    """The file of ours that adds words."""
    text: str | None
    """What it shall say; None for no such file."""
    cuts: tuple[Cut, ...] = ()


class SetNextBoot(Step):
    """Choose what every boot starts, and clear what is pending for the next one alone."""

    follows: ClassVar[frozenset[str]] = frozenset({INSTALL, WORDS, "make_initramfs"})

    kind: Literal["next_boot"] = "next_boot"
    effect: Effect = Effect.NEXT_BOOT
    selector: str | None
    """The saved entry, by ids; None where somebody's own file names the entry."""
    path: str
    """The file of ours that makes the default the saved entry."""
    text: str | None
    """What it shall say; None where it is left as it is."""
    clear_one_shot: bool = False
    remake: Annotated[bool, FOUND] = False
    """Is the menu older than what it is made from?"""


KernelStep = InstallKernel | HoldPackages | MakeInitramfs | SetWords | SetNextBoot
