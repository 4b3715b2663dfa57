"""The kernel that a host runs."""

from typing_extensions import override

from facts.look import Look, shell
from fleet.kernel.kho import Kho, parse_kho
from fleet.kernel.running import Kernel as RunningKernel
from fleet.kernel.running import parse_kernel
from fleet.kernel.words import SECRET_PARAMETER

_SCRIPT = r"""
set -e
release=$(uname -r)
page_size=$(getconf PAGESIZE)
boot_id=$(cat /proc/sys/kernel/random/boot_id)
uptime=$(cut -d' ' -f1 /proc/uptime)
cmdline=$(cat /proc/cmdline)
printf '%s\n' "release=$release" "page_size=$page_size" "boot_id=$boot_id" "uptime=$uptime"
printf 'cmdline=%s\n' "$cmdline" | sed -E \
    -e 's/"@SECRET@=[^"]*"/"\1=<redacted>"/Ig' \
    -e 's/([ =])@SECRET@=("[^"]*"|[^ "]*)+/\1\2=<redacted>/Ig' \
    -e 's,(://)[^ @/"]*@,\1<redacted>@,g'
"""


class Kernel(Look[RunningKernel]):
    """
    The running kernel; ``None`` when it was not observed.

    A value on the command line that names the machine or looks like a secret is redacted on the host.

    .. code:: python

        Kernel(
            release="6.17.0-1031-nvidia", page_size_bytes=4096, boot_id="…", uptime_seconds=512.3,
            command_line=CommandLine(
                parameters=(Parameter(name="quiet"), Parameter(name="kho", value="off")),
            ),
        )
    """

    def command(self) -> str:
        return shell(_SCRIPT.replace("@SECRET@", f"({SECRET_PARAMETER})"))

    @override
    def parse(self, text: str) -> RunningKernel:
        return parse_kernel(text)


_KHO = r"""
set -e
config=/boot/config-$(uname -r)
if [ -e "$config" ]; then
    echo config=there
    grep -E '^CONFIG_KEXEC_HANDOVER(_ENABLE_DEFAULT)?=y$' "$config" || [ $? = 1 ]
else
    echo config=absent
fi
if [ -e /sys/kernel/kexec_crash_size ]; then
    size=$(cat /sys/kernel/kexec_crash_size)
    echo "crash=$size"
fi
"""


class KexecHandover(Look[Kho]):
    """
    Is Kexec HandOver in the running kernel, and what is kept for a crash kernel; ``None`` when it was not observed.
    Whether it is at work the command line says too: see ``Kho.is_on``.

    .. code:: python

        Kho(is_built_in=True, is_default=True, crash_bytes=0)
    """

    def command(self) -> str:
        return shell(_KHO)

    @override
    def parse(self, text: str) -> Kho:
        return parse_kho(text)
