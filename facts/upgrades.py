"""What may change a host's packages by itself."""

from typing_extensions import override

from facts.look import Look, shell
from fleet.kernel.upgrades import TIMERS, Upgrades, parse_upgrades

_UPGRADES = r"""
set -e
for timer in @TIMERS@; do
    state=$(systemctl is-enabled "$timer" 2>/dev/null) || true
    echo "timer=$timer $state"
done
if command -v unattended-upgrade >/dev/null; then echo program=yes; else echo program=no; fi
if [ -e /run/reboot-required ]; then
    echo reboot=yes
    if [ -e /run/reboot-required.pkgs ]; then sed 's/^/reboot-package=/' /run/reboot-required.pkgs; fi
else
    echo reboot=no
fi
settings=$(apt-config dump)
printf '%s\n' "$settings" | grep -E '^(APT::Periodic|Unattended-Upgrade)::' || [ $? = 1 ]
"""


class KernelUpgrades(Look[Upgrades]):
    """
    What may move the kernel by itself: timers and unattended upgrades; and whether something waits for a boot;
    ``None`` when it was not observed.

    .. code:: python

        Upgrades(timers={"apt-daily-upgrade.timer": "enabled", …}, is_installed=True, every_days="1", …)
    """

    def command(self) -> str:
        return shell(_UPGRADES.replace("@TIMERS@", " ".join(TIMERS)))

    @override
    def parse(self, text: str) -> Upgrades:
        return parse_upgrades(text)
