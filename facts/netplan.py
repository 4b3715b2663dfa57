"""The netplan files of a host, read as root and redacted there."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, remote_python, shell, source_of
from fleet.netplan import NetplanEffective as MergedAndCompared
from fleet.netplan import NetplanFile, own_view
from fleet.netplan.files import parse
from fleet.netplan.harmless import ALLOWED
from fleet.owners import parse_leftovers


class NetplanFiles(Look[tuple[NetplanFile, ...]]):
    """
    Every `*.yaml` in /lib/netplan, /etc/netplan and /run/netplan, in netplan's order: what it is, what it
    binds and what netplan would refuse; ``None`` when they were not observed. SSIDs, keys and passwords stay
    on the host, as does every value that is not known to be harmless.

    + root: a directory to look under instead of ``/``

    .. code:: python

        (
            NetplanFile(
                path="/etc/netplan/90-NM-6a15f513-0880-59e7-b891-afcca11502e1.yaml",
                directory="etc",
                mode=0o600,
                content_digest="sha256:7881af8954e9c441dd171601dc2ce4924720504cda8360c15ce7ea5f1c505753",
                durable=True,
                devices=(
                    NetplanDevice(
                        id="NM-6a15f513-0880-59e7-b891-afcca11502e1",
                        kind="ethernet",
                        binds=Binds(interface="enp1s0f0np0"),
                        addresses=("192.168.102.10/24",),
                        method4="manual",
                        mtu=9000,
                        …
                    ),
                ),
                error=None,
                …
            ),
        )
    """

    needs_root: ClassVar[bool] = True

    @override
    def command(self, root: str = "") -> str:
        return as_root(remote_python("netplan_tree", root=root, allowed=ALLOWED))

    @override
    def parse(self, text: str) -> tuple[NetplanFile, ...]:
        return parse(text)


class NetplanLeftovers(Look[tuple[str, ...]]):
    """
    Files in /etc/netplan that NVIDIA Sync has renamed, so that netplan does not read them; ``None`` when they
    were not observed. What is in them is not looked at.

    .. code:: python

        ("/etc/netplan/40-cx7.yaml.sync-disabled-20261129",)
    """

    needs_root: ClassVar[bool] = True

    @override
    def command(self) -> str:
        find = "find /etc/netplan -maxdepth 1 -name '*.sync-disabled-*'"
        return as_root(shell(f"[ ! -d /etc/netplan ] || {find} || exit 1"))

    @override
    def parse(self, text: str) -> tuple[str, ...]:
        return parse_leftovers(text)


class NetplanEffective(Look[MergedAndCompared]):
    """
    What all netplan files make together: every value with the files that write it, who acts on it, which
    definitions compete for an interface; and where the host's own netplan reads the files otherwise than we
    do. ``None`` when it was not observed, as on a host without netplan.

    netplan is asked by `netplan get`, which only reads. `netplan status` is not used: it starts
    systemd-networkd where that does not run (seen with 1.1.2; the source of 0.106 does so too).

    + root: a directory to look under instead of ``/``

    .. code:: python

        NetplanEffective(
            version="1.1.2-7",
            renderer="NetworkManager",
            renderer_sources=("/lib/netplan/00-network-manager-all.yaml",),
            devices=(
                EffectiveDevice(
                    device=NetplanDevice(id="enp1s0f0np0", addresses=("192.168.100.10/24", "192.168.100.11/24"), …),
                    renderer="NetworkManager",
                    sources=("/etc/netplan/01-static.yaml", "/etc/netplan/90-NM-….yaml"),
                    settings=(
                        Setting(
                            key="mtu", value="9000", sources=("/etc/netplan/90-NM-….yaml",),
                            overrides=(Overridden(path="/etc/netplan/01-static.yaml", value="1500"),),
                        ),
                        Setting(key="addresses", value="192.168.100.10/24", sources=("/etc/netplan/01-static.yaml",)),
                        Setting(
                            key="dhcp4", value="true", sources=("/etc/netplan/01-static.yaml",),
                            displaced_by="ipv4.method",
                        ),
                        …
                    ),
                    …
                ),
            ),
            conflicts=(),
            problems=(),
            complaint=None,
            disagreements=(
                Disagreement(id="enp1s0f0np0", key="mtu", ours=("9000",), netplan=("1500",)),
            ),
        )
    """

    needs_root: ClassVar[bool] = True
    timeout_seconds: ClassVar[float] = 150.0
    """More than `netplan get` may take; see `facts/remote/netplan_get.py`."""

    @override
    def command(self, root: str = "") -> str:
        return as_root(remote_python("netplan_get", root=root, allowed=ALLOWED, tree=source_of("netplan_tree")))

    @override
    def parse(self, text: str) -> MergedAndCompared:
        return own_view.parse(text)
