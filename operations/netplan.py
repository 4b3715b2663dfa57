"""Make rail ends durable and active, one profile at a time; the management connection is never touched."""

from collections.abc import Generator
from shlex import quote
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import Looks, active_looks, document_looks, observation
from fleet.desired import DesiredEnd
from fleet.keeper import BringUp
from fleet.nmcli import join_terse
from fleet.observation import Observation
from fleet.rail_active import active_difference, active_step
from fleet.rail_document import WriteDocument, document_step
from fleet.rail_gid import RenewGid
from fleet.refusal import Refusal
from operations.acting import act, read_back, refuse, write_file

ACTIVE_WITHIN_SECONDS = 20.0
"""How long an address, its MTU and its GID may take to show after `nmcli connection up`: 2 s on virtual Sparks
(measured 2026-11-29), ten times that on a loaded host."""


@operation()
def document(end: DesiredEnd | None) -> Generator[Any, None, None]:
    """
    Make one rail end durable: its netplan document under /etc/netplan, byte for byte, 0600, atomically.

    Before the first byte is written the whole directory as it would become is given to `netplan generate`
    in a scratch root; a file that netplan refuses, a foreign one too, stops the write and is named.

    + end: the rail end, or None where this host has no rail here

    .. code:: python

        netplan.document(name="rail document", end=desired.end_on("enp1s0f0np0"))
    """
    if end is None:
        host.noop("no rail here")
        return
    match document_step(end, _seen(end, document_looks())):
        case None:
            host.noop(f"{end.interface} is durable")
        case Refusal() as refusal:
            yield from refuse(refusal)
        case WriteDocument(document=wanted):
            name = wanted.path.rpartition("/")[2]
            added = f'cp -p "$new" "$root/etc/netplan/"{quote(name)}'
            yield from act(host, write_file(wanted.path, wanted.text, wanted.mode, check=accepted(added)))
            yield from read_back(lambda _: _not_durable(end), timeout_seconds=0)


@operation()
def active(end: DesiredEnd | None) -> Generator[Any, None, None]:
    """
    Make one rail end active: the kernel's address and MTU and NetworkManager's profile as the document says.

    Brings up that one profile and waits until the address, its MTU and its RoCE v2 GID show. `netplan apply`
    would take the management address away for 10 s (measured on netplan 1.1.2, 2026-11). Where only the GID is not
    as it must be, the address is taken away first. Neither is done while anybody uses RDMA there.

    + end: the rail end, or None where this host has no rail here

    .. code:: python

        netplan.active(name="rail up", end=desired.end_on("enp1s0f0np0"))
    """
    if end is None:
        host.noop("no rail here")
        return
    match active_step(end, _seen(end, _active_looks(end))):
        case None:
            host.noop(f"{end.interface} is active")
        case Refusal() as refusal:
            yield from refuse(refusal)
        case BringUp() as step:
            yield from act(host, _bring_up(step))
            yield from read_back(
                lambda _: active_difference(end, _seen(end, _active_looks(end))), ACTIVE_WITHIN_SECONDS
            )


def _active_looks(end: DesiredEnd) -> Looks:
    """An adopted file is looked at as well: the profile that it makes is the one to bring up."""
    return active_looks() | (document_looks() if end.declared.adopted else {})


def _seen(end: DesiredEnd, looks: Looks) -> Observation:
    return observation(host, end.spark, looks)


def _not_durable(end: DesiredEnd) -> Refusal | None:
    match document_step(end, _seen(end, document_looks())):
        case WriteDocument() as step:
            return Refusal(code="not_durable", subject=step.subject, expected=step.after, found=step.before)
        case outcome:
            return outcome


def accepted(change: str) -> str:
    """A check for `write_file` and its like: would netplan take the directory once it is changed?

    + change: a command that makes the change below `$root`; a new file is there as `$new`

    The copy lives in memory and is root's alone, since foreign files hold keys. Netplan's complaint quotes the
    file, so only its place is passed on.
    """
    return f"""
rm -rf /run/sparks-netplan.*
root=$(mktemp -d /run/sparks-netplan.XXXXXX)
trap 'rm -rf "$new" "$root"' EXIT
for at in lib etc run; do
  mkdir -p "$root/$at/netplan"
  [ ! -d "/$at/netplan" ] || find "/$at/netplan/" -maxdepth 1 -name '*.yaml' -exec cp -p {{}} "$root/$at/netplan/" \\;
done
{change}
said=$(timeout 60 netplan generate --root-dir "$root" 2>&1) || {{
  place=$(printf '%s\\n' "$said" | grep -o -m1 "$root/[^ :]*:[0-9]*:[0-9]*" | head -n1)
  echo "${{place#"$root"}}: expected files that netplan accepts, found this refused; nothing was changed" >&2
  exit 65
}}
rm -rf "$root"
trap 'rm -f "$new"' EXIT
"""


def generate() -> str:
    """A command that makes netplan generate what its files say; nothing that is up changes by it."""
    return """
said=$(timeout 60 netplan generate 2>&1) || {
  place=$(printf '%s\\n' "$said" | grep -o -m1 '/[^ :]*:[0-9]*:[0-9]*' | head -n1)
  echo "$place: expected netplan to generate its profiles, found it refused" >&2
  exit 65
}"""


def _bring_up(step: BringUp) -> str:
    """An adopted file may not tell its profile's uuid: NetworkManager then derives one, and its file tells it.

    To renew a GID the address goes first: a profile that is brought up again may keep an address it already has.
    Without a live cable nmcli cannot do it: what there is then is read back and told, as in a dry run.
    """
    interface, keeper = quote(step.interface), step.keeper
    flush = f"ip -4 address flush dev {interface} scope global" if isinstance(step, RenewGid) else ""
    if keeper.uuid is not None:
        uuid = f"uuid={keeper.uuid}"
    else:
        listed = "LC_ALL=C.UTF-8 timeout 30 nmcli -t -f UUID,FILENAME connection show"
        uuid = f"""
export wanted={quote(join_terse([keeper.profile_file]))}
uuid=$({listed} | awk 'substr($0, 38) == ENVIRON["wanted"] {{ print substr($0, 1, 36) }}')
[ -n "$uuid" ] || {{ echo "$wanted: expected its profile loaded, found none" >&2; exit 65; }}"""
    return f"""{generate()}
timeout 30 nmcli connection reload
{uuid}
{flush}
timeout 60 nmcli --wait 45 connection up uuid "$uuid" ifname {interface} >/dev/null || {{
  code=$?
  [ "$(cat /sys/class/net/{interface}/carrier 2>/dev/null)" != 1 ] || exit $code
}}
"""
