"""Does what a host is reached by outlive a shortage of memory, now and after the next boot?

sshd sets its own listener to -1000 and gives each session back what it was started with (platform-linux.c of OpenSSH):
a score in its unit would pass to every shell, and to every engine that is started from one. So its unit gets no score,
only `OOMPolicy=continue`: by default systemd stops a whole unit when the kernel kills one process of it
(systemd.service(5)).
"""

from collections.abc import Iterator

from fleet.host.conf import OWN_NAME, overridden
from fleet.host.files import file_steps
from fleet.host.policy import HostPolicy
from fleet.host.steps import ReloadSystemd, SetOomScore
from fleet.host.text import HEAD, UNITS, HostFile
from fleet.host.units import UnitState
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

SCORE = -900
"""Killed after everything else, and not never: what leaks must not take the host with it."""
SETS_ITS_OWN = frozenset({"ssh.service", "sshd.service"})
PLACE = f"{UNITS}/*.service.d/{OWN_NAME}"


def drop_in(unit: str) -> HostFile:
    """What protects one unit."""
    score = "" if unit in SETS_ITS_OWN else f"OOMScoreAdjust={SCORE}\n"
    return HostFile(path=f"{UNITS}/{unit}.d/{OWN_NAME}", text=f"{HEAD}[Service]\nOOMPolicy=continue\n{score}")


def oom_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What protects those of the units that are there; a process that runs is never restarted for it."""
    if blind := seen.unobserved("host_files", *(("units",) if policy.oom_protected else ())):
        yield blind
        return
    there = [unit for name in policy.oom_protected if (unit := known(seen.units).units[name]).is_there]
    refusals = [no for unit in there if (no := _in_the_way(seen.host, unit)) is not None]
    if refusals:
        yield from refusals
        return
    files = [drop_in(unit.name) for unit in there]
    why = "what a host is reached by must outlive a shortage of memory"
    yield from file_steps(seen.host, files, (PLACE,), known(seen.host_files), why)
    if stale := [unit.name for unit in there if unit.needs_reload or not _is_loaded(unit)]:
        yield ReloadSystemd(
            subject=f"{seen.host} systemd",
            before=f"older files of {', '.join(stale)} loaded",
            after="these files loaded",
            reason="a drop-in counts once systemd has read it",
        )
    for unit in there:
        if unit.oom_score is not None and unit.oom_score > SCORE:
            yield SetOomScore(
                subject=f"{seen.host} {unit.name} now",
                before=f"score {unit.oom_score}",
                after=f"score {SCORE}",
                reason="the process that runs was started without it, and is not restarted",
                unit=unit.name,
                score=SCORE,
            )


def _wanted(unit: UnitState) -> dict[str, str]:
    score = {} if unit.name in SETS_ITS_OWN else {"OOMScoreAdjust": str(SCORE)}
    return {"OOMPolicy": "continue"} | score


def _is_loaded(unit: UnitState) -> bool:
    found = {"OOMPolicy": unit.oom_policy, "OOMScoreAdjust": str(unit.oom_score_adjust)}
    return all(found[key] == value for key, value in _wanted(unit).items())


def _in_the_way(host: str, unit: UnitState) -> Refusal | None:
    found = (overridden(f"{host} {unit.name}", key, (value,), unit.oom_lines) for key, value in _wanted(unit).items())
    return next((each for each in found if each is not None), None)
