"""Are the packages of a kernel policy there, at their versions, held, and whole enough to boot?"""

from collections.abc import Iterator

from fleet.kernel.files import InstalledKernels
from fleet.kernel.packages import Packages
from fleet.kernel.policy import KernelPolicy
from fleet.kernel.steps import HoldPackages, InstallKernel, MakeInitramfs
from fleet.kernel.versions import is_newer
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step


def pinned_steps(policy: KernelPolicy, seen: Observation) -> tuple[Step | Refusal, ...]:
    """What installs and holds the packages, or everything that stands in the way; empty when nothing is due."""
    if blind := seen.unobserved("packages", "kernels"):
        return (blind,)
    packages, kernels = known(seen.packages), known(seen.kernels)
    refusals = tuple(_refusals(policy, seen.host, packages, kernels))
    return refusals or tuple(_steps(policy, seen.host, packages, kernels))


def missing_packages(policy: KernelPolicy, packages: Packages) -> dict[str, str]:
    """The packages that are not there at their version, with the version."""
    return {
        name: version
        for name, version in sorted(policy.packages.items())
        if (found := packages.installed(name)) is None or found.version != version
    }


def brings(policy: KernelPolicy, packages: Packages, release: str) -> bool:
    """Is the image of a release among what is to be installed?"""
    due = missing_packages(policy, packages)
    return any(f"linux-image{unsigned}-{release}" in due for unsigned in ("", "-unsigned"))


def fallback_refusal(policy: KernelPolicy, seen: Observation) -> Refusal | None:
    """Why there would be no way back; None where there is one, or none is asked for."""
    release, packages = policy.fallback, known(seen.packages)
    if release is None or brings(policy, packages, release):
        return None
    found = known(seen.kernels).of(release)
    if found.has_image and found.has_modules:
        return None
    return Refusal(
        code="fallback_missing",
        subject=f"{seen.host} kernel {release}",
        expected="the fallback with its image and modules",
        found=f"no {found.missing}",
        hint=f"install it, name its packages in the policy, or name another fallback: sudo apt-get install "
        f"linux-image-{release}",
    )


def _refusals(policy: KernelPolicy, host: str, packages: Packages, kernels: InstalledKernels) -> Iterator[Refusal]:
    if packages.broken:
        yield Refusal(
            code="dpkg_unfinished",
            subject=f"{host} packages",
            expected="each installed or not installed",
            found=", ".join(f"{each.name} {each.status}" for each in packages.broken),
            hint="sudo dpkg --configure -a, or sudo apt-get -f install",
        )
    release = policy.release
    found = kernels.of(release)
    if not brings(policy, packages, release) and not (found.has_image and found.has_modules):
        yield Refusal(
            code="kernel_incomplete",
            subject=f"{host} kernel {release}",
            expected="the image and the modules that its packages hold",
            found=f"no {found.missing}",
            hint=f"sudo apt-get install --reinstall linux-image-{release} linux-modules-{release}",
        )


def _steps(policy: KernelPolicy, host: str, packages: Packages, kernels: InstalledKernels) -> Iterator[Step]:
    due = missing_packages(policy, packages)
    if due:
        yield InstallKernel(
            subject=f"{host} kernel packages",
            before=", ".join(f"{name} {packages.words(name)}" for name in due),
            after=", ".join(f"{name} {version}, held" for name, version in due.items()),
            reason="the policy pins these versions; a release that is not running is started by a boot alone",
            packages=due,
            downgrades=tuple(name for name, version in due.items() if _goes_back(packages, name, version)),
        )
    free = _free(policy, packages, due)
    if free:
        yield HoldPackages(
            subject=f"{host} held packages",
            before=", ".join(f"{name} not held" for name in free),
            after=", ".join(f"{name} held" for name in free),
            reason="an upgrade, attended or not, would move the kernel",
            packages=free,
        )
    yield from _initramfs(policy, host, packages, kernels)


def _initramfs(policy: KernelPolicy, host: str, packages: Packages, kernels: InstalledKernels) -> Iterator[Step]:
    for release in policy.kept:
        found = kernels.of(release)
        if found.has_image and found.has_modules and not found.initrd_bytes and not brings(policy, packages, release):
            yield MakeInitramfs(
                subject=f"{host} initramfs {release}",
                before="absent",
                after="there, and in the menu",
                reason="without it this kernel may not find its root file system",
                release=release,
            )


def _goes_back(packages: Packages, name: str, version: str) -> bool:
    found = packages.installed(name)
    return found is not None and found.version is not None and is_newer(found.version, version)


def _free(policy: KernelPolicy, packages: Packages, due: dict[str, str]) -> tuple[str, ...]:
    """What is there at the right version, or is a meta, and may be moved; what is installed anew is held with that."""
    there = ((name, packages.installed(name)) for name in policy.held if name not in due)
    return tuple(name for name, found in there if found is not None and not found.is_held)
