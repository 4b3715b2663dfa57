"""A folder of receipts: their names, each of them, the head of their chain, and the lock under which it grows."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import ValidationError

from fleet.receipt.chain import HEAD
from fleet.receipt.link import Head
from fleet.receipt.name import number_of
from fleet.receipt.receipt import Receipt, read_receipt
from lab.command import Failed
from lab.private_folder import PrivateFolder, Unreadable, private_folder, read_whole, write_whole

LOCK_SECONDS = 10.0
"""How long another run may take to open or to close its receipt: some writes to disk."""
_ELSEWHERE = "keep receipts on a local file system: --receipts DIR or SPARKS_RECEIPTS"


class Folder(PrivateFolder):
    """An open folder of receipts."""

    def names(self) -> tuple[str, ...]:
        """The names of all receipts, in the order in which they were opened."""
        numbers = {name: number for name in os.listdir(self.descriptor) if (number := number_of(name)) is not None}
        return tuple(sorted(numbers, key=lambda name: (numbers[name], name)))

    def receipt(self, name: str) -> Receipt:
        """One receipt as it is now; raises Unreadable for what is no file, or cannot be read."""
        with self.opened(name) as descriptor:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                is_running = False
            except BlockingIOError:
                is_running = True
            return read_receipt(name, read_whole(descriptor), is_running)

    def head(self) -> Head | None:
        """What the head says; None where there is none. Raises Unreadable for what is no head."""
        try:
            with self.opened(HEAD) as descriptor:
                return Head.from_canonical(read_whole(descriptor).decode("ascii"))
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
def folder(path: Path, *, to_write: bool = False) -> Iterator[Folder]:
    """A folder of receipts; raises Failed where it is none, or to write, where not its owner's alone.

    + to_write: it is made where there is none, with mode 0700
    """
    with private_folder(path, "receipts", to_write=to_write) as opened:
        yield Folder(opened.path, opened.descriptor)
