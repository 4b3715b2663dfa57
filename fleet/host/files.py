"""The files of a host policy: what they shall say, what lies under their names, and the steps between the two."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from fleet.host.answer import answer
from fleet.host.steps import RemoveHostFile, WriteHostFile
from fleet.host.text import HostFile
from fleet.record import Record, sha256_digest

PATTERNS: tuple[str, ...] = (
    "/etc/sysctl.d/90-sparks-host.conf",
    "/etc/systemd/system/sparks-host-*.service",
    "/etc/systemd/system/*.wants/sparks-host-*.service",
    "/etc/systemd/system/*.service.d/90-sparks-host.conf",
    "/etc/systemd/system.conf.d/90-sparks-host.conf",
    "/etc/systemd/logind.conf.d/90-sparks-host.conf",
    "/etc/systemd/timesyncd.conf.d/90-sparks-host.conf",
    "/etc/chrony/sources.d/sparks-host.sources",
    "/etc/modprobe.d/sparks-host.conf",
    "/etc/tmpfiles.d/sparks-host.conf",
    "/usr/local/lib/sparks/memory-guard-*.py",
    r"/etc/systemd/system/*sparks\x2dswap.img.swap",
    r"/etc/systemd/system/*.wants/*sparks\x2dswap.img.swap",
)
"""Every place where a host policy has files; what lies there under such a name is ours."""


class FoundHostFile(Record):
    """What lies under one of our names."""

    path: str
    content_digest: str | None = None
    """None where it is no regular file."""
    link: str | None = None
    """Where it leads, if it is a symbolic link."""
    mode: int
    owner: str

    def __str__(self) -> str:
        what = f"a link to {self.link}" if self.link is not None else self.content_digest or "no regular file"
        return f"{what} {self.mode:04o} {self.owner}"


class HostFiles(Record):
    """Everything that lies under our names, by path."""

    files: tuple[FoundHostFile, ...] = ()

    def at(self, path: str) -> FoundHostFile | None:
        """What lies at a path."""
        return next((each for each in self.files if each.path == path), None)


def parse_host_files(text: str) -> HostFiles:
    """The files from the JSON of a look; raises ValueError."""
    return HostFiles.model_validate(answer(text))


def wanted(file: HostFile) -> FoundHostFile:
    """What will be found once a file is as it should be."""
    if file.link is not None:
        return FoundHostFile(path=file.path, link=file.link, mode=0o777, owner="root")
    return FoundHostFile(path=file.path, content_digest=sha256_digest(file.text.encode()), mode=file.mode, owner="root")


def file_steps(
    host: str, files: Iterable[HostFile], patterns: Iterable[str], found: HostFiles, why: str
) -> Iterator[WriteHostFile | RemoveHostFile]:
    """What makes these files as they should be, and takes away whatever else lies where only they may.

    + patterns: the places, some of `PATTERNS`, that are about the same thing
    + why: the reason, in the operator's words
    """
    wishes = {each.path: each for each in files}
    for path, file in wishes.items():
        there = found.at(path)
        if there != wanted(file):
            yield WriteHostFile(
                subject=f"{host} {path}",
                before="absent" if there is None else str(there),
                after=str(wanted(file)),
                reason=why,
                file=file,
            )
    for there in found.files:
        if there.path not in wishes and any(fnmatchcase(there.path, each) for each in patterns):
            yield RemoveHostFile(
                subject=f"{host} {there.path}",
                before=str(there),
                after="absent",
                reason="its host policy does not have it any more",
                path=there.path,
            )
