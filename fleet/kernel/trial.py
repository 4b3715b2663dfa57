"""A rolling trial of a kernel: what it may begin from, what it does on a Spark, what follows from what happens. Pure.

The kernel that is tried is started once, by GRUB's one-shot; the default stays the fallback until the kernel has
qualified. So a power cycle at any moment of a trial returns to the fallback, whether anybody is there or not.
"""

from enum import StrEnum
from typing import NamedTuple

from fleet.kernel.policy import KernelPolicy
from fleet.kernel.words import Release
from fleet.record import Record
from fleet.refusal import Refusal


class Entry(Record):
    """A release as GRUB's menu has it."""

    release: Release
    selector: str
    """The ids by which exactly this entry is chosen, from the top of the menu: `gnulinux-advanced-…>gnulinux-…`."""
    parameters: tuple[str, ...]
    """The command line that it starts with, word by word."""
    missing: str
    """What a boot of it would lack, in words: `initramfs`. Empty where it is whole."""


class Standing(Record):
    """What a trial's decisions rest on, of one Spark."""

    host: str
    running: Release
    boot_id: str
    default: Release | None
    """What every boot without a one-shot starts; None where that is no kernel that is known."""
    is_pinned: bool
    """Is the default found by a name that says its release, and not by a number or by nothing?"""
    one_shot: str | None
    """The selector that is pending for the next boot alone."""
    entries: tuple[Entry, ...]

    def entry(self, release: str | None) -> Entry | None:
        """The entry of a release; None where the menu has none."""
        return next((each for each in self.entries if each.release == release), None)


class Phase(StrEnum):
    """What is going on with one Spark of a trial."""

    DRAIN = "drain"
    BOOT = "one-shot boot"
    QUALIFY = "qualify"
    PERSIST = "persist"
    RETURN = "return"
    PERSISTED = "persisted"
    KEPT = "kept"
    """It ended before the boot: nothing was changed."""
    RETURNED = "returned"
    LOST = "lost"
    """It does not answer; what it does is not known."""
    TRIED = "tried"
    """It runs the kernel, and the default is still the fallback."""

    @property
    def is_end(self) -> bool:
        """Does nothing follow?"""
        return self in _ENDS


_ENDS = frozenset({Phase.PERSISTED, Phase.KEPT, Phase.RETURNED, Phase.LOST, Phase.TRIED})


class Happening(StrEnum):
    """How a phase ended."""

    DONE = "done"
    FAILED = "failed"
    CAME_WITH_TRIAL = "came back with the kernel that is tried"
    CAME_WITH_OTHER = "came back with another kernel"
    SILENT = "did not come back"
    HELD = "another run holds the Spark"


FOLLOWS: dict[tuple[Phase, Happening], Phase] = {
    (Phase.DRAIN, Happening.DONE): Phase.BOOT,
    (Phase.DRAIN, Happening.FAILED): Phase.KEPT,
    (Phase.BOOT, Happening.CAME_WITH_TRIAL): Phase.QUALIFY,
    (Phase.BOOT, Happening.CAME_WITH_OTHER): Phase.RETURNED,
    (Phase.BOOT, Happening.SILENT): Phase.LOST,
    (Phase.BOOT, Happening.FAILED): Phase.KEPT,
    (Phase.QUALIFY, Happening.DONE): Phase.PERSIST,
    (Phase.QUALIFY, Happening.FAILED): Phase.RETURN,
    (Phase.QUALIFY, Happening.HELD): Phase.TRIED,
    (Phase.PERSIST, Happening.DONE): Phase.PERSISTED,
    (Phase.PERSIST, Happening.FAILED): Phase.TRIED,
    (Phase.RETURN, Happening.CAME_WITH_OTHER): Phase.RETURNED,
    (Phase.RETURN, Happening.CAME_WITH_TRIAL): Phase.TRIED,
    (Phase.RETURN, Happening.SILENT): Phase.LOST,
    (Phase.RETURN, Happening.FAILED): Phase.TRIED,
}
"""What follows. Where the default could not be made the Spark is left: its kernel is well, and the fallback stands."""


class First(NamedTuple):
    """Where a trial begins on a Spark, and the entry that it boots; nothing is booted where it was booted before."""

    phase: Phase
    entry: Entry


