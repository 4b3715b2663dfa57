"""Every decision about the kernel of a Spark, in the order in which a deploy carries it out; what waits for a boot."""

from collections.abc import Callable, Iterator, Mapping

from fleet.desired import DesiredSpark
from fleet.kernel.line import forbidden, has_last, line_steps
from fleet.kernel.next import default_release, next_steps
from fleet.kernel.pinned import pinned_steps
from fleet.kernel.policy import KernelPolicy
from fleet.observation import Observation
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.step import Step

KERNEL_LINE, NEXT_BOOT_FIRST = "kernel command line", "next boot, before packages"
KERNEL_PACKAGES, NEXT_BOOT = "kernel packages", "next boot"

Decide = Callable[[KernelPolicy, Observation], tuple[Step | Refusal, ...]]


def _next_boot(first: bool) -> Decide:
    return lambda policy, seen: next_steps(policy, seen) if policy.chooses_first is first else ()


KERNEL_PARTS: Mapping[str, Decide] = {
    KERNEL_LINE: line_steps,
    NEXT_BOOT_FIRST: _next_boot(first=True),
    KERNEL_PACKAGES: pinned_steps,
    NEXT_BOOT: _next_boot(first=False),
}
"""By the name of the operation that makes a part so, in order: a kernel has its words from its first entry on."""


def kernel_steps(part: str, desired: DesiredSpark, seen: Observation) -> tuple[Step | Refusal, ...]:
    """What one part needs, or everything that stands in the way; nothing where the kernel is not ours."""
    return () if desired.kernel is None else KERNEL_PARTS[part](desired.kernel, seen)


def kernel_notes(desired: DesiredSpark, seen: Observation) -> Iterator[str]:
    """What a plan tells besides its steps: what of the policy the running kernel is not, which only a boot changes; and
    a newer kernel that came by itself."""
    policy, running = desired.kernel, seen.kernel
    if policy is None or isinstance(running, Unobserved):
        return
    if (
        not isinstance(seen.kernels, Unobserved)
        and (newest := seen.kernels.newest_like(policy.release)) != policy.release
    ):
        yield f"{seen.host} has {newest} too, newer than the pinned {policy.release}; it is left alone"
    if running.release != policy.release:
        yield _other_release(policy, running.release, seen)
    elif policy.expected_page_size not in (None, running.page_size_bytes):
        yield f"{seen.host} has pages of {running.page_size_bytes} bytes, expected {policy.expected_page_size}"
    line, words = running.command_line, policy.command_line
    for word in words.add:
        if not has_last(line.parameters, [word]):
            yield f"{seen.host} runs without {word}; it takes effect at the next boot"
    for word in dict.fromkeys(forbidden(line.parameters, words.remove)):
        yield f"{seen.host} runs with {word}; the next boot is without it"


def _other_release(policy: KernelPolicy, running: str, seen: Observation) -> str:
    blind = isinstance(seen.boot, Unobserved) or isinstance(seen.kernels, Unobserved)
    if blind or default_release(policy, seen) == policy.release:
        return f"{seen.host} runs {running}; {policy.release} takes effect at the next boot"
    return f"{seen.host} runs {running}; {policy.release} has not been tried here: sparks kernel trial {seen.host}"
