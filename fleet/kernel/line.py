"""Has the kernel command line every word that a policy asks for, and none that it forbids, for good and in the menu?"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from fleet.kernel.boot import Boot
from fleet.kernel.defaults import NORMAL, DefaultWord
from fleet.kernel.dropins import WORDS_PATH, digest_of, words_text
from fleet.kernel.grub import MenuEntry, entry_at, selector_for
from fleet.kernel.line_length import too_long
from fleet.kernel.policy import CommandLineWords, KernelPolicy, matches
from fleet.kernel.running import Parameter, parse_command_line
from fleet.kernel.steps import Cut, SetWords
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step


def line_steps(policy: KernelPolicy, seen: Observation) -> tuple[Step | Refusal, ...]:
    """What changes the words of the next boot's command line, or what stands in the way; empty when nothing is due."""
    if blind := seen.unobserved("boot", "kho"):
        return (blind,)
    boot, words = known(seen.boot), policy.command_line
    refusals = tuple(_refusals(policy, seen))
    if refusals:
        return refusals
    own, others = boot.defaults.file(WORDS_PATH), _of_others(boot)
    text = words_text(words) if own is not None or not has_last(parameters(others), words.add) else None
    cuts = _cuts(boot, words)
    is_written = digest_of(text) == (own.content_digest if own else None)
    if is_written and not cuts and not _is_stale(policy, boot):
        return ()
    return (_step(policy, seen.host, boot, text, cuts),)


def has_last(found: Sequence[Parameter], add: Iterable[str]) -> bool:
    """Is every word there, and of its parameter the last? Another value after it would win."""
    for wanted in _by_name(parse_command_line(" ".join(add)).parameters):
        name = _plain(wanted[0])
        same = [each for each in found if _plain(each) == name]
        if [each.value for each in same[-len(wanted) :]] != [each.value for each in wanted]:
            return False
    return True


def forbidden(found: Iterable[Parameter], remove: Sequence[str]) -> tuple[str, ...]:
    """The words that must go, in order."""
    words = map(str, found)
    return tuple(word for word in words if any(matches(word, pattern) for pattern in remove))


def parameters(words: Iterable[DefaultWord]) -> tuple[Parameter, ...]:
    """What words of the files are to the kernel."""
    return parse_command_line(" ".join(each.text for each in words)).parameters


def own_entry(policy: KernelPolicy, boot: Boot) -> MenuEntry | None:
    """The entry that starts the policy's release, as the menu is now; None while it has none."""
    selector = selector_for(boot.menu, policy.release)
    return None if selector is None else entry_at(boot.menu, selector)


def _by_name(found: Sequence[Parameter]) -> list[list[Parameter]]:
    ordered = sorted(found, key=_plain)
    return [list(group) for _, group in groupby(ordered, key=_plain)]


def _plain(parameter: Parameter) -> str:
    return parameter.name.replace("-", "_")


def _of_others(boot: Boot) -> tuple[DefaultWord, ...]:
    """The words that are not of our file."""
    return tuple(each for each in boot.defaults.words if each.place is None or each.place.file != WORDS_PATH)


def _unwanted(boot: Boot, words: CommandLineWords) -> Iterator[DefaultWord]:
    for each in _of_others(boot):
        if forbidden(parameters([each]), words.remove):
            yield each


def _cuts(boot: Boot, words: CommandLineWords) -> tuple[Cut, ...]:
    places = [each.place for each in _unwanted(boot, words) if each.place is not None]
    found = []
    for path in sorted({each.file for each in places}):
        file = boot.defaults.file(path)
        assert file is not None, "a word stands in a file that was looked at"
        pieces = _joined(sorted({(each.start, each.end) for each in places if each.file == path}))
        found.append(Cut(path=path, content_digest=file.content_digest, pieces=pieces))
    return tuple(found)


