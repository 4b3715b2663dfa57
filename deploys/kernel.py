"""The kernel: what is installed and held, the words of its command line, and what the next boot starts. Nothing boots.

pyinfra inventories/sparks.py deploys/kernel.py --dry
"""

from pyinfra import host

from deploys.target import applied_to, complete, desired_state
from fleet.decide import GENERATION
from fleet.kernel.decide import KERNEL_LINE, KERNEL_PACKAGES, NEXT_BOOT, NEXT_BOOT_FIRST
from fleet.target import Scope
from operations import generation, kernel

desired = desired_state(host, Scope.KERNEL)

# The order is that of KERNEL_PARTS; the policy says which of the two calls of next_boot acts.
# An untried kernel is not chosen at all: `sparks kernel trial` boots it once.
kernel.cmdline(name=KERNEL_LINE, desired=desired)
kernel.next_boot(name=NEXT_BOOT_FIRST, desired=desired, before_packages=True)
kernel.pinned(name=KERNEL_PACKAGES, desired=desired)
kernel.next_boot(name=NEXT_BOOT, desired=desired, before_packages=False)

generation.stamp(name=GENERATION, desired=desired, applied=lambda: applied_to(host))
complete(host)
