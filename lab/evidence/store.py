"""The folder of evidence of a site: each file is written once, under the digest of what it says, and never changed."""

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import click

from fleet.evidence import Broken, FitEvidence, admission_of, file_of, is_file_of, read_evidence
from fleet.fit.admission import Admission
from lab.command import Failed
from lab.map.words import ELLIPSIS, printable
from lab.private_folder import PrivateFolder, Unreadable, private_folder, read_whole, write_whole

WHAT = "evidence"


class Store(NamedTuple):
    """All that is in a folder."""

    evidence: tuple[FitEvidence, ...]
    """The oldest first."""
    broken: tuple[Broken, ...]
    """What is not as it was written, and so no evidence."""

    @property
    def admission(self) -> Admission:
        """What it lets be loaded, and what it does not."""
        return admission_of(self.evidence)

    def find(self, wanted: str) -> FitEvidence:
        """The evidence whose digest begins so; raises Failed for none, or several."""
        prefix = wanted.removesuffix(ELLIPSIS).removeprefix("sha256:")
        found = [each for each in self.evidence if prefix and each.digest.removeprefix("sha256:").startswith(prefix)]
        if len(found) != 1:
            count = len(found) or "none"
            raise Failed(printable(f"{wanted or 'DIGEST'}: expected the digest of one evidence, found {count}"))
        return found[0]


def read_store(path: Path) -> Store:
    """All of a folder; one that is not there has nothing. Raises Failed for what is no folder."""
    if not path.exists() and not path.is_symlink():
        return Store((), ())
    with private_folder(path, WHAT) as place:
        read = [_read(place, name) for name in sorted(os.listdir(place.descriptor)) if _is_ours(name)]
    evidence = (each for each in read if isinstance(each, FitEvidence))
    return Store(tuple(sorted(evidence, key=_last_word)), tuple(each for each in read if isinstance(each, Broken)))


def _last_word(evidence: FitEvidence) -> tuple[datetime, bool]:
    """Of the same moment, that it did not fit is said after that it did."""
    return evidence.measured_at, not evidence.fitted


def put(path: Path, evidence: FitEvidence) -> None:
    """Keep evidence, whole or not at all; the same once more is nothing new. Raises Failed."""
    try:
        with private_folder(path, WHAT, to_write=True) as place:
            _put(place, file_of(evidence.digest), evidence.canonical.encode())
    except OSError as error:
        raise Failed(f"{path}: expected evidence that can be written, found {error.strerror}") from error


def admission_in(path: Path) -> Admission:
    """What the evidence of a folder lets be loaded, and what it does not; what is no evidence any more is named."""
    try:
        store = read_store(path)
    except (Failed, OSError) as error:
        _tell_once(f"{path}: none of it is evidence: {error}")
        return Admission()
    tell_broken(path, store)
    return store.admission


def tell_broken(path: Path, store: Store) -> None:
    """Name each file that is no evidence, once in a run: a site is read several times in it."""
    for each in store.broken:
        _tell_once(f"{path}/{each}; it is no evidence")


_TOLD: set[str] = set()


def _tell_once(line: str) -> None:
    if line not in _TOLD:
        _TOLD.add(line)
        click.echo(printable(line), err=True)


def _is_ours(name: str) -> bool:
    """A file whose name was changed is named too; what is still being written begins with a dot."""
    return not name.startswith(".")


def _read(place: PrivateFolder, name: str) -> FitEvidence | Broken:
    if not is_file_of(name):
        return Broken(file=printable(name), expected="a file of evidence, named by its digest", found="another name")
    try:
        with place.opened(name) as descriptor:
            return read_evidence(name, read_whole(descriptor))
    except Unreadable as error:
        return Broken(file=name, expected=error.expected, found=error.found)
    except OSError as error:
        return Broken(file=name, expected="a file to read", found=str(error.strerror))


def _put(place: PrivateFolder, name: str, content: bytes) -> None:
    """A link, for it never takes the place of a file that is there."""
    scratch = f".{name}.{os.getpid()}.new"
    with suppress(FileNotFoundError):
        os.unlink(scratch, dir_fd=place.descriptor)
    descriptor = place.create(scratch)
    try:
        write_whole(descriptor, content)
        with suppress(FileExistsError):
            os.link(scratch, name, src_dir_fd=place.descriptor, dst_dir_fd=place.descriptor)
    finally:
        os.close(descriptor)
        os.unlink(scratch, dir_fd=place.descriptor)
    os.fsync(place.descriptor)
    found = _read(place, name)
    if isinstance(found, Broken):
        raise Failed(f"{place.path}/{found}; it is never written over: move it elsewhere")
