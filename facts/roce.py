"""A host's RDMA ports and their GID tables, from sysfs, and who uses them."""

import re
from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, shell
from fleet.rdma_use import KINDS, DeviceUse, parse_rdma_use
from fleet.roce import RoceDevice, RoceGid
from fleet.roce_sysfs import parse_roce_devices, parse_roce_gids
from fleet.roce_tools import NO_RDMA

_CLASS = r"""
class=/sys/class/infiniband
if [ ! -d /sys/class/net ]; then echo "expected sysfs at /sys, found none" >&2; exit 74; fi
if [ -e $class ] && ! { [ -r $class ] && [ -x $class ]; }; then
    echo "$class: expected to be readable, found it closed" >&2; exit 77
fi
"""
"""Without the kernel's RDMA core there is no class and so no device; a class that is closed is unobserved."""


class RoceDevices(Look[tuple[RoceDevice, ...]]):
    """
    Every port of every RDMA device; ``None`` when they were not observed, empty when there is none.

    ``active_mtu`` is read by ``ibv_devinfo`` where the host has it: sysfs does not show it.

    .. code:: python

        (
            RoceDevice(
                device="rocep1s0f1", port=1, state=4, state_name="ACTIVE",
                phys_state=5, phys_state_name="LinkUp", rate_gbps=200.0, link_layer="Ethernet",
                netdevs=("enp1s0f1np1",), active_mtu=4096, pci="0000:01:00.1",
            ),
        )
    """

    def command(self) -> str:
        return shell(
            _CLASS
            + r"""
for net in $class/*/device/net/*; do
    if [ -e "$net" ]; then printf '%s\t(dir)\n' "$net"; fi
done
ports=$class/*/ports/*
grep -asH '' $ports/state $ports/phys_state $ports/rate $ports/link_layer $class/*/parent | sed 's/:/\t/'
grep -asH '^PCI_SLOT_NAME=' $class/*/device/uevent | sed 's/:/\t/'
echo '--- ibv_devinfo'
if command -v ibv_devinfo >/dev/null; then
    timeout -k 1 5 ibv_devinfo 2>/dev/null | grep -E '^[[:space:]]*(hca_id|port|active_mtu):'
fi
"""
        )

    @override
    def parse(self, text: str) -> tuple[RoceDevice, ...]:
        sysfs, found, devinfo = text.partition("--- ibv_devinfo\n")
        if not found:
            raise ValueError("expected a part of ibv_devinfo, found none")
        return parse_roce_devices(sysfs, devinfo)


class RoceGids(Look[tuple[RoceGid, ...]]):
    """
    Every GID in use, by device, port and index; ``None`` when they were not observed.

    Unused indices read as zeros, and reading their attributes fails, so grep's status says nothing: the
    sentinel shows that the table was read to its end. One process reads it all; a loop of cat takes a minute.

    .. code:: python

        (
            RoceGid(
                device="rocep1s0f1", port=1, index=3, gid="0000:0000:0000:0000:0000:ffff:c0a8:660a",
                type="RoCE v2", netdev="enp1s0f1np1", ipv4="192.168.102.10", link_layer="Ethernet",
                port_active=True,
            ),
        )
    """

    def command(self) -> str:
        return shell(
            _CLASS
            + r"""
ports=$class/*/ports/*
for table in $ports/gids $ports/gid_attrs; do
    if [ -e "$table" ] && ! [ -r "$table" ]; then
        echo "$table: expected to be readable, found it closed" >&2; exit 77
    fi
done
gids=$(grep -arsHv '^0000:0000:0000:0000:0000:0000:0000:0000$' $ports/gids)
# Attributes are read only where there is a GID: a table has 256 to 1024 entries.
attributes=$(printf '%s\n' "$gids" | sed -nE 's,/gids/([0-9]+):.*,/gid_attrs/types/\1,p')
attributes="$attributes $(printf '%s\n' "$attributes" | sed 's,/types/,/ndevs/,')"
{ printf '%s\n' "$gids"; grep -asH '' $ports/state $ports/link_layer $attributes </dev/null; } | sed '/./!d; s/:/\t/'
"""
        )

    @override
    def parse(self, text: str) -> tuple[RoceGid, ...]:
        return parse_roce_gids(text)


_RESOURCES = r"""
command -v rdma >/dev/null || { echo "expected rdma of iproute2, found none" >&2; exit 69; }
said=$(rdma -j resource show 2>&1); code=$?
case $said in
    *"@NO_RDMA@"*) ;;
    *)
        if [ $code != 0 ]; then printf '%s\n' "$said" >&2; exit $code; fi
        printf '%s\n' '--- summary' "$said"
        for kind in @KINDS@; do
            # Only what there is: an idle device has three kinds, and each look is a process.
            case $said in
                *"\"$kind\":"[1-9]*) printf '%s\n' "--- $kind"; rdma -j resource show $kind || exit ;;
            esac
        done ;;
esac
"""


class RdmaUse(Look[tuple[DeviceUse, ...]]):
    """
    Every RDMA device and who holds something of it: queue pairs, connection ids, memory, contexts; ``None`` when
    they were not observed, empty on a host without RDMA.

    The management queue pairs of the kernel (GSI, SMI), which every idle device has, are left out.

    .. code:: python

        (
            DeviceUse(
                device="rocep1s0f1",
                holders=(RdmaHolder(pid=4121, command="VLLM::Worker", resources={"qp": 8, "mr": 12, "ctx": 1}),),
            ),
        )
    """

    needs_root: ClassVar[bool] = True
    """Others see no resources of processes in another user's containers."""

    def command(self) -> str:
        return as_root(shell(_RESOURCES.replace("@KINDS@", " ".join(KINDS)).replace("@NO_RDMA@", NO_RDMA)))

    @override
    def parse(self, text: str) -> tuple[DeviceUse, ...]:
        _, *parts = re.split(r"^--- (.*)\n", text, flags=re.MULTILINE)
        return parse_rdma_use(dict(zip(parts[::2], parts[1::2], strict=True)))
