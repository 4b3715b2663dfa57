"""A folder that a site keeps for its owner alone, held by one descriptor: whatever its path names later, this is the
folder that is used.

No file is reached over a symbolic link, and none is written that was there before.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lab.command import Failed


class Unreadable(Failed):
    """What stands where a file should be is none that can be read."""

    def __init__(self, path: Path, expected: str, found: str) -> None:
        super().__init__(f"{path}: expected {expected}, found {found}")
        self.name, self.expected, self.found = path.name, expected, found


@dataclass(frozen=True)
class PrivateFolder:
    """An open folder."""

    path: Path
    descriptor: int

    def create(self, name: str) -> int:
        """A new file for its owner alone."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, flags, 0o600, dir_fd=self.descriptor)

    @contextmanager
    def opened(self, name: str) -> Iterator[int]:
        """A file of the folder, for reading; raises FileNotFoundError, or Unreadable for what is no file."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(name, flags, dir_fd=self.descriptor)
        except FileNotFoundError:
            raise
        except OSError as error:
            found = "a symbolic link" if error.errno == errno.ELOOP else str(error.strerror)
            raise Unreadable(self.path / name, "a file to read", found) from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Unreadable(self.path / name, "a file to read", "a folder, device or pipe")
            yield descriptor
        finally:
            os.close(descriptor)


@contextmanager
def private_folder(path: Path, what: str, *, to_write: bool = False) -> Iterator[PrivateFolder]:
    """A folder of a site; raises Failed where it is none, or to write, where not its owner's alone.

    + what: is kept in it, in words: `receipts`
    + to_write: it is made where there is none, with mode 0700
    """
    try:
        if to_write and not path.exists():
            _make(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Failed(f"{path}: expected a folder for {what}, found {error.strerror}") from error
    try:
        if to_write:
            _refuse_others(path, os.fstat(descriptor))
        yield PrivateFolder(path, descriptor)
    finally:
        os.close(descriptor)


def write_whole(descriptor: int, content: bytes) -> None:
    """Write all of it, and wait until it is on the disk."""
    while content:
        content = content[os.write(descriptor, content) :]
    os.fsync(descriptor)


def read_whole(descriptor: int) -> bytes:
    """All that a file has."""
    parts = []
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _make(path: Path) -> None:
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


def _refuse_others(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise Failed(f"{path}: expected a folder of uid {os.geteuid()}, who runs this, found one of uid {found.st_uid}")
    if mode := stat.S_IMODE(found.st_mode) & 0o077:
        raise Failed(f"{path}: expected a folder for its owner alone, found bits {mode:03o} for others\n"
                     f"  chmod 700 {path}")  # fmt: skip
