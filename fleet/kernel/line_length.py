"""Does the command line that the next boot gets still fit into what the kernel takes?"""

from collections.abc import Iterable

from fleet.kernel.boot import Boot
from fleet.kernel.grub import MenuEntry
from fleet.kernel.policy import CommandLineWords, matches
from fleet.kernel.running import Parameter
from fleet.kernel.words import LINE_BYTES, LINE_SOURCE
from fleet.refusal import Refusal


def too_long(subject: str, words: CommandLineWords, entry: MenuEntry | None, boot: Boot) -> Refusal | None:
    """Why words cannot be added: with what is on the line already it would not fit, and words at its end get lost.

    + entry: of the release; where the menu has none yet, any other says what stands on the line beside the image
    """
    told = entry or next((path[-1] for path in boot.menu.paths() if path[-1].release is not None), None)
    if not words.add or told is None:
        return None
    kept = [each for each in map(_text, told.parameters) if each not in words.add and not _goes(each, words.remove)]
    found = len(" ".join((f"BOOT_IMAGE={told.image}", *kept, *words.add)).encode())
    if found <= LINE_BYTES:
        return None
    return Refusal(
        code="kernel_line_too_long",
        subject=subject,
        expected=f"at most {LINE_BYTES} bytes with what is there already ({LINE_SOURCE})",
        found=f"{found}",
        hint="take words out of the policy, or out of /etc/default/grub; no value of a secret is counted",
    )


def _goes(word: str, remove: Iterable[str]) -> bool:
    return any(matches(word, each) for each in remove)


def _text(each: Parameter) -> str:
    """As GRUB writes it: with quotes around a value that has a space."""
    word = str(each)
    return f'"{word}"' if " " in word else word
