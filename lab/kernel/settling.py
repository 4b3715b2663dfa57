"""Holding a kernel against what it must do, until it does or the time is up: after a boot services take a while."""

import time

import gevent

from fleet.desired import DesiredSpark
from fleet.health import Finding
from fleet.kernel.qualify import qualified
from lab.interrupt import tell
from lab.kernel.look import looked

PAUSE_SECONDS = 10.0
"""Between two looks at all of it."""


def settled(inventory: str, desired: DesiredSpark, seconds: float) -> tuple[Finding, ...]:
    """Every check at the moment when all are good, or when the time is up."""
    policy = desired.kernel
    assert policy is not None, "expected a policy where a trial goes on"
    start = time.monotonic()
    while True:
        findings = qualified(desired, policy, looked(inventory, desired))
        bad = [each for each in findings if not each.is_good]
        waited = time.monotonic() - start
        if not bad or waited > seconds or any(each.code in _FINAL for each in bad):
            return findings
        tell(f"{desired.name}: not well yet, {waited:.0f} of {seconds:.0f} s: {bad[0]}")
        gevent.sleep(PAUSE_SECONDS)


_FINAL = frozenset({"trial_kernel", "trial_page_size", "trial_command_line"})
"""What no waiting makes another."""
