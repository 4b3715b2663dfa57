"""What is mounted on a host, what a boot mounts, how much room there is, and how files lie on their disk."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.host import fragmentation, mounts
from fleet.host.fstab import mount_unit
from fleet.host.fstab_text import MARKS


class Mounts(Look[mounts.Mounts]):
    """
    Mounts now, the lines of /etc/fstab, and room on local file systems; ``None`` when they were not observed. What the
    system mounts for itself is left out. No mount point is entered, so a server that is gone holds nothing up.

    + targets: mount points about which systemd's unit and every process that uses them are told as well
    + root: a directory to look under instead of ``/``

    .. code:: python

        Mounts(
            mounts=(Mount(target="/mnt/models", source="nas:/volume1/models", type="nfs4", options=("rw", …)),),
            fstab=(FstabEntry(number=9, source="nas:/volume1/models", target="/mnt/models", type="nfs", …),),
            spaces=(Space(target="/", size_bytes=4000000000000, available_bytes=1200000000000, …),),
        )
    """

    needs_root = True

    @override
    def command(self, targets: tuple[str, ...] = (), root: str = "") -> str:
        units = [mount_unit(each) for each in targets]
        asked = {"what": "mounts", "root": root, "targets": targets, "units": units, "marks": MARKS}
        return as_root(remote_python("host_mounts", **asked))

    @override
    def parse(self, text: str) -> mounts.Mounts:
        return mounts.parse_mounts(text)


class FileLayout(Look[fragmentation.Fragmentation]):
    """
    In how many pieces a file lies, or all files below a directory, and in how few they could; ``None`` when that was
    not observed. It reads the map of every file, which takes seconds: no plan asks for it.

    + path: a file or a directory; links are followed
    + root: not used

    .. code:: python

        Fragmentation(
            path="/srv/models", filesystem="ext4", extents=27, best=4, score=1,
            worst=(FileLayout(path="/srv/models/a.gguf", extents=12, best=1), …),
        )
    """

    needs_root = True
    timeout_seconds: ClassVar[float] = 118.0

    @override
    def command(self, path: str = "/", root: str = "") -> str:
        return as_root(remote_python("host_mounts", what="fragmentation", root=root, path=path))

    @override
    def parse(self, text: str) -> fragmentation.Fragmentation:
        return fragmentation.parse_fragmentation(text)
