"""What is wrong with a roster, in lines that a person can act on."""

from collections.abc import Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fleet.plain import shown, within

_KEY = "[key]"
"""What pydantic puts behind a key that is wrong itself."""
_HOST = "a host name of letters, digits, . and -, as dgx1"
_NAME = "a name of at most 64 letters, digits, _, . and -"
_SYSCTL = "a kernel setting as vm.watermark_boost_factor"
_UNIT = "a unit with its type, as cups.service"
_FILE = "a file as /etc/netplan/NAME.yaml or /etc/NetworkManager/system-connections/NAME.nmconnection"
_DIGEST = "sha256: and 64 hex digits in lower case"
_TEXTS = {
    "sparks": _HOST, "spark": _HOST, "fabrics": _NAME, "clusters": _NAME, "cluster": _NAME, "assemblies": _NAME,
    "revert": _FILE, "file": _FILE,
    "digest": _DIGEST, "machine_id": _DIGEST,
    "hosts": _NAME, "host": _NAME, "sysctls": _SYSCTL, "units": _UNIT, "oom_protected": _UNIT,
    "default_target": "a target as multi-user.target", "swap": "a path whose name is sparks-swap.img",
    "modules": "names of letters, digits and _, and values without spaces", "mounts": "a place as /mnt/models",
    "options": "an option of mount, as nconnect=8", "held": "a package's name",
    "time_servers": "a server's name or address in lower case, as ntp1.lab",
    "linger": "a user's name", "user": "a user's name",
    "group": "a group's name", "mode": "a mode as 0755", "value": "a value without spaces",
    "tmpfiles": "an absolute path without spaces", "label": "a label as sparks.deployment=tp4",
    "memory_guard": "a container's name",
    "model": "a model's name, as Qwen/Qwen3-8B or qwen3:0.6b",
    "target": "a model's name, as Qwen/Qwen3-8B",
    "pci": "a PCI address in lower case, as 0000:01:00.0",
}  # fmt: skip
"""What a text must be, by the nearest key above it: a pattern is nothing to read."""
_EITHER = {"sysctls": "a whole number, or text in one line of ASCII",
           "modules": "a whole number, or text of ASCII without spaces and quotes"}  # fmt: skip
"""What a value must be that is a number or text."""
_KINDS = ("int", "constrained-str")
"""What pydantic calls the two, behind the key of the value."""
_WRONG_KIND = ("int_type", "string_type", "string_pattern_mismatch", "string_too_long")


class RosterError(ValueError):
    """A roster that cannot be; `lines` has one complaint each, the file and the key first."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


def complaints(error: ValidationError, source: str) -> list[str]:
    """One line for each thing that pydantic found wrong, in the order of the roster."""
    lines = (f"{source}: {_place(detail)}: {sentence_of(detail)}" for detail in error.errors(include_url=False))
    return list(dict.fromkeys(lines))


def _place(detail: ErrorDetails) -> str:
    place = "roster"
    for part in detail["loc"][:-1] if _is_of_either(detail) else detail["loc"]:
        place = place if part == _KEY else within(place, part)
    return place


def _is_of_either(detail: ErrorDetails) -> bool:
    """Is it about one kind of a value that may be a number or text? pydantic says what is wrong with it as each."""
    *above, last = detail["loc"] or ("",)
    return last in _KINDS and detail["type"] in _WRONG_KIND and any(part in _EITHER for part in above)


def sentence_of(detail: ErrorDetails) -> str:
    """A wall says its own sentence; the rest are pydantic's words put into ours."""
    if "expected " in detail["msg"]:
        return f"{detail['msg']} [{detail['type']}]"
    if detail["type"] == "missing":
        return "expected a value, found none"
    if detail["type"] == "extra_forbidden":
        return f"expected no such key, found it with {shown(detail['input'])}"
    return f"expected {_expected(detail)}, found {shown(detail['input'])}"


def _expected(detail: ErrorDetails) -> str:
    context = detail.get("ctx", {})
    if _is_of_either(detail):
        return next(_EITHER[part] for part in reversed(detail["loc"]) if part in _EITHER)
    if detail["type"] == "string_pattern_mismatch":
        named = (_TEXTS[part] for part in reversed(detail["loc"]) if isinstance(part, str) and part in _TEXTS)
        return next(named, f"text that matches {context['pattern']}")
    if detail["type"] in ("too_short", "string_too_short"):
        return (
            f"at least {context['min_length']} of them" if detail["type"] == "too_short" else "text that is not empty"
        )
    return detail["msg"].replace("Input should be ", "").replace("Input should have ", "").replace("Input ", "")
