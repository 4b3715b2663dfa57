"""A folder of receipts, held by one descriptor: whatever its path names later, this is the folder that is used.

No file is reached over a symbolic link, and none is written that was there before.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from fleet.receipt.chain import HEAD
from fleet.receipt.link import Head
from fleet.receipt.name import number_of
from fleet.receipt.receipt import Receipt, read_receipt
from lab.command import Failed

LOCK_SECONDS = 10.0
"""How long another run may take to open or to close its receipt: some writes to disk."""
_ELSEWHERE = "keep receipts on a local file system: --receipts DIR or SPARKS_RECEIPTS"


class Unreadable(Failed):
    """What stands where a file of receipts should be is none that can be read."""

    def __init__(self, path: Path, expected: str, found: str) -> None:
        super().__init__(f"{path}: expected {expected}, found {found}")
        self.name, self.expected, self.found = path.name, expected, found


@dataclass(frozen=True)
class Folder:
    """An open folder of receipts."""

    path: Path
    descriptor: int

    def names(self) -> tuple[str, ...]:
        """The names of all receipts, in the order in which they were opened."""
        numbers = {name: number for name in os.listdir(self.descriptor) if (number := number_of(name)) is not None}
        return tuple(sorted(numbers, key=lambda name: (numbers[name], name)))

    def receipt(self, name: str) -> Receipt:
        """One receipt as it is now; raises Unreadable for what is no file, or cannot be read."""
        with self._opened(name) as descriptor:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                is_running = False
            except BlockingIOError:
                is_running = True
            return read_receipt(name, _content(descriptor), is_running)

    def head(self) -> Head | None:
        """What the head says; None where there is none. Raises Unreadable for what is no head."""
        try:
            with self._opened(HEAD) as descriptor:
                return Head.from_canonical(_content(descriptor).decode("ascii"))
        except FileNotFoundError:
            return None
        except (ValidationError, UnicodeDecodeError) as error:
            raise Unreadable(self.path / HEAD, "the link to the newest receipt", "something else") from error

    def put_head(self, head: Head) -> None:
        """Replace the head, whole or not at all. The folder is locked."""
        scratch = f".{HEAD}.new"
        with suppress(FileNotFoundError):
            os.unlink(scratch, dir_fd=self.descriptor)
        descriptor = self.create(scratch)
        try:
            write_whole(descriptor, head.canonical.encode())
        finally:
            os.close(descriptor)
        os.rename(scratch, HEAD, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        os.fsync(self.descriptor)

    def create(self, name: str) -> int:
        """A new file for its owner alone."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, flags, 0o600, dir_fd=self.descriptor)

    @contextmanager
    def locked(self, operation: int = fcntl.LOCK_EX) -> Iterator[None]:
        """Holds the folder while the chain grows, or with LOCK_SH while it is read as a whole."""
        self._lock(operation)
        try:
            yield
        finally:
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def _lock(self, operation: int) -> None:
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                return fcntl.flock(self.descriptor, operation | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() > until:
                    held = f"another process to hold it for over {LOCK_SECONDS:.0f} s"
                    raise Failed(f"{self.path}: expected to lock the folder of receipts, found {held}") from error
                time.sleep(0.02)
            except OSError as error:
                found = f"{error.strerror}; {_ELSEWHERE}"
                raise Failed(f"{self.path}: expected to lock the folder of receipts, found {found}") from error

    @contextmanager
    def _opened(self, name: str) -> Iterator[int]:
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
def folder(path: Path, *, to_write: bool = False) -> Iterator[Folder]:
    """A folder of receipts; raises Failed where it is none, or to write, where not its owner's alone.

    + to_write: it is made where there is none, with mode 0700
    """
    try:
        if to_write and not path.exists():
            _make(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Failed(f"{path}: expected a folder for receipts, found {error.strerror}") from error
    try:
        if to_write:
            _refuse_others(path, os.fstat(descriptor))
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


def write_whole(descriptor: int, content: bytes) -> None:
    """Write all of it, and wait until it is on the disk."""
    while content:
        content = content[os.write(descriptor, content) :]
    os.fsync(descriptor)


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


def _content(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)
