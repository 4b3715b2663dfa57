"""The lock of a host: who changes it now, and whether that run still lives."""

from typing import ClassVar

from typing_extensions import override

from facts.controller import controller, started_ticks
from facts.look import Look, as_root, shell
from fleet.lock import PLACE, LockState
from fleet.lock_text import parse_lock_state

_SCRIPT = r"""
read -r boot < /proc/sys/kernel/random/boot_id || exit
echo "now $boot"
text=$(cat @PLACE@/lock 2>/dev/null) || [ ! -e @PLACE@/lock ] || { echo "@PLACE@/lock: expected text" >&2; exit 74; }
if [ -n "$text" ]; then
    digest=$(printf '%s\n' "$text" | sha256sum)
    echo "digest ${digest%% *}"
    printf '%s\n' "$text" | sed 's/^/| /'
    set -- $(printf '%s\n' "$text" | sed -n 's/^holder //p')
    if [ "${1--}" = - ]; then lives=-; else
        ticks=$2 lives=no
        stat=$(cat "/proc/$1/stat" 2>/dev/null)
        set -- ${stat##*) }
        case ${1-Z} in [ZX]) ;; *) [ "${20}" != "$ticks" ] || lives=yes ;; esac
    fi
    echo "lives $lives"
fi
if [ -e @PLACE@/work ]; then
    flock -n -s -E 9 @PLACE@/work true
    case $? in 0) ;; 9) echo at-work ;; *) exit 69 ;; esac
fi
"""


class HostLock(Look[LockState]):
    """
    The lock of the host, with what is known of the run that took it; ``None`` when that was not observed. A process
    is alive where its number and its start are as the lock says, and the host has not booted since.

    .. code:: python

        LockState(
            held=Lock(token="5f0c…", client="10.0.0.2", since="2026-12-01 10:00:00 UTC", controller=Controller(…), …),
            holder_lives=True, at_work=False, taker="another", controller_lives=None, boot_id="…",
        )
    """

    needs_root: ClassVar[bool] = True

    def command(self) -> str:
        return as_root(shell(_SCRIPT.replace("@PLACE@", PLACE)))

    @override
    def parse(self, text: str) -> LockState:
        state = parse_lock_state(text)
        if state.held is None:
            return state
        return state.seen_by(controller(), started_ticks(state.held.controller.pid))
