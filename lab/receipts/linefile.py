"""The file of one receipt while it is written: each line whole on the disk or not there, even on a full disk."""

import errno
import fcntl
import os
from contextlib import suppress

from lab.private_folder import write_whole
from lab.receipts.folder import Folder

ROOM_BYTES = 64 * 1024
"""Kept free for the last words of a receipt where the disk is full: some hundred lines."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


class LineFile:
    """A new file in a folder of receipts. Its lock lives as long as this process: so others see that it runs."""

    def __init__(self, place: Folder, name: str) -> None:
        self.name = name
        self._size = 0
        self._room: int | None = _room(place)
        try:
            self._descriptor = place.create(name)
        except BaseException:
            self._give_room()
            raise
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @property
    def is_full(self) -> bool:
        """Was the disk full? Then there is room for last words, and nothing more should be begun."""
        return self._room is None

    def append(self, line: bytes, is_last_words: bool) -> None:
        """Add a line, and wait until it is on the disk. Raises OSError; then nothing of it is there.

        + is_last_words: may it take the room that was kept free?
        """
        try:
            self._write(line)
        except OSError as error:
            if error.errno not in _FULL or self._room is None:
                raise
            self._give_room()
            if not is_last_words:
                raise
            self._write(line)

    def close(self) -> None:
        """Let go of the file."""
        self._give_room()
        os.close(self._descriptor)

    def _write(self, line: bytes) -> None:
        try:
            write_whole(self._descriptor, line)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(line)

    def _give_room(self) -> None:
        if self._room is not None:
            os.close(self._room)
            self._room = None


def _room(place: Folder) -> int:
    """An open file without a name that takes space; the space is free again once it is closed, by us or by a kill."""
    name = ".room.new"
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=place.descriptor)
    descriptor = place.create(name)
    os.unlink(name, dir_fd=place.descriptor)
    try:
        os.posix_fallocate(descriptor, 0, ROOM_BYTES)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
