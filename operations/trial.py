"""Boot a host once into a kernel that is not its default, and wait until it is back. GRUB's one-shot does it.

One script chooses the entry, reads back what GRUB will find, and reboots: there is no moment at which a host has the
entry pending and nobody is about to boot it.
"""

import time
from collections.abc import Callable
from shlex import quote

import gevent
from pyinfra.api import Host
from pyinfra.api.exceptions import ConnectError

from fleet.kernel.trial import Entry
from fleet.refusal import Refusal
from operations.answer import ask
from operations.lock import forgotten, take
from operations.lock_script import HELD

REBOOT_SECONDS = 60
"""For the host to say that it is about to reboot; one that is silent counts as rebooting: it will tell."""
LOOK_SECONDS = 30
"""For a host that is back to say so. Just after a boot it may take half of it (emulated, 2026-11-30)."""
STARTED_SECONDS = 300
"""For the units of a boot; a Spark's are under a minute."""
PAUSE_SECONDS = 3.0
"""Between two tries to reach it."""

MENU = "/boot/grub/grub.cfg"
"""Where GRUB's menu is, on Debian and Ubuntu; tests put another one there."""

_BOOT_ID = "cat /proc/sys/kernel/random/boot_id"
_PENDING = "grub-editenv - list | sed -n 's/^next_entry=//p'"


def boot_once(host: Host, entry: Entry) -> Refusal | None:
    """Choose an entry for the next boot alone, and reboot; why not, where nothing was changed."""
    refusal = take(host)
    if refusal is not None:
        return refusal
    answer = ask(host, f"{HELD}\n{boot_once_script(entry)}", REBOOT_SECONDS)
    if answer is None or answer.is_ok:
        return None
    return _not_booted(host, answer.error)


def boot_default(host: Host) -> Refusal | None:
    """Reboot into the default; why not."""
    refusal = take(host)
    if refusal is not None:
        return refusal
    answer = ask(host, f"{HELD}\nsystemctl reboot", REBOOT_SECONDS)
    return None if answer is None or answer.is_ok else _not_booted(host, answer.error)


def withdraw(host: Host, entry: Entry) -> bool:
    """Take a choice back, for a host that has not rebooted; whether none is pending now."""
    answer = ask(host, f'if [ "$({_PENDING})" = {quote(entry.selector)} ]; then grub-editenv - unset next_entry; fi\n'
                       f'[ -z "$({_PENDING})" ]', LOOK_SECONDS)  # fmt: skip
    return answer is not None and answer.is_ok


def boot_id(host: Host) -> str | None:
    """Which boot the host is in; None where it does not answer."""
    answer = ask(host, _BOOT_ID, LOOK_SECONDS)
    return answer.out[0] if answer is not None and answer.is_ok and answer.out else None


def await_boot(host: Host, before: str, seconds: float, tell: Callable[[float, bool], None]) -> str | None:
    """The boot id of a host that was told to reboot, over a new connection; None where it does not answer in time.

    + before: the boot id before; where it is still that one at the end, it has not rebooted
    + tell: gets how long it was waited, and whether the host answers from before its boot
    """
    forgotten(host)
    start = time.monotonic()
    while True:
        found = _reached(host)
        waited = time.monotonic() - start
        if (found is not None and found != before) or waited > seconds:
            return found
        tell(waited, found is not None)
        gevent.sleep(PAUSE_SECONDS)


def await_started(host: Host) -> None:
    """Wait until every unit of the boot has started or failed: what is looked at before that is not there yet."""
    ask(host, f"timeout {STARTED_SECONDS} systemctl is-system-running --wait || true", STARTED_SECONDS + LOOK_SECONDS)


def _reached(host: Host) -> str | None:
    """Over a new connection: the old one may hang on a past that is gone."""
    try:
        with gevent.Timeout(LOOK_SECONDS):
            host.disconnect()
            host.connect(show_errors=False, raise_exceptions=True)
    except (ConnectError, gevent.Timeout, OSError, EOFError):
        return None
    return boot_id(host)


def boot_once_script(entry: Entry) -> str:
    """Each level of the choice must be an id of the menu, and nothing may be pending: then nothing is overwritten."""
    ids = " ".join(quote(f"'{each}'") for each in entry.selector.split(">"))
    return f"""
for id in {ids}; do
  grep -qF -e "$id" {quote(MENU)} || {{ echo "expected $id in GRUB's menu, found none" >&2; exit 1; }}
done
pending=$({_PENDING})
[ -z "$pending" ] || {{ echo "expected no entry for the next boot alone, found $pending" >&2; exit 1; }}
grub-reboot {quote(entry.selector)}
found=$({_PENDING})
[ "$found" = {quote(entry.selector)} ] || {{
  grub-editenv - unset next_entry
  echo "expected {entry.release} for the next boot, found ${{found:-nothing}}" >&2; exit 1; }}
sync -f /boot/grub/grubenv
systemctl reboot || {{
  grub-editenv - unset next_entry; echo "expected it to reboot, found systemctl failing" >&2; exit 1; }}
"""


def _not_booted(host: Host, error: str) -> Refusal:
    expected, _, found = error.removeprefix("expected ").rpartition(", found ")
    return Refusal(code="not_rebooted", subject=f"{host.name} kernel", expected=expected or "it to reboot", found=found)
