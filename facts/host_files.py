"""What lies under the names of a host policy's own files."""

from typing_extensions import override

from facts.look import Look, as_root, remote_python
from fleet.host.files import PATTERNS, parse_host_files
from fleet.host.files import HostFiles as FoundFiles


class HostFiles(Look[FoundFiles]):
    """
    Every file and link under a name that only a host policy uses; ``None`` when they were not observed.

    + root: a directory to look under instead of ``/``

    .. code:: python

        HostFiles(files=(
            FoundHostFile(path="/etc/sysctl.d/90-sparks-host.conf", content_digest="sha256:…", mode=420, owner="root"),
        ))
    """

    needs_root = True

    @override
    def command(self, root: str = "") -> str:
        return as_root(remote_python("host_state", what="files", root=root, patterns=PATTERNS))

    @override
    def parse(self, text: str) -> FoundFiles:
        return parse_host_files(text)
