"""Are the packages that a policy holds there, and held: the driver, and what else an upgrade must not move?"""

from collections.abc import Iterator

from fleet.host.policy import HostPolicy
from fleet.kernel.steps import HoldPackages
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step


def held_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What holds them, or every one that is not there. A hold that nobody declares stays: it may be a person's."""
    if not policy.held:
        return
    if blind := seen.unobserved("packages"):
        yield blind
        return
    packages = known(seen.packages)
    missing = [name for name in policy.held if packages.installed(name) is None]
    for name in missing:
        yield Refusal(
            code="package_missing",
            subject=f"{seen.host} package {name}",
            expected="one that is installed, to be held as it is",
            found=packages.words(name),
            hint="install it, or take it out of held",
        )
    due = tuple(name for name in policy.held if (found := packages.installed(name)) and not found.is_held)
    if due and not missing:
        yield HoldPackages(
            subject=f"{seen.host} packages",
            before=", ".join(f"{name} {packages.words(name)}" for name in due),
            after="held",
            reason="apt and unattended upgrades move what is not held",
            packages=due,
        )
