"""Which looks a decision about the kernel of a Spark is made of, and which more tell what is wrong with it."""

from facts.boot import GrubBoot, SecureBoot
from facts.bundle import Wanted
from facts.kernel import Kernel, KexecHandover
from facts.kernels import DkmsModules, InstalledKernels, KernelPackages
from facts.upgrades import KernelUpgrades
from fleet.desired import DesiredSpark


def kernel_looks(desired: DesiredSpark) -> dict[str, Wanted]:
    """What a decision about the kernel rests on, by section; nothing where it is not ours."""
    if desired.kernel is None:
        return {}
    return {
        "kernel": Wanted(Kernel),
        "packages": Wanted(KernelPackages, (("named", " ".join(desired.kernel.held)),)),
        "kernels": Wanted(InstalledKernels),
        "boot": Wanted(GrubBoot),
        "kho": Wanted(KexecHandover),
    }


def kernel_health_looks(desired: DesiredSpark) -> dict[str, Wanted]:
    """The same with what no decision rests on: whether modules will load, and what else may move the kernel."""
    looks = kernel_looks(desired)
    if looks:
        looks |= {
            "secure_boot": Wanted(SecureBoot),
            "dkms": Wanted(DkmsModules),
            "upgrades": Wanted(KernelUpgrades),
        }
    return looks
