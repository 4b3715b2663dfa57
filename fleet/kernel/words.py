"""What a kernel release, a Debian package, a version and a word of a command line may look like."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from fleet.wall import wall

Release = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+[A-Za-z0-9.+~-]{0,60}$")]
"""What `uname -r` says: `7.0.0-1019-nvidia-64k`."""
PackageName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]{1,120}$")]
"""A Debian package, without its architecture (Debian policy, 5.6.1)."""
Version = Annotated[str, Field(pattern=r"^[0-9][A-Za-z0-9.+:~-]{0,80}$")]
"""A Debian version: `7.0.0-1019.19~24.04.2` (Debian policy, 5.6.12)."""

LINE_BYTES = 2047
"""Bytes of a whole command line without the NUL at its end: COMMAND_LINE_SIZE is 2048 on x86 and on arm64
(arch/x86/include/asm/setup.h, arch/arm64/include/uapi/asm/setup.h, Linux 6.17). What is longer is cut off at its end:
by GRUB on x86, a word at a time and without a word (grub-core/lib/cmdline.c, GRUB 2.12), by the kernel on arm64."""
LINE_SOURCE = "COMMAND_LINE_SIZE of x86 and arm64 is 2048, with the NUL at its end"

SECRET_PARAMETER = (
    r"systemd\.(machine_id|set_credential(_binary)?)|ds|"
    r'[^ ="]*(passw|passphrase|secret|token|psk|key|auth|cred|serial|luks)[^ ="]*'
)
"""Parameters whose values stay on the host, as a regular expression of sed and of Python; case does not matter."""

_SECRET = re.compile(SECRET_PARAMETER, re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(=[A-Za-z0-9_.,:/@%+=-]*)?")
"""Only what neither sh nor GRUB reads as anything but itself, since the word goes through both."""


def is_secret(name: str) -> bool:
    """Does the value of a parameter stay on its host?"""
    return _SECRET.fullmatch(name) is not None


def line_wall(subject: str, text: str) -> None:
    """The wall against what no command line has room for, whatever else stands on it."""
    if len(text) > LINE_BYTES:
        raise wall("kernel_line_long", f"{subject}: expected at most {LINE_BYTES} bytes ({LINE_SOURCE}), "
                   f"found {len(text)}")  # fmt: skip


def _word(value: str) -> str:
    line_wall("a word", value)
    if not _WORD.fullmatch(value):
        raise wall("kernel_word", f"expected a word of letters, digits and _.,:/@%+=-, as kho=off, found {value!r}")
    name, equals, _ = value.partition("=")
    if equals and is_secret(name):
        raise wall("secret_parameter", f"expected no value for {name}, since it may be a secret, found one")
    return value


Word = Annotated[str, AfterValidator(_word)]
"""One word of the kernel command line, `kho=off` or `quiet`; one that may hold a secret has no value."""
