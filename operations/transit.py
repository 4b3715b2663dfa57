"""Make a Spark of a ring pass on what its neighbours send each other, or take away what made it do so."""

from collections.abc import Generator
from shlex import quote
from typing import Any

from pyinfra import host
from pyinfra.api import operation

from facts.needs import observation, transit_looks
from fleet.desired import DesiredSpark
from fleet.refusal import Refusal
from fleet.step import Step
from fleet.transit.decide import transit_steps
from fleet.transit.desired import (
    DOCKER_USER,
    FILE_MODE,
    FROM_RAIL,
    SYSCTL_PATH,
    TO_RAIL,
    UNIT,
    UNIT_PATH,
    WANTS_PATH,
    Transit,
)
from fleet.transit.steps import ActivateTransit, RemoveTransit, WriteTransit
from operations.acting import carry_out, read_back, refuse, write_file
from operations.lock import under_lock

PROC_SYS = "/proc/sys"


@operation()
def forwarding(desired: DesiredSpark) -> Generator[Any, None, None]:
    """
    Make the host forward between its rails, for good and now: the kernel's settings of these ports alone, and
    Docker's firewall passed through a chain of ours in ``DOCKER-USER``. Where the roster asks for no transit,
    whatever of it lies on the host is taken away.

    + desired: what the host should be

    .. code:: python

        transit.forwarding(name="transit between rails", desired=desired)
    """
    outcomes = yield from under_lock(host, lambda: _outcomes(desired))
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    steps = [each for each in outcomes if isinstance(each, Step)]
    if refusals:
        yield from refuse(*refusals)
    elif not steps:
        host.noop("transit is as desired" if desired.transit else "no transit here")
    else:
        yield from carry_out(host, steps, _script)
        yield from read_back(lambda _: _difference(desired), timeout_seconds=0)


def _outcomes(desired: DesiredSpark) -> tuple[Step | Refusal, ...]:
    return transit_steps(desired, observation(host, host.name, transit_looks(desired)))


def _difference(desired: DesiredSpark) -> Refusal | None:
    """What is left to do after acting, as the reason why acting failed."""
    outcome = next(iter(_outcomes(desired)), None)
    if outcome is None or isinstance(outcome, Refusal):
        return outcome
    return Refusal(code="not_as_desired", subject=outcome.subject, expected=outcome.after, found=outcome.before)


def _script(step: Step) -> str:
    match step:
        case WriteTransit(transit=transit):
            return _write(transit)
        case ActivateTransit():
            return _activate(step)
        case RemoveTransit(settings=settings):
            return _remove(settings)
    raise AssertionError(f"expected a step of transit, found {step.kind}")


def _write(transit: Transit) -> str:
    """Killed anywhere in it, it leaves a state from which this step is due again."""
    return f"""
({write_file(SYSCTL_PATH, transit.sysctl_text, FILE_MODE)})
({write_file(UNIT_PATH, transit.unit_text, FILE_MODE)})
timeout 60 systemctl daemon-reload
timeout 60 systemctl --quiet enable {UNIT}
"""


def _activate(step: ActivateTransit) -> str:
    """The kernel first: a rule without forwarding is harmless, and so is the other way round."""
    start = f"""
timeout 60 systemctl start {UNIT} || {{
  echo "{UNIT}: expected it to put its rules in, found it failed; see journalctl -u {UNIT}" >&2
  exit 69
}}
"""
    return _settings(step.transit.settings) + start * step.start


def _remove(settings: dict[str, str]) -> str:
    """The sysctl file goes last: as long as it is there, the next run finds what a killed one has left."""
    return f"""
timeout 60 systemctl --quiet disable {UNIT} 2>/dev/null || true
rm -f {quote(UNIT_PATH)} {quote(WANTS_PATH)}
timeout 60 systemctl daemon-reload
if command -v iptables >/dev/null; then
  while iptables -w 10 -D {DOCKER_USER} -j {FROM_RAIL} 2>/dev/null; do :; done
  for verb in -F -X; do
    for chain in {FROM_RAIL} {TO_RAIL}; do
      ! iptables -w 10 -S "$chain" >/dev/null 2>&1 || iptables -w 10 "$verb" "$chain"
    done
  done
fi
{_settings(settings)}
rm -f {quote(SYSCTL_PATH)}
sync {quote(SYSCTL_PATH.rpartition("/")[0])}
"""


def _settings(settings: dict[str, str]) -> str:
    return "".join(f"echo {quote(value)} > {quote(f'{PROC_SYS}/{key}')}\n" for key, value in settings.items())
