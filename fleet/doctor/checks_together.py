"""Checks of Sparks that serve together: what must be the same on all of them."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from fleet.cluster import cluster_of
from fleet.doctor.check import Check, Found
from fleet.doctor.finding import Level
from fleet.llamacpp import LlamaCpp
from fleet.observation import Observation
from fleet.record import Unobserved
from fleet.roster import Roster


class Together(NamedTuple):
    """A site, and what was seen of some of its Sparks."""

    roster: Roster
    seen: Mapping[str, Observation]


def groups(asked: Together) -> Iterator[tuple[str, ...]]:
    """Every set of Sparks that serve together, of which at least two were seen; none that is a part of another."""
    roster = asked.roster
    made = (cluster for name in roster.enrolled for cluster in cluster_of(name, roster.fabrics))
    sets = {frozenset(asked.seen) & frozenset(each.sparks) for each in (*roster.clusters.values(), *made)}
    for each in sorted((found for found in sets if len(found) > 1), key=sorted):
        if not any(each < other for other in sets):
            yield tuple(sorted(each))


def _differ(asked: Together, what: str, of: Callable[[Observation], str | None]) -> Iterator[Found]:
    """One finding for each group in which it is not the same everywhere; where it is not known, it is left out."""
    for group in groups(asked):
        by_value: dict[str, list[str]] = {}
        for name in group:
            value = of(asked.seen[name])
            if value is not None:
                by_value.setdefault(value, []).append(name)
        if len(by_value) > 1:
            found = "; ".join(f"{value} on {', '.join(names)}" for value, names in sorted(by_value.items()))
            yield Found(f"{', '.join(group)} {what}", "the same on all of them", found)


def _kernel(seen: Observation) -> str | None:
    return None if isinstance(seen.kernel, Unobserved) else seen.kernel.release


def _driver(seen: Observation) -> str | None:
    return None if isinstance(seen.gpu, Unobserved) else seen.gpu.module


def _uefi(seen: Observation) -> str | None:
    if isinstance(seen.firmware, Unobserved) or not (seen.firmware.bios_version or seen.firmware.resources):
        return None
    resources = (f"{each.guid[:8]} {each.version:#010x}" for each in seen.firmware.resources)
    return ", ".join((seen.firmware.bios_version or "no BIOS version", *resources))


def _firmware(seen: Observation) -> str | None:
    if isinstance(seen.firmware, Unobserved) or not seen.firmware.rdma:
        return None
    return ", ".join(sorted(set(seen.firmware.rdma.values())))


def _system(seen: Observation) -> str | None:
    if isinstance(seen.machine, Unobserved) or seen.machine.dgx_release is None:
        return None
    return seen.machine.dgx_release.version


def _llama(seen: Observation) -> str | None:
    if not isinstance(seen.llamacpp, LlamaCpp):
        return None
    lenders = {each.executable_digest for each in seen.llamacpp.rpc} - {None}
    return ", ".join(sorted(str(each) for each in lenders)) or None


TOGETHER: tuple[Check[Together], ...] = (
    Check[Together](
        id="together.kernel",
        level=Level.WARN,
        looks_for="Sparks that are cabled or clustered together and run different kernels.",
        why="One of them is slower, or pins memory otherwise, and all of them wait for it.",
        fix="Give them one kernel policy, and try it node by node with `sparks kernel trial`.",
        find=lambda asked: _differ(asked, "kernels", _kernel),
    ),
    Check[Together](
        id="together.driver",
        level=Level.WARN,
        looks_for="Sparks that serve together with different versions of the NVIDIA driver.",
        why="NCCL and CUDA containers are qualified with one; a mixture fails in ways that name no driver.",
        fix="Install the same linux-modules-nvidia packages; a kernel policy can pin them.",
        find=lambda asked: _differ(asked, "drivers", _driver),
    ),
    Check[Together](
        id="together.firmware",
        level=Level.INFO,
        looks_for="Sparks that serve together with different firmware in their ConnectX-7.",
        why="A port that is slow, or flaps, on one of them alone may be that.",
        fix="Bring them to one version with NVIDIA's own tools.",
        find=lambda asked: _differ(asked, "ConnectX-7 firmware", _firmware),
    ),
    Check[Together](
        id="together.uefi",
        level=Level.INFO,
        looks_for="Sparks that serve together with different firmware of the machine: BIOS, and each row of the ESRT.",
        why="Power, clocks and memory are the firmware's; one Spark that is slower makes all of them wait.",
        fix="Bring them to one version (`fwupdmgr update`), one after the other, when nobody is served.",
        find=lambda asked: _differ(asked, "UEFI firmware", _uefi),
    ),
    Check[Together](
        id="together.system",
        level=Level.INFO,
        looks_for="Sparks that serve together with different versions of DGX OS.",
        why="What was tried on one of them was tried on another system.",
        fix="Update them one after the other, when nobody is served.",
        find=lambda asked: _differ(asked, "DGX OS", _system),
    ),
    Check[Together](
        id="together.rpc_build",
        level=Level.ERROR,
        looks_for="Different builds of llama.cpp's `rpc-server` on Sparks that serve together.",
        why="Its protocol has no version that both ends hold against each other: another build means other numbers.",
        fix="Install the same build everywhere.",
        find=lambda asked: _differ(asked, "rpc-server", _llama),
    ),
)
