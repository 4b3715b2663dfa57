"""Changes that undo themselves unless they are confirmed: can the host do it, and is one at work."""

from typing import ClassVar

from typing_extensions import override

from facts.look import Look, as_root, shell
from fleet.trial import HOME, parse_guard
from fleet.trial import Guard as FoundGuard

NEEDED = ("systemd-run", "systemctl", "netplan", "nmcli", "flock")
"""The programs that arming and undoing call."""

_SCRIPT = r"""
[ -d /run/systemd/system ] || echo "missing systemd"
for program in @NEEDED@; do command -v $program >/dev/null || echo "missing $program"; done
for trial in @HOME@/*/; do
    [ -e "$trial/state" ] || continue
    trial=${trial%/}
    printf 'trial %s %s\nstate %s\nby %s\n' \
        "${trial##*/}" "$(cat "$trial/seconds")" "$(cat "$trial/state")" "$(cat "$trial/by")"
    for unit in timer service; do echo "unit $(systemctl is-active sparks-guard.$unit)"; done
done
"""


class Guard(Look[FoundGuard]):
    """
    Whether a change of the network can be guarded here, and the trial that has not ended; ``None`` when that was
    not observed.

    .. code:: python

        Guard(
            missing=(),
            trial=Trial(token="5f0c…", by="spark from 10.0.0.2 at 2026-11-29 21:00:00", seconds=120, is_armed=True),
            ended=(),
        )
    """

    needs_root: ClassVar[bool] = True

    def command(self) -> str:
        return as_root(shell(_SCRIPT.replace("@NEEDED@", " ".join(NEEDED)).replace("@HOME@", HOME)))

    @override
    def parse(self, text: str) -> FoundGuard:
        return parse_guard(text)
