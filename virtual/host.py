"""What this machine must have: programs, the packages that bring them, and root for the image."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from virtual.errors import LabError

PACKAGE_OF = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "gpg": "gpg",
}
"""The Debian and Ubuntu package of each program that is run here."""

TO_RUN = ("qemu-system-x86_64", "qemu-img", "ssh")
TO_BUILD = ("mmdebstrap", "mke2fs", "ssh-keygen", "gpg")

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
"""Ubuntu has it only with the package of that name; without it nothing can be fetched from Debian."""

# An ordinary user of Debian has no sbin in PATH, and mke2fs is there.
_SEARCH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))


def program(name: str) -> str:
    """The path of a program in `PACKAGE_OF`."""
    require([name])
    return shutil.which(name, path=_SEARCH) or name


def require(programs: Iterable[str], keyring: bool = False) -> None:
    """Raise one line that names every missing package."""
    missing = {PACKAGE_OF[name] for name in programs if shutil.which(name, path=_SEARCH) is None}
    if keyring and not KEYRING.exists():
        missing.add("debian-archive-keyring")
    if missing:
        raise LabError(f"missing here: run `apt-get install {' '.join(sorted(missing))}`")


def as_root(argv: Sequence[str]) -> list[str]:
    """The command as root: as it is for root, else through sudo."""
    if os.geteuid() == 0:
        return list(argv)
    if shutil.which("sudo") is None:
        raise LabError("the image is built as root: expected root or sudo, found neither")
    return ["sudo", "--", *argv]


def run(argv: Sequence[str]) -> str:
    """Run a program; its output, or a `LabError` with the last line of what it complained about."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        complaint = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise LabError(f"{Path(argv[0]).name}: exit status {done.returncode}: {complaint}")
    return done.stdout


def qemu_version() -> str:
    """The first line of QEMU's own version: a snapshot fits only the QEMU that wrote it."""
    return run([program("qemu-system-x86_64"), "--version"]).splitlines()[0]


def remove_tree(path: Path) -> None:
    """Remove a folder, as root where root wrote in it; never crosses into what is mounted below it."""
    remove = ["rm", "-rf", "--one-file-system", os.fspath(path)]
    if path.exists():
        subprocess.run(remove, stdin=subprocess.DEVNULL, capture_output=True)
    if path.exists():
        run(as_root(remove))
