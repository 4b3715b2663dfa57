"""A host's network functions on PCI, from sysfs."""

from typing_extensions import override

from facts.look import Look, shell
from fleet.pci import HOTPLUG, PciNetwork, parse_pci

_SCRIPT = r"""
if [ ! -d /sys/bus/pci/devices ]; then echo "expected PCI at /sys/bus/pci, found none" >&2; exit 74; fi
for at in /sys/bus/pci/devices/*; do
    # A function can leave while it is read: then it is not there.
    read -r class 2>/dev/null < "$at/class" || continue
    case $class in 0x02*) ;; *) continue ;; esac
    { read -r vendor < "$at/vendor" && read -r device < "$at/device"; } 2>/dev/null || continue
    driver=$(readlink "$at/driver") || driver=
    names=
    for net in "$at"/net/* "$at"/*/net/*; do
        if [ -e "$net" ]; then names="$names ${net##*/}"; fi
    done
    printf 'function\t%s\t%s\t%s\t%s\t%s\t%s\n' "${at##*/}" "$class" "$vendor" "$device" "${driver##*/}" "$names"
done
for name in hotplug_enabled debug_state; do
    if read -r value 2>/dev/null < "@HOTPLUG@/$name"; then printf 'switch\t%s\t%s\n' "$name" "$value"; fi
done
"""


class PciFunctions(Look[PciNetwork]):
    """
    Every network function on PCI, by address, with its driver and the names of its interfaces, and what the
    cable switch of DGX OS says; ``None`` when they were not observed.

    A ConnectX-7 leaves PCI when no cable is in: then its functions are not among these.

    .. code:: python

        PciNetwork(
            functions=(
                PciFunction(
                    address="0000:01:00.1", vendor="15b3", device="1021", device_class="020000",
                    driver="mlx5_core", interfaces=("enp1s0f1np1",),
                ),
            ),
            cable_switch=CableSwitch(enabled=True, cable_seen=True),
        )
    """

    def command(self) -> str:
        return shell(_SCRIPT.replace("@HOTPLUG@", HOTPLUG))

    @override
    def parse(self, text: str) -> PciNetwork:
        return parse_pci(text)
