"""How a host boots."""

from typing_extensions import override

from facts.look import Look, as_root, remote_python, shell, source_of
from fleet.kernel.boot import Boot, parse_boot, parse_secure_boot
from fleet.kernel.boot import SecureBoot as SecureBootOf
from fleet.kernel.defaults import LINES, TEXTS
from fleet.kernel.words import SECRET_PARAMETER


class GrubBoot(Look[Boot]):
    """
    GRUB's menu with its submenus and ids, its environment with the saved entry and the one-shot, and what the next menu
    will be made from; ``None`` when they were not observed. ``Boot.next`` is what the next boot starts.

    + root: a directory to look under instead of ``/``

    .. code:: python

        Boot(
            menu=Menu(
                entries=(
                    MenuEntry(title="Ubuntu", id="gnulinux-simple-…", image="/boot/vmlinuz-7.0.0-1019-nvidia-64k", …),
                    MenuEntry(title="Advanced options for Ubuntu", id="gnulinux-advanced-…", entries=(…)),
                ),
                default="${saved_entry}", takes_one_shot=True, saves_default=False,
            ),
            environment=GrubEnvironment(values={"saved_entry": "gnulinux-advanced-…>gnulinux-6.17.0-1031-nvidia-…"}),
            defaults=GrubDefaults(
                files=(DefaultsFile(path="/etc/default/grub", …),), texts={"GRUB_DEFAULT": "saved"},
                lines={"GRUB_CMDLINE_LINUX_DEFAULT": (DefaultWord(text="quiet", place=Place(…)),)},
            ),
        )
    """

    needs_root = True

    @override
    def command(self, root: str = "") -> str:
        variables = {"lines": list(LINES), "texts": list(TEXTS)}
        arguments = {"root": root, "variables": variables, "secret": SECRET_PARAMETER}
        return as_root(remote_python("grub", **arguments, sh_values=source_of("sh_values")))

    @override
    def parse(self, text: str) -> Boot:
        return parse_boot(text)


_SECURE_BOOT = r"""
set -e
if [ -d @ROOT@/sys/firmware/efi ]; then
    echo efi=yes
    for variable in @ROOT@/sys/firmware/efi/efivars/SecureBoot-*; do
        if [ -e "$variable" ]; then value=$(od -An -tu1 -j4 -N1 "$variable"); echo "secure=$value"; fi
    done
else
    echo efi=no
fi
if [ -e @ROOT@/sys/kernel/security/lockdown ]; then
    value=$(cat @ROOT@/sys/kernel/security/lockdown)
    echo "lockdown=$value"
fi
"""


class SecureBoot(Look[SecureBootOf]):
    """
    Whether the firmware starts only what is signed, and the kernel loads only that; ``None`` when it was not observed.

    + root: a directory to look under instead of ``/``

    .. code:: python

        SecureBoot(state="on", lockdown="integrity")
    """

    needs_root = True

    @override
    def command(self, root: str = "") -> str:
        return as_root(shell(_SECURE_BOOT.replace("@ROOT@", root)))

    @override
    def parse(self, text: str) -> SecureBootOf:
        return parse_secure_boot(text)
