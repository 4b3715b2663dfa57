"""Is every unit of a policy enabled, disabled or masked as it says, and active or not accordingly?"""

from collections.abc import Iterator

from fleet.host.policy import HostPolicy
from fleet.host.steps import SetUnitActive, SetUnitFile
from fleet.host.units import UnitState, UnitWish
from fleet.observation import Observation, known
from fleet.refusal import Refusal
from fleet.step import Step

ADMINISTRATORS = "/etc/systemd/system/"
_ENABLED = {"enabled": "enabled", "disabled": "disabled", "indirect": "disabled", "masked": "masked"}
"""What counts as which wish; `…-runtime` is gone after a boot and counts as none."""


def unit_steps(policy: HostPolicy, seen: Observation) -> Iterator[Step | Refusal]:
    """What makes the units so, or everything that stands in the way; one that is not there need not be turned off."""
    if not policy.every_unit:
        return
    if blind := seen.unobserved("units"):
        yield blind
        return
    units = known(seen.units).units
    pairs = [(units[name], wish) for name, wish in policy.every_unit.items()]
    refusals = [no for unit, wish in pairs if (no := _in_the_way(policy, seen.host, unit, wish)) is not None]
    yield from refusals or (step for unit, wish in pairs if unit.is_there for step in _steps(seen.host, unit, wish))


def _in_the_way(policy: HostPolicy, host: str, unit: UnitState, wish: UnitWish) -> Refusal | None:
    if not unit.is_there:
        return _missing(host, unit) if wish == "enabled" else None
    if unit.id != unit.name:
        return Refusal(
            code="unit_alias",
            subject=f"{host} {unit.name}",
            expected="a unit by its own name",
            found=f"an alias of {unit.id}",
            hint=f"declare {unit.id} instead",
        )
    return _unmaskable(host, unit) if wish == "masked" else _unsettled(policy, host, unit, wish)


def _missing(host: str, unit: UnitState) -> Refusal:
    return Refusal(
        code="unit_missing",
        subject=f"{host} {unit.name}",
        expected="a unit that can be started",
        found="none",
        hint="install the package that has it, or take it out of the host policy",
    )


def _unmaskable(host: str, unit: UnitState) -> Refusal | None:
    if unit.load_state == "masked" or not unit.fragment.startswith(ADMINISTRATORS):
        return None
    return Refusal(
        code="unit_mask_blocked",
        subject=f"{host} {unit.name}",
        expected="no file where its mask must lie",
        found=unit.fragment,
        hint="move the file away, or declare the unit disabled",
    )


def _unsettled(policy: HostPolicy, host: str, unit: UnitState, wish: UnitWish) -> Refusal | None:
    """Why it cannot be enabled or disabled, or would not stay so."""
    subject = f"{host} {unit.name}"
    if unit.file_state in ("static", "generated", "transient", "alias"):
        return Refusal(
            code="unit_static",
            subject=subject,
            expected=f"a unit that can be {wish}",
            found=unit.file_state,
            hint="others start it: it can be masked",
        )
    others = [each for each in unit.triggers if policy.every_unit.get(each, "enabled") == "enabled"]
    if wish == "enabled" or not others:
        return None
    return Refusal(
        code="unit_triggered",
        subject=subject,
        expected="nothing that starts it again",
        found=", ".join(others),
        hint="declare these disabled too, or mask the unit",
    )


def _steps(host: str, unit: UnitState, wish: UnitWish) -> Iterator[Step]:
    found = _ENABLED.get(unit.file_state, unit.file_state or "no file")
    if found != wish:
        yield SetUnitFile(
            subject=f"{host} {unit.name} at boot",
            before=found,
            after=wish,
            reason="what starts at boot is what a power cycle leaves",
            unit=unit.name,
            wish=wish,
        )
    active = wish == "enabled"
    if unit.is_active != active and not (active and unit.is_momentary):
        yield SetUnitActive(
            subject=f"{host} {unit.name} now",
            before=unit.active_state,
            after="active" if active else "inactive",
            reason="it runs" if unit.is_active else "it does not run",
            unit=unit.name,
            active=active,
        )