def begins(policy: KernelPolicy | None, seen: Standing) -> First | tuple[Refusal, ...] | None:
    """Where a trial begins; None where the kernel runs and is the default, so that nothing is to be tried.

    One that was cut off after its boot goes on where it was: state says so, and no memory of a run.
    """
    if policy is None:
        expected, hint = "a kernel policy in the roster", f"name one: sparks.{seen.host}.kernel"
        return (Refusal(code="trial_without_policy", subject=_of(seen), expected=expected, found="none", hint=hint),)
    if seen.running == policy.release == seen.default and seen.is_pinned:
        return None
    if policy.fallback is None:
        expected, hint = "a fallback in the policy", "name the release that a power cycle shall return to"
        return (Refusal(code="trial_without_fallback", subject=_of(seen), expected=expected, found="none", hint=hint),)
    entry = seen.entry(policy.release)
    refusals = (
        *_not_bootable(seen, policy.release),
        *_not_bootable(seen, policy.fallback),
        *_not_returning(seen, policy),
    )
    if refusals or entry is None:
        return refusals
    has_booted = seen.running == policy.release
    return First(Phase.QUALIFY if has_booted else Phase.DRAIN, entry)


def happened(policy: KernelPolicy, before: str, seen: Standing | None) -> Happening:
    """How a boot ended.

    + before: the boot id before it
    + seen: the host at the end of the waiting; None where it did not answer
    """
    if seen is None:
        return Happening.SILENT
    if seen.boot_id == before:
        return Happening.FAILED
    return Happening.CAME_WITH_TRIAL if seen.running == policy.release else Happening.CAME_WITH_OTHER


def _not_bootable(seen: Standing, release: str) -> tuple[Refusal, ...]:
    """Both kernels must be there whole: the one that is tried, and the one that saves the host from it."""
    entry = seen.entry(release)
    if entry is None:
        expected, hint = f"{release} in GRUB's menu, by an id", f"sparks converge {seen.host} --scope kernel"
        return (Refusal(code="kernel_not_in_menu", subject=_of(seen), expected=expected, found="none", hint=hint),)
    if entry.missing:
        expected, found = f"image, initramfs and modules of {release}", f"it without {entry.missing}"
        hint = f"apt-get install --reinstall linux-image-{release}"
        return (Refusal(code="kernel_not_whole", subject=_of(seen), expected=expected, found=found, hint=hint),)
    return ()


def _not_returning(seen: Standing, policy: KernelPolicy) -> tuple[Refusal, ...]:
    """What would make a power cycle boot anything but the fallback."""
    found = []
    if seen.one_shot is not None:
        expected, hint = (
            "no entry for the next boot alone",
            "whoever set it may clear it: grub-editenv - unset next_entry",
        )
        pending = Refusal(
            code="one_shot_pending", subject=_of(seen), expected=expected, found=seen.one_shot, hint=hint
        )  # fmt: skip
        found.append(pending)
    if seen.default != policy.fallback or not seen.is_pinned:
        how = "" if seen.is_pinned else ", by its place in the menu and not by its name"
        default = f"{seen.default or 'no kernel that is known'}{how}"
        expected, hint = f"the fallback {policy.fallback} as the default", f"sparks kernel show {seen.host}"
        found.append(
            Refusal(code="default_not_fallback", subject=_of(seen), expected=expected, found=default, hint=hint)
        )
    return tuple(found)


def _of(seen: Standing) -> str:
    return f"{seen.host} kernel"


def stands(phase: Phase, host: str, policy: KernelPolicy) -> str:
    """Where a Spark stands when nothing follows, or somebody stops, in words; and how to go on."""
    return f"{host}: {_STANDS[phase].format(host=host, release=policy.release, fallback=policy.fallback)}"


_STANDS = {
    Phase.DRAIN: "nothing was changed",
    Phase.KEPT: "nothing was changed; {fallback} is still the default",
    Phase.BOOT: "it may be booting {release} now, once; the default is still {fallback}, and a power cycle returns to "
    "that. Where it has not rebooted: grub-editenv - unset next_entry. `sparks kernel trial {host}` goes on from there",
    Phase.QUALIFY: "it runs {release}, which has not qualified; the default is still {fallback}, and a power cycle "
    "returns to that. `sparks kernel trial {host}` goes on from there",
    Phase.PERSIST: "it runs {release}, which has qualified, and may be the default; `sparks kernel trial {host}` makes "
    "it that",
    Phase.RETURN: "it is on its way back to {fallback}, which is the default; a power cycle does the same",
    Phase.PERSISTED: "{release} runs and is the default; {fallback} stays installed",
    Phase.RETURNED: "it runs its default again, which was {fallback} all the time",
    Phase.LOST: "it does not answer. The default is {fallback}: cut its power and give it back, and it returns to that "
    "by itself; `sparks kernel show {host}` then says so",
    Phase.TRIED: "it runs {release}, and the default was {fallback}, which a power cycle returns to; "
    "`sparks kernel show {host}` says whether it still is",
}
