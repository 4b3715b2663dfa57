"""Make the kernel of a host as its policy says: what is installed and held, its command line, what every boot starts.

Nothing here boots a host. What is running stays as it is until then: `sparks kernel trial` is the way there.
"""

from collections.abc import Generator
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import observation
from facts.needs_kernel import kernel_looks
from fleet.desired import DesiredSpark
from fleet.kernel.decide import KERNEL_LINE, KERNEL_PACKAGES, NEXT_BOOT, NEXT_BOOT_FIRST, kernel_steps
from fleet.refusal import Refusal
from fleet.step import Step
from operations.kernel_script import script
from operations.made import made_so


@operation()
def pinned(desired: DesiredSpark) -> Generator[Any, None, None]:
    """
    Install the packages of the kernel policy at exactly their versions, and hold them and the metas that would move
    them. Nothing is removed, and no other kernel comes along. A release without initramfs gets one.

    + desired: what the host should be; without a kernel policy it is left alone

    .. code:: python

        kernel.pinned(name="kernel packages", desired=desired)
    """
    yield from made_so(host, KERNEL_PACKAGES, lambda: _outcomes(KERNEL_PACKAGES, desired), script)


@operation()
def cmdline(desired: DesiredSpark) -> Generator[Any, None, None]:
    """
    Add words to the kernel command line in a file of ours below ``/etc/default/grub.d``, cut others out of the files
    where they stand and leave every other byte there, and make GRUB's menu anew.

    + desired: what the host should be; without a kernel policy it is left alone

    .. code:: python

        kernel.cmdline(name="kernel command line", desired=desired)
    """
    yield from made_so(host, KERNEL_LINE, lambda: _outcomes(KERNEL_LINE, desired), script)


@operation()
def next_boot(desired: DesiredSpark, before_packages: bool | None = None) -> Generator[Any, None, None]:
    """
    Make every boot start the right release, by the id of its entry, whatever else is installed; clear what is pending
    for the next boot alone unless the policy allows it.

    + desired: what the host should be; without a kernel policy it is left alone
    + before_packages: in a deploy that calls it before and after ``kernel.pinned``: which of the two it is. The policy
      says which one acts (``KernelPolicy.chooses_first``); not given, this one does

    .. code:: python

        kernel.next_boot(name="next boot", desired=desired)
    """
    part = NEXT_BOOT_FIRST if before_packages else NEXT_BOOT
    if before_packages is None and desired.kernel is not None and desired.kernel.chooses_first:
        part = NEXT_BOOT_FIRST
    yield from made_so(host, part, lambda: _outcomes(part, desired), script)


def _outcomes(part: str, desired: DesiredSpark) -> tuple[Step | Refusal, ...]:
    return kernel_steps(part, desired, observation(host, host.name, kernel_looks(desired)))