def _joined(pieces: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Neighbours share the blank between them."""
    found: list[tuple[int, int]] = []
    for start, end in pieces:
        if found and start <= found[-1][1]:
            start, end = found[-1][0], max(found.pop()[1], end)
        found.append((start, end))
    return tuple(found)


def _is_stale(policy: KernelPolicy, boot: Boot) -> bool:
    """Does the menu have the entry, and another command line in it?"""
    entry, words = own_entry(policy, boot), policy.command_line
    if entry is None:
        return False
    return not has_last(entry.parameters, words.add) or bool(forbidden(entry.parameters, words.remove))


def _refusals(policy: KernelPolicy, seen: Observation) -> Iterator[Refusal]:
    boot, words, subject = known(seen.boot), policy.command_line, f"{seen.host} kernel command line"
    fixed = [each.text for each in _unwanted(boot, words) if each.place is None]
    entry = own_entry(policy, boot)
    if not boot.defaults.is_known and entry is not None:
        fixed += forbidden(entry.parameters, words.remove)
    if fixed:
        yield Refusal(
            code="word_not_removable",
            subject=subject,
            expected=f"{' '.join(dict.fromkeys(fixed))} where it can be cut out of a plain assignment",
            found="it put together by what sh runs",
            hint="take it out of /etc/default/grub, or of the files in /etc/default/grub.d, by hand",
        )
    own = boot.defaults.file(WORDS_PATH)
    is_lost = own is not None and not has_last(parameters(boot.defaults.words), words.add)
    later = boot.defaults.later(WORDS_PATH, NORMAL)
    if is_lost and later and own is not None and own.content_digest == digest_of(words_text(words)):
        yield overridden(subject, WORDS_PATH, NORMAL, later)
    if (long := too_long(subject, words, entry, boot)) is not None:
        yield long
    yield from _crash_kernel(policy, seen, subject)


def overridden(subject: str, path: str, variable: str, later: Sequence[str]) -> Refusal:
    """A file that is read after ours has the last word."""
    return Refusal(
        code="grub_overridden",
        subject=subject,
        expected=f"{path} to have the last word about {variable}",
        found=f"{', '.join(later)} after it",
        hint=f"take {variable} out of that file, or give the file a name that sorts before",
    )


def _crash_kernel(policy: KernelPolicy, seen: Observation, subject: str) -> Iterator[Refusal]:
    """A crash kernel that is loaded keeps memory; kho=off beside it was never tried."""
    size = known(seen.kho).crash_bytes or 0
    turns_off = forbidden(parse_command_line(" ".join(policy.command_line.add)).parameters, ("kho=off",))
    entry = own_entry(policy, known(seen.boot))
    is_there = entry is not None and has_last(entry.parameters, policy.command_line.add)
    if size and turns_off and not is_there:
        yield Refusal(
            code="crash_kernel_kept",
            subject=subject,
            expected="no memory kept for a crash kernel before kho=off is added",
            found=f"/sys/kernel/kexec_crash_size {size}",
            hint="take crashkernel= off the command line, or disable kdump-tools, and boot once",
        )


def _step(policy: KernelPolicy, host: str, boot: Boot, text: str | None, cuts: tuple[Cut, ...]) -> SetWords:
    entry, words = own_entry(policy, boot), policy.command_line
    found = parameters(boot.defaults.words) if entry is None else entry.parameters
    there = [f"{word} {'there' if has_last(found, [word]) else 'absent'}" for word in words.add]
    gone = [f"{word} there" for word in dict.fromkeys(forbidden(found, words.remove))]
    state = "a menu" if not cuts and text is None else "files and a menu"
    return SetWords(
        subject=f"{host} kernel command line",
        before=", ".join([*there, *gone]) or f"{state} that say something else",
        after=", ".join([*(f"{word} there" for word in words.add), *(f"{word} absent" for word in words.remove)])
        or "no word of ours",
        reason=f"the next boot shall have these words for {policy.release}; the running kernel keeps its own",
        path=WORDS_PATH,
        text=text,
        cuts=cuts,
    )
