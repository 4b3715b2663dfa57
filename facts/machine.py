"""What machine a host is."""

from typing_extensions import override

from facts.look import Look, shell
from fleet.machine import RELEASE_KEYS, parse_machine
from fleet.machine import Machine as IdentifiedMachine

_SCRIPT = r"""
set -e
hostname=$(uname -n)
architecture=$(uname -m)
printf '%s\n' "hostname=$hostname" "architecture=$architecture"
for field in sys_vendor product_name board_vendor board_name; do
    if [ -e /sys/class/dmi/id/$field ]; then
        value=$(cat /sys/class/dmi/id/$field)
        printf '%s=%s\n' $field "$value"
    fi
done
for release in /etc/os-release /usr/lib/os-release; do
    if [ -e $release ]; then sed -n '/^PRETTY_NAME=/p' $release; break; fi
done
if grep -qsE '^[0-9a-f]{32}$' /etc/machine-id; then
    digest=$(tr -d '\n' < /etc/machine-id | sha256sum)
    echo "machine_id_sha256=${digest%% *}"
elif [ -e /etc/machine-id ] && ! [ -r /etc/machine-id ]; then
    echo "/etc/machine-id: expected to be readable, found it closed" >&2; exit 77
fi
if [ -e /etc/dgx-release ]; then
    echo dgx-release:
    sed -nE '/^(@KEYS@)=/p' /etc/dgx-release
fi
"""


class Machine(Look[IdentifiedMachine]):
    """
    The hardware and system that answer under a host's name; ``None`` when they were not observed.

    Serial numbers are not read, and the machine-id leaves the host only as its sha256 digest.

    .. code:: python

        Machine(
            hostname="srv5", architecture="aarch64", machine_id_digest="sha256:…",
            sys_vendor="NVIDIA", product_name="NVIDIA_DGX_Spark", os_name="Ubuntu 24.04.3 LTS",
            dgx_release=DgxRelease(build_version="7.2.3", ota_version="7.4.0"),
        )
    """

    def command(self) -> str:
        return shell(_SCRIPT.replace("@KEYS@", "|".join(RELEASE_KEYS)))

    @override
    def parse(self, text: str) -> IdentifiedMachine:
        return parse_machine(text)
