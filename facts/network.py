"""A host's network as it is now: the kernel's links, and NetworkManager's profiles and devices."""

import re
from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, shell
from fleet.connections import (
    Connections as NmConnections,
)
from fleet.connections import (
    durable_keyfiles,
    parse_networking,
    parse_profiles,
)
from fleet.keyfile import parse_keyfile
from fleet.links import Link, parse_links
from fleet.nm_device import DEVICE_COLUMNS, parse_devices

_ROUTES = "--- routes"


class Links(Look[tuple[Link, ...]]):
    """
    The network interfaces by name, with their addresses and the routes that profiles set; ``None`` when they were
    not observed.

    Addresses are in numeric order: the kernel's own order says only which came first.

    .. code:: python

        (
            Link(
                name="enp1s0f1np1", ifindex=4, mac="02:00:00:00:00:01", mtu=9000, up=True, carrier=True,
                operstate="UP", addresses=(LinkAddress(address="192.168.102.10/24"),),
            ),
        )
    """

    def command(self) -> str:
        return shell(f"ip -j -d addr show || exit 1\necho '{_ROUTES}'\nip -j -4 route show proto static || exit 1")

    @override
    def parse(self, text: str) -> tuple[Link, ...]:
        links, found, routes = text.partition(f"\n{_ROUTES}\n")
        if not found:
            raise ValueError(f"expected a line {_ROUTES!r}, found none")
        return parse_links(links, routes)


_SAFE_COLUMNS = ("TYPE", "UUID", "AUTOCONNECT", "STATE", "DEVICE", "NAME", "FILENAME")
"""PROFILE_COLUMNS with the two that can hold a colon or an SSID at the end, where sed can cut them off."""

_NETWORKMANAGER = r"""
# A daemon that hangs blocks nmcli for ever. In the plain C locale nmcli prints ? for a letter like an umlaut.
ask() { LC_ALL=C.UTF-8 timeout -k 1 100 nmcli -t -f "$@"; }

# A Wi-Fi profile and its file are named after the SSID, which stays on the host.
profiles_without_ssid() {
    sed -E '/^802-11-/ {
        s,^(([^:]*:){5}).*:(/[^:]*/(netplan-)?)[^/]*$,\1<redacted>:\3<redacted>,; t
        s,^(([^:]*:){5}).*,\1<redacted>:,
    }'
}
devices_without_ssid() { sed -E 's,^([^:]*:wifi[^:]*:[^:]*:).+,\1<redacted>,'; }

# Only the lines named here are printed: every secret of a keyfile is in another. The digest is of a wired one only.
# One that is not root's, or that others may open, NetworkManager does not load (cases/044): no boot brings it back.
keyfiles_without_secrets() {
    find -L /etc/NetworkManager/system-connections /run/NetworkManager/system-connections \
        /usr/lib/NetworkManager/system-connections -maxdepth 1 -type f -uid 0 ! -perm /077 -exec awk '
        function digest(   command, said) {
            if (!wired || file ~ /\047/) return ""
            command = "sha256sum <\047" file "\047"
            command | getline said
            close(command)
            return "[.sparks]\ndigest=sha256:" substr(said, 1, 64) "\n"
        }
        function put(   path) {
            path = file
            if (wifi) sub(/[^\/]*$/, (path ~ /\/netplan-[^\/]*$/) ? "netplan-<redacted>" : "<redacted>", path)
            if (file != "") printf "--- keyfile %s\n%s", path, wifi ? "[connection]\ntype=wifi\n" uuid : kept digest()
        }
        function keep(keys) { if ($0 ~ "^(" keys ")=") kept = kept $0 "\n" }
        FNR == 1 { put(); file = FILENAME; group = kept = uuid = ""; wifi = wired = 0 }
        { sub(/^[ \t]+/, ""); sub(/[ \t]*=[ \t]*/, "=") }
        /^\[/ { group = $0 }
        /^\[(connection|ipv4|ethernet|802-3-ethernet|\.nmmeta)\]/ { kept = kept $0 "\n" }
        /^\[(wifi|802-11-)/ || (group == "[connection]" && /^type=(wifi|802-11-)/) { wifi = 1 }
        group == "[connection]" && /^type=(ethernet|802-3-ethernet)$/ { wired = 1 }
        group == "[connection]" && /^uuid=/ { uuid = $0 "\n" }
        group == "[connection]" { keep("id|uuid|type|interface-name|autoconnect-priority") }
        group == "[ipv4]" { keep("method|address(es)?[0-9]*") }
        group == "[ethernet]" || group == "[802-3-ethernet]" { keep("mtu|mac-address") }
        group == "[.nmmeta]" { keep("nm-generated|shadowed-storage") }
        END { put() }' {} + 2>/dev/null
}

command -v nmcli >/dev/null || { echo "expected nmcli, found none" >&2; exit 69; }
state=$(ask STATE general); code=$?
case $code in
    0)
        profiles=$(ask @PROFILES@ connection show) || exit
        devices=$(ask @DEVICES@ device) || exit
        # Only one that is disconnected can have been so by hand; on a converged host nothing is asked.
        kept_down=
        case $devices in
            *:ethernet:disconnected:*) kept_down=$(ask GENERAL.DEVICE,GENERAL.AUTOCONNECT device show) || exit ;;
        esac
        printf '%s\n' '--- general' "$state" '--- profiles'
        printf '%s\n' "$profiles" | profiles_without_ssid
        echo '--- devices'
        printf '%s\n' "$devices" | devices_without_ssid
        printf '%s\n' '--- autoconnect' "$kept_down"
        keyfiles_without_secrets ;;
    8)
        echo '--- stopped'
        keyfiles_without_secrets ;;
    124) echo "nmcli: expected an answer within 60 s, found none" >&2; exit 124 ;;
    *) exit $code ;;
esac
"""


