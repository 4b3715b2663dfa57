"""Kernel modules of a host with their options, and paths that a boot makes."""

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.host import modules, tmpfiles
from fleet.host.modules_step import MODPROBE_PATH


class ModuleOptions(Look[modules.Modules]):
    """
    What modprobe.d gives to modules, what those that are loaded have, and which initramfs holds one; ``None`` when they
    were not observed.

    + parameters: pairs of a module and a name; no other leaves the host
    + root: a directory to look under instead of ``/``

    .. code:: python

        Modules(
            loaded={"nvidia": {"NVreg_EnableResizableBar": Parameter(value="1")}},
            lines=(ConfLine(path="/etc/modprobe.d/nvidia.conf", number=2, key="nvidia.NVreg_EnableResizableBar", …),),
            initrds=(Initrd(release="6.17.0-1031-nvidia", holds=False, is_older=True),),
        )
    """

    needs_root = True

    @override
    def command(self, parameters: tuple[tuple[str, str], ...] = (), root: str = "") -> str:
        asked: dict[str, list[str]] = {}
        for module, name in parameters:
            asked.setdefault(module, []).append(name)
        return as_root(remote_python("host_modules", what="modules", root=root, modules=asked, own=MODPROBE_PATH))

    @override
    def parse(self, text: str) -> modules.Modules:
        return modules.parse_modules(text)


class Paths(Look[tmpfiles.Paths]):
    """
    What lies at paths that a boot makes; ``None`` when they were not observed.

    + paths: below /sys or /proc the first line of a file is told
    + root: a directory to look under instead of ``/``

    .. code:: python

        Paths(paths={"/sys/block/nvme0n1/queue/scheduler": FoundPath(kind="file", text="[none] mq-deadline", …)})
    """

    needs_root = True

    @override
    def command(self, paths: tuple[str, ...] = (), root: str = "") -> str:
        return as_root(remote_python("host_modules", what="paths", root=root, paths=paths))

    @override
    def parse(self, text: str) -> tmpfiles.Paths:
        return tmpfiles.parse_paths(text)
