"""The two files of ours beside /etc/default/grub, and their exact texts. Their names sort last: the last one wins."""

from fleet.kernel.defaults import DIRECTORY, NORMAL
from fleet.kernel.policy import CommandLineWords
from fleet.record import sha256_digest

WORDS_PATH = f"{DIRECTORY}/zz-sparks-words.cfg"
DEFAULT_PATH = f"{DIRECTORY}/zz-sparks-default.cfg"
FILE_MODE = 0o644

_HEAD = "# Managed by sparks (operations.kernel); what is written here by hand is replaced.\n"

DEFAULT_TEXT = f"{_HEAD}GRUB_DEFAULT=saved\nGRUB_SAVEDEFAULT=false\n"
"""The default is the saved entry, which nothing but `grub-set-default` moves."""


def words_text(words: CommandLineWords) -> str | None:
    """The text of `WORDS_PATH`; None where no word is to be added."""
    if not words.add:
        return None
    return f'{_HEAD}{NORMAL}="${NORMAL} {" ".join(words.add)}"\n'


def digest_of(text: str | None) -> str | None:
    """The digest of a file's text; None for no file."""
    return None if text is None else sha256_digest(text.encode())