class Connections(Look[NmConnections]):
    """
    NetworkManager's profiles and devices; ``None`` when they were not observed.

    A profile's ``storage`` is ``persistent``, ``netplan`` (generated at each boot from /etc/netplan),
    ``runtime`` or ``in-memory``: the last two are gone after a reboot. Wi-Fi names are redacted on the host.
    ``keyfiles`` are the files that stay and that it loads, with the digests of wired ones. A NetworkManager that is
    stopped is observed as ``running=False``; one that hangs is not observed.

    .. code:: python

        Connections(
            running=True, networking="enabled",
            profiles=(
                Profile(
                    name="rail-102", uuid="…", type="802-3-ethernet", device="enp1s0f1np1",
                    filename="/run/NetworkManager/system-connections/netplan-NM-….nmconnection",
                    autoconnect=True, state="activated", storage="netplan",
                    stored=Settings(ipv4_method="manual", ipv4_addresses=("192.168.102.10/24",), mtu=9000),
                ),
            ),
            devices=(
                NmDevice(name="enp1s0f1np1", type="ethernet", state="connected", connection="rail-102", …),
            ),
        )
    """

    needs_root: ClassVar[bool] = True
    """To other users the keyfiles are closed, and so are profiles with a list of permitted users."""
    timeout_seconds: ClassVar[float] = 400.0
    """nmcli is asked three or four times; one took over 60 s where eleven virtual Sparks shared two processors."""

    def command(self) -> str:
        script = _NETWORKMANAGER.replace("@PROFILES@", ",".join(_SAFE_COLUMNS))
        return as_root(shell(script.replace("@DEVICES@", ",".join(DEVICE_COLUMNS))))

    @override
    def parse(self, text: str) -> NmConnections:
        heads, bodies = _sections(text)
        keyfiles = [
            parse_keyfile(body, head.removeprefix("keyfile "))
            for head, body in zip(heads, bodies, strict=True)
            if head.startswith("keyfile ")
        ]
        if heads[:1] == ["stopped"]:
            return NmConnections(running=False, keyfiles=durable_keyfiles(keyfiles))
        if heads[:4] != ["general", "profiles", "devices", "autoconnect"]:
            raise ValueError(f"expected general, profiles, devices and autoconnect, found {heads[:4]}")
        return NmConnections(
            running=True,
            networking=parse_networking(bodies[0]),
            profiles=parse_profiles(bodies[1], keyfiles, _SAFE_COLUMNS),
            devices=parse_devices(bodies[2], bodies[3]),
            keyfiles=durable_keyfiles(keyfiles),
        )


def _sections(text: str) -> tuple[list[str], list[str]]:
    """The parts of the answer, each under a line `--- head`; nmcli's own lines never begin so."""
    _, *parts = re.split(r"^--- (.*)\n", text, flags=re.MULTILINE)
    return parts[::2], parts[1::2]
