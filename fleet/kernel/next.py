"""Does every boot start the right release, whatever else is installed, and is nothing else pending?

A kernel that this host never ran is no default: until a trial has booted it, every boot starts the fallback.
"""

from collections.abc import Iterator

from fleet.kernel.boot import Boot
from fleet.kernel.dropins import DEFAULT_PATH, DEFAULT_TEXT, digest_of
from fleet.kernel.grub import NextBoot, entry_at, selector_for
from fleet.kernel.line import overridden
from fleet.kernel.pinned import brings, fallback_refusal
from fleet.kernel.policy import KernelPolicy
from fleet.kernel.steps import SetNextBoot
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

SAVED = "${saved_entry}"
"""How the menu spells that its default is the saved entry."""


def next_steps(policy: KernelPolicy, seen: Observation) -> tuple[Step | Refusal, ...]:
    """What pins the default, or what stands in the way; empty when nothing is due."""
    if blind := seen.unobserved("boot", "packages", "kernels", "kernel"):
        return (blind,)
    refusals = tuple(_refusals(policy, seen))
    if refusals:
        return refusals
    boot, release = known(seen.boot), default_release(policy, seen)
    clear = boot.environment.next_entry is not None and boot.menu.takes_one_shot and not policy.one_shot
    pinned, stale = _is_pinned(release, boot), _is_stale(policy, seen)
    if pinned and not stale and not clear:
        return ()
    text = None if _is_durable(release, boot) else DEFAULT_TEXT
    by_saved = text is not None or boot.defaults.default == SAVED
    expected = SAVED if by_saved else boot.defaults.default
    step = SetNextBoot(
        subject=f"{seen.host} next boot",
        before=_words(boot.default, boot.environment.next_entry if clear else None),
        after=f"{release}, pinned" + ("" if policy.one_shot else "; nothing pending"),
        reason=_reason(policy, release),
        selector=selector_for(boot.menu, release) if by_saved else None,
        path=DEFAULT_PATH,
        text=text,
        clear_one_shot=clear,
        remake=stale or boot.menu.saves_default or boot.menu.default != expected,
    )
    return (step,)


def default_release(policy: KernelPolicy, seen: Observation) -> str:
    """What every boot shall start now: the policy's release once it runs, or was chosen already; else the fallback.

    So a trial's first boot is a one-shot, and whatever comes of it the next boot is one that is known to work. What the
    menu is now has no say: new words make it anew before the default is pinned. A saved entry whose kernel is gone was
    no choice of the kernel that is installed next.
    """
    running, release = known(seen.kernel).release, policy.release
    is_chosen = known(seen.boot).is_chosen(release) and known(seen.kernels).of(release).has_image
    if policy.fallback is None or running == release or is_chosen:
        return release
    return policy.fallback


def _is_pinned(release: str, boot: Boot) -> bool:
    """Now, and once the menu is made anew by whoever."""
    if boot.menu.saves_default or boot.defaults.saves_default or not _is_own_file_right(boot):
        return False
    return all(each.is_pinned and each.release == release for each in (boot.default, boot.default_once_made))


def _is_durable(release: str, boot: Boot) -> bool:
    """Do the files make the saved entry the default, or name the entry themselves? Then they stay as they are."""
    if boot.defaults.saves_default or not _is_own_file_right(boot):
        return False
    made = boot.default_once_made
    return boot.defaults.default == SAVED or (made.is_pinned and made.release == release)


def _is_own_file_right(boot: Boot) -> bool:
    own = boot.defaults.file(DEFAULT_PATH)
    return own is None or own.content_digest == digest_of(DEFAULT_TEXT)


def _is_stale(policy: KernelPolicy, seen: Observation) -> bool:
    """Does the menu lack a release that must stay bootable, or that release's initramfs?"""
    menu, kernels = known(seen.boot).menu, known(seen.kernels)
    for release in policy.kept:
        selector = selector_for(menu, release)
        entry = None if selector is None else entry_at(menu, selector)
        if kernels.of(release).is_bootable and (entry is None or not entry.initrds):
            return True
    return False


def _refusals(policy: KernelPolicy, seen: Observation) -> Iterator[Refusal]:
    boot, subject, release = known(seen.boot), f"{seen.host} next boot", policy.release
    if missing := fallback_refusal(policy, seen):
        yield missing
    found = known(seen.kernels).of(release)
    if not (found.has_image and found.has_modules) and not brings(policy, known(seen.packages), release):
        yield Refusal(
            code="kernel_missing", subject=subject, expected=f"{release} with its image and modules",
            found=f"no {found.missing}", hint="install what the policy pins first: operation kernel.pinned",
        )  # fmt: skip
    if selector_for(boot.menu, release) is None:
        yield Refusal(
            code="menu_without_ids", subject=subject, expected="entries with ids in GRUB's menu",
            found="none to go by", hint="sudo update-grub; a menu that is written by hand is not ours to choose from",
        )  # fmt: skip
    if not _is_durable(default_release(policy, seen), boot):
        yield from _overridden(subject, boot)


def _overridden(subject: str, boot: Boot) -> Iterator[Refusal]:
    """What is read after our file, there or to be written, and has the last word: any new menu follows that."""
    defaults = boot.defaults
    wrong = {"GRUB_DEFAULT": defaults.default != SAVED, "GRUB_SAVEDEFAULT": defaults.saves_default}
    for variable, is_wrong in wrong.items():
        if is_wrong and (later := defaults.later(DEFAULT_PATH, variable)):
            yield overridden(subject, DEFAULT_PATH, variable, later)


def _words(default: NextBoot, pending: str | None) -> str:
    shown = f"{default.release or 'no kernel'} by {default.source} {default.selector or 'entry 0'}"
    how = "pinned" if default.is_pinned else "not pinned"
    return f"{shown}, {how}" + ("" if pending is None else f"; {pending} pending for one boot")


def _reason(policy: KernelPolicy, release: str) -> str:
    if release != policy.release:
        return f"{policy.release} never ran here: until a trial has booted it every boot shall start the fallback"
    kept = f"{policy.fallback} stays in the menu" if policy.fallback else "no fallback is declared"
    return f"every boot shall start {release}; {kept}"
