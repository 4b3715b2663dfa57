"""The environment that systemd gives a service: unit files, drop-ins, environment files and `systemctl show`.

Standard library only and no imports of ours: the looks at a host carry this text with them.
"""

import re
from contextlib import suppress

_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " "}
_NUMBERED = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def split_words(text: str, lenient: bool = False) -> list[str]:
    """Words as systemd splits them: quotes anywhere in a word, C escapes; raises ValueError when one is open.

    + lenient: an unknown escape stands for its character, as in the output of `systemctl show`
    """
    words: list[str] = []
    word, quote, place = None, "", 0
    while place < len(text):
        char = text[place]
        place += 1
        if char == "\\":
            value, place = _escape(text, place, lenient)
            word = (word or "") + value
        elif quote:
            word, quote = (word, "") if char == quote else ((word or "") + char, quote)
        elif char in "\"'":
            word, quote = word or "", char
        elif char.isspace():
            words += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + char
    if quote:
        raise ValueError("expected a closing quote, found the end of the line")
    return words + ([] if word is None else [word])


def _escape(text: str, place: int, lenient: bool) -> tuple[str, int]:
    numbered = _NUMBERED.match(text, place)
    if numbered:
        digits = numbered[1] or numbered[2] or numbered[3]
        code = int(digits, 16) if digits else int(numbered[4], 8)
        return chr(code), numbered.end()
    char = text[place : place + 1]
    if char in _ESCAPES and char:
        return _ESCAPES[char], place + 1
    if char and (char in "\\\"'" or lenient):
        return char, place + 1
    raise ValueError(f"expected an escape that systemd knows, found \\{char}")


def assignments(words: list[str]) -> dict[str, str]:
    """The words that are assignments, the last of a name winning; systemd ignores the others."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals and _NAME.fullmatch(name):
            found[name] = value
    return found


def service_lines(text: str) -> list[tuple[str, str]]:
    """Key and value of each line of `[Service]`, continuations joined, comments left out."""
    found, section = [], ""
    for line in _joined(text):
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line:
            key, _, value = line.partition("=")
            found.append((key.rstrip(), value.strip()))
    return found


def _joined(text: str) -> list[str]:
    lines, open_line = [], ""
    for raw in text.splitlines():
        line = raw.strip()
        if line[:1] in ("#", ";") or (not line and not open_line):
            continue
        if raw.endswith("\\"):
            open_line += raw[:-1].lstrip() + " "
        else:
            lines.append((open_line + line).strip())
            open_line = ""
    return [*lines, open_line.strip()] if open_line else lines


def file_environment(text: str) -> tuple[bool, dict[str, str]]:
    """What one unit file does to the environment: whether it drops what came before it, and what it sets."""
    resets = False
    found: dict[str, str] = {}
    for key, value in service_lines(text):
        if key != "Environment":
            continue
        if not value:
            resets, found = True, {}
            continue
        try:
            found.update(assignments([word.replace("%%", "%") for word in split_words(value)]))
        except ValueError:
            continue
    return resets, found


def specified(text: str) -> list[str]:
    """The variables whose last value in a unit file has a specifier, as `%h`: what it means is systemd's word."""
    found: dict[str, bool] = {}
    for key, value in service_lines(text):
        if key == "Environment":
            found = found if value else {}
            with suppress(ValueError):
                found |= {name: "%" in word.replace("%%", "") for name, word in assignments(split_words(value)).items()}
    return sorted(name for name, is_specified in found.items() if is_specified)


def effective_environment(*texts: str) -> dict[str, str]:
    """The environment from a unit and its drop-ins, in the order in which systemd reads them."""
    found: dict[str, str] = {}
    for text in texts:
        resets, added = file_environment(text)
        found = added if resets else found | added
    return found


def environment_file(text: str) -> dict[str, str]:
    """What an `EnvironmentFile=` sets; a value without quotes goes to the end of its line."""
    found: dict[str, str] = {}
    for line in _joined(text):
        name, equals, value = line.partition("=")
        if equals and _NAME.fullmatch(name.strip()):
            quoted = value.strip()[:1] in ("'", '"')
            found[name.strip()] = "".join(split_words(value, lenient=True)[:1]) if quoted else value.strip()
    return found


def shown_environment(value: str) -> dict[str, str]:
    """The environment in what `systemctl show -p Environment` prints, with or without its `Environment=`."""
    return assignments(split_words(value.strip().removeprefix("Environment="), lenient=True))


def quoted_assignment(name: str, value: str) -> str:
    """`"NAME=value"` as a unit file spells it, `%` doubled; `file_environment` reads it back."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{name}={escaped}"'
