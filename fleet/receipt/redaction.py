"""A command line that may be kept: by allow-list, for a word that nobody expected may be a secret."""

import re
from collections.abc import Collection, Iterable, Iterator

from fleet.keyfile import REDACTED

WITH_VALUE = frozenset(
    {
        "--bandwidth",
        "--boot-timeout",
        "--cluster",
        "--count",
        "--drain-timeout",
        "--expect",
        "--explain",
        "--fix-plan",
        "--format",
        "--from",
        "-i",
        "--inventory",
        "--evidence",
        "--layout",
        "-o",
        "--output",
        "--owner",
        "--plan",
        "--pool",
        "--quiet-seconds",
        "--readings",
        "--receipts",
        "--scope",
        "--seconds",
        "--settle",
        "--since",
        "--timeout",
        "--user",
        "--watch",
    }
)
"""Every option of `sparks` that has a value: a file, a digest, a name or a number."""
FLAGS = frozenset(
    {
        "--admit-first",
        "--commands",
        "--desired-only",
        "--html",
        "--json",
        "--moved",
        "--observed",
        "--slow",
        "--static",
        "--unload",
        "--yes",
    }
)
"""Every option that has none."""
_HARMLESS = re.compile(r"[A-Za-z0-9._/~:,+-]{1,256}")


def redacted_command(words: Iterable[str], names: Collection[str]) -> tuple[str, ...]:
    """The words of a command line; what is not known to be harmless is `<redacted>`.

    + names: what may stand for itself: the command, the target
    """
    return tuple(_shown(words, names))


def _shown(words: Iterable[str], names: Collection[str]) -> Iterator[str]:
    is_value = False
    for word in words:
        option, equals, value = word.partition("=")
        if is_value:
            yield word if _HARMLESS.fullmatch(word) else REDACTED
        elif option in WITH_VALUE and equals:
            yield f"{option}={value if _HARMLESS.fullmatch(value) else REDACTED}"
        else:
            yield word if word in WITH_VALUE or word in FLAGS or word in names else REDACTED
        is_value = not is_value and word in WITH_VALUE
