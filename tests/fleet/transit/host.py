"""A host that never was, as far as transit goes: what looks would find, and what carrying a step out does to it."""

from fleet.hardware import INTERFACES
from fleet.observation import Observation, known
from fleet.record import Unobserved
from fleet.step import Step
from fleet.transit.desired import FILE_MODE, FROM_RAIL, SYSCTL_PATH, TO_RAIL, Transit
from fleet.transit.firewall import Chain, Filter, Rule
from fleet.transit.observed import Firewall, OwnFile, OwnUnit, TransitState
from fleet.transit.steps import ActivateTransit, RemoveTransit, WriteTransit
from fleet.transit.sysctl import SysctlFile


def settings(forwarding: str = "0", rp_filter: str = "2", ip_forward: str = "0") -> dict[str, str]:
    """The kernel's settings where every port has the same."""
    ports = {f"net/ipv4/conf/{each}/forwarding": forwarding for each in INTERFACES}
    ports |= {f"net/ipv4/conf/{each}/rp_filter": rp_filter for each in INTERFACES}
    return {"net/ipv4/ip_forward": ip_forward, "net/ipv4/conf/default/rp_filter": "2"} | ports


UNTOUCHED = TransitState(now=settings())
"""A Spark that was never part of a ring."""

DOCKER = Filter(
    program="iptables",
    chains=(
        Chain(
            name="FORWARD",
            policy="DROP",
            rules=(
                Rule(target="DOCKER-USER"),
                Rule(target="DOCKER-ISOLATION-STAGE-1"),
                Rule(target="ACCEPT", out="docker0", narrowed=True),
                Rule(target="DOCKER", out="docker0"),
                Rule(target="ACCEPT", into="docker0", out="!docker0"),
                Rule(target="ACCEPT", into="docker0", out="docker0"),
            ),
        ),
        Chain(name="DOCKER-USER", rules=(Rule(target="RETURN"),)),
        Chain(name="DOCKER-ISOLATION-STAGE-1", rules=(
            Rule(target="DOCKER-ISOLATION-STAGE-2", into="docker0", out="!docker0"), Rule(target="RETURN"),
        )),
        Chain(name="DOCKER"),
        Chain(name="DOCKER-ISOLATION-STAGE-2", rules=(Rule(target="DROP", out="docker0"), Rule(target="RETURN"))),
    ),
)  # fmt: skip
"""What Docker makes of an empty table (26.1.5 on a virtual Spark, 2026-11-29)."""

OPEN = Filter(program="iptables", chains=(Chain(name="FORWARD", policy="ACCEPT"),))
"""A host without Docker."""


def without_docker() -> Firewall:
    return Firewall(filters=(OPEN,))


def with_docker(table: Filter = DOCKER) -> Firewall:
    return Firewall(docker="active", filters=(table,))


def written(transit: Transit, state: TransitState) -> TransitState:
    """The state once the files are there, linked and loaded."""
    ours = SysctlFile(path=SYSCTL_PATH, lines=tuple(transit.sysctl_text.splitlines()))
    files = [*(each for each in state.sysctl_files if each.path != SYSCTL_PATH), ours]
    unit = OwnFile(content_digest=transit.unit_digest, mode=FILE_MODE, owner="root")
    return state.model_copy(
        update={
            "sysctl": OwnFile(content_digest=transit.sysctl_digest, mode=FILE_MODE, owner="root"),
            "unit": OwnUnit(file=unit, is_linked=True),
            "sysctl_files": tuple(sorted(files, key=lambda file: file.name)),
        }
    )


def activated(transit: Transit, firewall: Firewall) -> Firewall:
    """The firewall once the unit has run."""
    first, *others = firewall.filters
    return firewall.model_copy(update={"filters": (transit.accepted_by(first), *others)})


def passing_on(transit: Transit, seen: Observation) -> Observation:
    """The host with everything of transit in place."""
    write = WriteTransit(subject="", before="", after="", reason="", transit=transit)
    activate = ActivateTransit(subject="", before="", after="", reason="", transit=transit, start=True)
    return applied(activate, applied(write, seen))


def without_ours(firewall: Firewall) -> Firewall:
    """The firewall once our chains and every jump to them are gone."""
    tables = []
    for table in firewall.filters:
        chains = [chain for chain in table.chains if chain.name not in (FROM_RAIL, TO_RAIL)]
        kept = [
            chain.model_copy(update={"rules": tuple(rule for rule in chain.rules if rule.target != FROM_RAIL)})
            for chain in chains
        ]
        tables.append(table.model_copy(update={"chains": tuple(kept)}))
    return firewall.model_copy(update={"filters": tuple(tables)})


def applied(step: Step, seen: Observation) -> Observation:
    """The host after a step was carried out."""
    state, firewall = known(seen.transit), seen.firewall
    match step:
        case WriteTransit(transit=transit):
            state = written(transit, state)
        case ActivateTransit(transit=transit, start=start):
            state = state.model_copy(update={"now": state.now | transit.settings})
            firewall = activated(transit, known(firewall)) if start else firewall
        case RemoveTransit(settings=changed):
            files = tuple(each for each in state.sysctl_files if each.path != SYSCTL_PATH)
            state = TransitState(now=state.now | changed, sysctl_files=files)
            firewall = firewall if isinstance(firewall, Unobserved) else without_ours(firewall)
        case _:
            raise AssertionError(f"expected a step of transit, found {step.kind}")
    return seen.model_copy(update={"transit": state, "firewall": firewall})
