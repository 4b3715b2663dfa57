"""The kernel that a host runs."""

from typing_extensions import override

from facts.look import Look, shell
from fleet.kernel import Kernel as RunningKernel
from fleet.kernel import parse_kernel


class Kernel(Look[RunningKernel]):
    """
    The running kernel; ``None`` when it was not observed.

    .. code:: python

        Kernel(
            release="6.17.0-1031-nvidia", page_size_bytes=4096, boot_id="…", uptime_seconds=512.3,
            command_line=CommandLine(
                parameters=(Parameter(name="quiet"), Parameter(name="kho", value="off")),
            ),
        )
    """

    def command(self) -> str:
        return shell(r"""
set -e
release=$(uname -r)
page_size=$(getconf PAGESIZE)
boot_id=$(cat /proc/sys/kernel/random/boot_id)
uptime=$(cut -d' ' -f1 /proc/uptime)
cmdline=$(cat /proc/cmdline)
printf '%s\n' "release=$release" "page_size=$page_size" "boot_id=$boot_id" "uptime=$uptime" "cmdline=$cmdline"
""")

    @override
    def parse(self, text: str) -> RunningKernel:
        return parse_kernel(text)
