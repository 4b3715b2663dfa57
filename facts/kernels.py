"""Every kernel that is installed on a host: its packages, its files, and what DKMS has built for it."""

import shlex

from typing_extensions import override

from facts.look import Look, as_root, shell
from fleet.kernel.dkms import Dkms, parse_dkms
from fleet.kernel.files import InstalledKernels as Installed
from fleet.kernel.files import parse_installed
from fleet.kernel.packages import FORMAT, Packages, parse_packages

_PACKAGES = r"""
set -e
list=$(dpkg-query -W -f=@FORMAT@)
wanted='^[^|]*[|](linux-|nvidia-(driver|dkms|kernel|firmware)-|[^|]*-dkms[|]@NAMED@)'
printf '%s\n' "$list" | grep -E "$wanted" || [ $? = 1 ]
"""


class KernelPackages(Look[Packages]):
    """
    Every package about kernels and their driver modules, in any state that dpkg knows, and those that are named;
    ``None`` when they were not observed.

    + named: other packages, with spaces between

    .. code:: python

        Packages(
            packages=(
                Package(name="linux-image-6.17.0-1031-nvidia", version="6.17.0-1031.31", architecture="arm64",
                        want="hold", status="installed"),
                Package(name="linux-nvidia-hwe-24.04", …, pulls=("6.17.0-1031-nvidia",)),
            ),
        )
    """

    @override
    def command(self, named: str = "") -> str:
        also = "".join(f"|{name.replace('+', '[+]').replace('.', '[.]')}[|]" for name in named.split())
        return shell(_PACKAGES.replace("@FORMAT@", shlex.quote(FORMAT)).replace("@NAMED@", also))

    @override
    def parse(self, text: str) -> Packages:
        return parse_packages(text)


_INSTALLED = r"""
set -e
boot=@ROOT@/boot modules=@ROOT@/lib/modules
[ -d "$boot" ] && [ -d "$modules" ] || { echo "expected $boot and $modules, found them absent" >&2; exit 66; }
owners=$(dpkg -S "$boot"/vmlinuz-* 2>/dev/null) || [ $? = 1 ]
releases=$(for path in "$boot"/vmlinuz-* "$boot"/initrd.img-* "$modules"/*; do
    [ ! -e "$path" ] || { name=${path##*/}; name=${name#vmlinuz-}; echo "${name#initrd.img-}"; }
done | sort -u)
for release in $releases; do
    say() { printf '%s\t%s\n' "$release" "$1"; }
    say there=
    if [ -s "$boot/vmlinuz-$release" ]; then say image=; fi
    package=$(printf '%s\n' "$owners" | sed -n "s,: $boot/vmlinuz-$release\$,,p" | grep -v '^diversion' | head -n 1)
    if [ -n "$package" ]; then say "package=${package%%:*}"; fi
    if [ -e "$boot/initrd.img-$release" ]; then say "initrd=$(stat -L -c %s "$boot/initrd.img-$release")"; fi
    if [ -s "$modules/$release/modules.dep" ]; then say modules=; fi
    if [ -e "$modules/$release/build/" ]; then say headers=; fi
    if command -v modinfo >/dev/null && [ -e "$modules/$release/modules.dep" ]; then
        for field in version signer; do
            value=$(modinfo -b "@ROOT@/" -k "$release" -F $field nvidia 2>/dev/null) || value=
            say "nvidia_$field=$value"
        done
    fi
done
"""


class InstalledKernels(Look[Installed]):
    """
    What is there of each kernel: image and whose it is, initramfs, modules, headers, and the driver's module with who
    signed it; ``None`` when they were not observed.

    + root: a directory to look under instead of ``/``

    .. code:: python

        InstalledKernels(
            kernels=(
                KernelFiles(release="6.17.0-1031-nvidia", has_image=True, package="linux-image-6.17.0-1031-nvidia",
                            initrd_bytes=74233115, has_modules=True, nvidia_version="580.126.09",
                            nvidia_signer="Canonical Ltd. Kernel Module Signing"),
            ),
        )
    """

    @override
    def command(self, root: str = "") -> str:
        return shell(_INSTALLED.replace("@ROOT@", root))

    @override
    def parse(self, text: str) -> Installed:
        return parse_installed(text)


class DkmsModules(Look[Dkms]):
    """
    What DKMS has built, for which kernel, and how far; ``None`` when it was not observed.

    .. code:: python

        Dkms(is_there=True, modules=(DkmsModule(name="nvidia", version="580.126.09", kernel="6.17.0-1031-nvidia", …),))
    """

    needs_root = True

    def command(self) -> str:
        return as_root(shell("if command -v dkms >/dev/null; then echo there; dkms status 2>&1 || [ $? -lt 126 ]; fi"))

    @override
    def parse(self, text: str) -> Dkms:
        there, _, said = text.partition("\n")
        return parse_dkms(said) if there == "there" else Dkms(is_there=False)
