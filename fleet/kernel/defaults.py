"""What GRUB's menu is made from: /etc/default/grub, then /etc/default/grub.d/*.cfg, each read by sh."""

from fleet.kernel.running import CommandLine, parse_command_line
from fleet.record import Digest, Record

FILE, DIRECTORY = "/etc/default/grub", "/etc/default/grub.d"
COMMON, NORMAL = "GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"
"""Words for every entry, then those for the entries that are no recovery (grub-mkconfig, 10_linux)."""
LINES = (COMMON, NORMAL)
TEXTS = ("GRUB_DEFAULT", "GRUB_SAVEDEFAULT", "GRUB_DISABLE_SUBMENU", "GRUB_TIMEOUT", "GRUB_RECORDFAIL_TIMEOUT")


class Place(Record):
    """Where a word stands in a file, with one blank beside it: bytes that can be cut out without another effect."""

    file: str
    start: int
    end: int


class DefaultWord(Record):
    """One word of a command line, as it ends up."""

    text: str
    """Its value is redacted where it may be a secret."""
    place: Place | None = None
    """None where it cannot be cut out: it is put together from several pieces, or its file does more than assign."""


class DefaultsFile(Record):
    """One of the files, in the order in which they are read."""

    path: str
    content_digest: Digest
    is_plain: bool
    """Does it only assign values? What else it does nobody here knows."""
    assigns: tuple[str, ...] = ()
    """Which of `LINES` and `TEXTS`."""


class GrubDefaults(Record):
    """All of them together."""

    files: tuple[DefaultsFile, ...]
    texts: dict[str, str | None]
    """By variable, as it ends up; None where sh would have to run something to know."""
    lines: dict[str, tuple[DefaultWord, ...] | None]

    def file(self, path: str) -> DefaultsFile | None:
        """The file at a path; None where it is not there."""
        return next((each for each in self.files if each.path == path), None)

    @property
    def default(self) -> str | None:
        """What the menu that is made next will set as its default, spelled as in `Menu.default`; None: unknown.

        As 00_header does it: nothing is `0`, `saved` is the saved entry.
        """
        if "GRUB_DEFAULT" in self.texts and self.texts["GRUB_DEFAULT"] is None:
            return None
        value = self.texts.get("GRUB_DEFAULT") or "0"
        return "${saved_entry}" if value == "saved" else value

    @property
    def saves_default(self) -> bool:
        """Will an entry that is started become the saved one?"""
        return self.texts.get("GRUB_SAVEDEFAULT") == "true"

    @property
    def words(self) -> tuple[DefaultWord, ...]:
        """The words of an entry that is no recovery, in order, as far as they are known."""
        return tuple(word for name in LINES for word in self.lines.get(name) or ())

    @property
    def is_known(self) -> bool:
        """Is every word known?"""
        return all(self.lines.get(name, ()) is not None for name in LINES)

    @property
    def command_line(self) -> CommandLine:
        """What those words are to the kernel."""
        return parse_command_line(" ".join(word.text for word in self.words))

    def later(self, path: str, name: str) -> tuple[str, ...]:
        """The files that are read after a path and assign a variable: they have the last word."""
        return tuple(
            each.path
            for each in self.files
            if name in each.assigns and each.path != FILE and each.path > path
        )  # fmt: skip
