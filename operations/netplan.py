"""Make rail ends and the management connection durable and active, one profile at a time."""

from collections.abc import Generator
from shlex import quote
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import Looks, active_looks, document_looks, guarded_looks, management_looks, observation
from fleet.desired import DesiredEnd, DesiredSpark
from fleet.guard import GuardedChange
from fleet.keeper import BringUp
from fleet.management_active import management_difference
from fleet.management_step import management_step
from fleet.nmcli import join_terse
from fleet.observation import Observation
from fleet.rail_active import active_difference
from fleet.rail_document import WriteDocument
from fleet.rail_gid import RenewGid
from fleet.rail_guarded import SECTIONS, durable_step, is_guarded, running_step
from fleet.refusal import Refusal
from fleet.standing import changed_since, standing
from fleet.step import Step
from operations.acting import carry_out, read_back, refuse, write_file
from operations.guard import Look, guarded
from operations.lock import under_lock
from operations.scratch import NETPLAN_SECONDS, SILENT, accepted

ACTIVE_WITHIN_SECONDS = 60.0
"""How long an address, its MTU and its GID may take to show after `nmcli connection up`: 2 s on virtual Sparks
(measured 2026-11-29), thirty times that on a loaded host."""


@operation()
def document(end: DesiredEnd | None) -> Generator[Any, None, None]:
    """
    Make one rail end durable: its netplan document under /etc/netplan, byte for byte, 0600, atomically.

    Before the first byte is written the whole directory as it would become is given to `netplan generate`
    in a scratch root; a file that netplan refuses, a foreign one too, stops the write and is named. Where SSH
    may come in over the end, or its fabric is guarded, ``active`` writes it too: see there.

    + end: the rail end, or None where this host has no rail here

    .. code:: python

        netplan.document(name="rail document", end=desired.end_on("enp1s0f0np0"))
    """
    if end is None:
        host.noop("no rail here")
        return
    match (yield from under_lock(host, lambda: durable_step(end, _seen(end, document_looks())))):
        case None:
            host.noop(f"{end.interface} is durable, or becomes so under guard")
        case Refusal() as refusal:
            yield from refuse(refusal)
        case WriteDocument() as step:
            yield from carry_out(host, [step], _write)
            yield from read_back(lambda _: _not_durable(end), timeout_seconds=0)


@operation()
def active(end: DesiredEnd | None) -> Generator[Any, None, None]:
    """
    Make one rail end active: the kernel's address and MTU and NetworkManager's profile as the document says.

    Brings up that one profile and waits until the address, its MTU and its RoCE v2 GID show. `netplan apply`
    would take the management address away for 10 s (measured on netplan 1.1.2, 2026-11). Where only the GID is not
    as it must be, the address is taken away first. Neither is done while anybody uses RDMA there.

    Where SSH may come in over the end, or its fabric is guarded, the document and the profile are one change that
    undoes itself unless a fresh SSH connection confirms it.

    + end: the rail end, or None where this host has no rail here

    .. code:: python

        netplan.active(name="rail up", end=desired.end_on("enp1s0f0np0"))
    """
    if end is None:
        host.noop("no rail here")
        return
    outcome = yield from under_lock(host, lambda: running_step(end, _seen_running(end)))
    seen = _seen_running(end)
    match outcome:
        case None:
            host.noop(f"{end.interface} is active")
        case Refusal() as refusal:
            yield from refuse(refusal)
        case BringUp() as step:
            yield from carry_out(host, [step], _bring_up)
            yield from read_back(lambda _: _not_active(end), ACTIVE_WITHIN_SECONDS)
        case GuardedChange() as step:
            yield from guarded(
                host,
                step,
                shows=lambda: _not_active(end),
                is_done=lambda: _still(running_step(end, _seen_running(end))),
                is_old=_as_before(step, seen),
            )


@operation()
def management(desired: DesiredSpark) -> Generator[Any, None, None]:
    """
    Make the management connection so, where the roster says what it should be: its netplan document alone under
    /etc/netplan, and active. One change that undoes itself unless a fresh SSH connection confirms it; files of
    other owners that the roster reverts go with it, and a copy of each stays in /var/lib/sparks/reverted.

    + desired: what the host should be

    .. code:: python

        netplan.management(name="management", desired=desired)
    """
    outcome = yield from under_lock(host, lambda: management_step(desired, _seen_management(desired)))
    seen = _seen_management(desired)
    match outcome:
        case None:
            host.noop("management is as desired, or not ours")
        case Refusal() as refusal:
            yield from refuse(refusal)
        case GuardedChange() as step:
            yield from guarded(
                host,
                step,
                shows=lambda: management_difference(desired, _seen_management(desired)),
                is_done=lambda: _still(management_step(desired, _seen_management(desired))),
                is_old=_as_before(step, seen),
            )


def _active_looks(end: DesiredEnd) -> Looks:
    """An adopted file is looked at as well: the profile that it makes is the one to bring up."""
    return active_looks() | (document_looks() if end.declared.adopted else {})


def _seen(end: DesiredEnd, looks: Looks) -> Observation:
    return observation(host, end.spark, looks)


def _seen_running(end: DesiredEnd) -> Observation:
    """What `running_step` rests on: few ends are guarded, and those need more."""
    seen = _seen(end, _active_looks(end))
    needs_more = seen.unobserved(*SECTIONS) is None and is_guarded(end, seen)
    return _seen(end, guarded_looks()) if needs_more else seen


def _seen_management(desired: DesiredSpark) -> Observation:
    return observation(host, desired.name, management_looks(desired.spark.management))


def _as_before(step: GuardedChange, seen: Observation) -> Look:
    before = standing(step, seen)
    return lambda: changed_since(step, before, observation(host, seen.host, document_looks()))


def _not_active(end: DesiredEnd) -> Refusal | None:
    return active_difference(end, _seen(end, _active_looks(end)))


def _still(outcome: Step | Refusal | None) -> Refusal | None:
    """What is left to do after acting, as the reason why acting failed."""
    if isinstance(outcome, Step):
        return Refusal(code="not_as_desired", subject=outcome.subject, expected=outcome.after, found=outcome.before)
    return outcome


def _not_durable(end: DesiredEnd) -> Refusal | None:
    match durable_step(end, _seen(end, document_looks())):
        case WriteDocument() as step:
            return Refusal(code="not_durable", subject=step.subject, expected=step.after, found=step.before)
        case outcome:
            return outcome


def _write(step: WriteDocument) -> str:
    wanted = step.document
    added = f'cp -p "$new" "$root/etc/netplan/"{quote(wanted.path.rpartition("/")[2])}'
    return write_file(wanted.path, wanted.text, wanted.mode, check=accepted(added))


def generate() -> str:
    """A command that makes netplan generate what its files say; nothing that is up changes by it."""
    return f"""
said=$(timeout {NETPLAN_SECONDS} netplan generate 2>&1) || {{
  {SILENT}
  place=$(printf '%s\\n' "$said" | grep -o -m1 '/[^ :]*:[0-9]*:[0-9]*' | head -n1)
  echo "$place: expected netplan to generate its profiles, found it refused" >&2
  exit 65
}}"""


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
timeout 60 nmcli connection reload
{uuid}
{flush}
timeout 120 nmcli --wait 90 connection up uuid "$uuid" ifname {interface} >/dev/null || {{
  code=$?
  [ "$(cat /sys/class/net/{interface}/carrier 2>/dev/null)" != 1 ] || exit $code
}}
"""
