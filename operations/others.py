"""Make the files of others on a host as declared: what is reverted goes, and nothing undeclared stands on a port."""

from collections.abc import Generator
from shlex import quote
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import document_looks, observation
from fleet.desired import DesiredSpark
from fleet.observation import Observation
from fleet.refusal import Refusal
from fleet.revert import KEPT_IN, ReloadProfiles, RemoveFile, declared_refusals, revert_steps, still_there
from fleet.step import Step
from operations.acting import carry_out, read_back, refuse
from operations.lock import under_lock
from operations.netplan import generate
from operations.scratch import accepted

GONE_WITHIN_SECONDS = 60.0
"""How long a profile and its address may take to go after `nmcli connection reload`: under 2 s on virtual Sparks
(measured 2026-11-29), thirty times that on a loaded host."""


@operation()
def declared(desired: DesiredSpark) -> Generator[Any, None, None]:
    """
    Make the files of others on the fabric ports as the roster declares them: an adopted one is as it was, a
    reverted one is gone, with its profile and addresses, and there is no other.

    A file is removed whole or not at all, never rewritten, and only when it is for fabric ports alone; a copy
    stays in /var/lib/sparks/reverted. Neither `netplan apply` nor `nmcli connection delete` is used: the one
    takes the management address away, the other rewrites or tombstones what netplan generates.

    + desired: what the host should be

    .. code:: python

        others.declared(name="files of others", desired=desired)
    """
    outcomes = yield from under_lock(host, lambda: _outcomes(desired))
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    steps = [each for each in outcomes if isinstance(each, RemoveFile | ReloadProfiles)]
    if refusals:
        yield from refuse(*dict.fromkeys(refusals))
    elif not steps:
        host.noop("the files of others are as declared")
    else:
        yield from carry_out(host, steps, _script)
        yield from read_back(lambda _: _difference(desired, steps), GONE_WITHIN_SECONDS)


def _outcomes(desired: DesiredSpark) -> tuple[Step | Refusal, ...]:
    seen = _seen()
    return (*declared_refusals(desired, seen), *revert_steps(desired, seen))


def _seen() -> Observation:
    return observation(host, host.name, document_looks())


def _difference(desired: DesiredSpark, steps: list[RemoveFile | ReloadProfiles]) -> Refusal | None:
    seen = _seen()
    return seen.unobserved("netplan", "links", "connections") or still_there(desired, steps, seen)


def _script(step: RemoveFile | ReloadProfiles) -> str:
    return (_remove(step) if isinstance(step, RemoveFile) else "") + _forget(step.down)


def _remove(step: RemoveFile) -> str:
    """Copy, compare, then remove; killed anywhere, the file or its copy is whole."""
    directory, _, name = step.path.rpartition("/")
    without = f'rm -f "$root"{quote(step.path)}'
    return f"""
umask 077
path={quote(step.path)}
digest() {{ sha256sum | cut -c1-64; }}
found=$(digest < "$path")
[ "sha256:$found" = {quote(step.content_digest or "")} ] || [ -z {quote(step.content_digest or "")} ] || {{
  echo "$path: expected the file that was looked at, found it changed; nothing was removed" >&2
  exit 65
}}
mkdir -p {KEPT_IN}
chmod 0700 {KEPT_IN.rpartition("/")[0]} {KEPT_IN}
copy={KEPT_IN}/{quote(name)}.$(printf %.12s "$found")
new=$(mktemp {KEPT_IN}/.XXXXXX.new)
trap 'rm -f "$new"' EXIT
cat < "$path" > "$new" && sync "$new" && [ "$(digest < "$new")" = "$found" ] || {{
  echo "$copy: expected room for a copy, found the write refused; nothing was removed" >&2
  exit 74
}}
{accepted(without) if directory == "/etc/netplan" else ""}
mv -fT "$new" "$copy"
trap - EXIT
sync {KEPT_IN}
rm -f "$path"
sync {quote(directory)}
"""


def _forget(down: tuple[str, ...]) -> str:
    """nmcli's status 8: NetworkManager is not running, and so has nothing to forget."""
    lines = [generate(), "timeout 60 nmcli connection reload || [ $? = 8 ]"]
    lines += [
        f"if timeout 30 nmcli -t connection show uuid {uuid} >/dev/null 2>&1; then\n"
        f"  timeout 120 nmcli --wait 90 connection down uuid {uuid} >/dev/null\nfi"
        for uuid in map(quote, down)
    ]
    return "\n".join(lines)
