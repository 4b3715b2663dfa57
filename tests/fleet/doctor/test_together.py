"""What must be the same on Sparks that serve together, and on no others."""

from typing import Any

import pytest

from fleet.doctor.checks_together import TOGETHER, Together, groups
from fleet.doctor.examine import examine_together
from fleet.host.firmware import Firmware, Resource
from fleet.llamacpp import LlamaCpp
from fleet.machine import DgxRelease, Machine
from fleet.observation import Observation, known
from fleet.roster import Roster
from tests.fleet.doctor.hosts import SILENT, well
from tests.fleet.ollama.host import A, B
from tests.fleet.shapes import NAMES, sites
from tests.fleet.test_processes import process

PAIR, EIGHT = sites(2)["pair"], sites(8)["switch and pairs"]


def lender(digest: str) -> LlamaCpp:
    return LlamaCpp(rpc=(process(40, "rpc", runtime="llama.cpp", executable_digest=digest),))


def machine(version: str) -> Machine:
    return Machine(hostname="x", architecture="aarch64", dgx_release=DgxRelease(build_version=version))


def row(version: int) -> Resource:
    return Resource(guid="6d8b0a1c-0000-4000-8000-000000000001", version=version)


OTHER: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("together.kernel", {}, {"kernel": known(well().kernel).replaced(release="7.0.0-1019-nvidia")}),
    ("together.driver", {}, {"gpu": known(well().gpu).replaced(module="590")}),
    ("together.firmware", {"firmware": Firmware(rdma={"r": "28.45"})}, {"firmware": Firmware(rdma={"r": "28.46"})}),
    ("together.uefi", {"firmware": Firmware(bios_version="5.36")}, {"firmware": Firmware(bios_version="5.37")}),
    ("together.uefi", {"firmware": Firmware(resources=(row(1),))}, {"firmware": Firmware(resources=(row(2),))}),
    ("together.system", {"machine": machine("7.2.3")}, {"machine": machine("7.3.0")}),
    ("together.rpc_build", {"llamacpp": lender(A)}, {"llamacpp": lender(B)}),
)


def seen(name: str, **sections: Any) -> Observation:
    return well().replaced(host=name, **sections)


@pytest.mark.parametrize(("id", "one", "other"), OTHER, ids=[each[0] for each in OTHER])
def test_what_differs_is_told_once_with_who_has_what(id: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = NAMES[:2]
    (found,) = examine_together(Together(PAIR, {first: seen(first, **one), second: seen(second, **other)}))
    assert (found.id, found.host) == (id, None)
    assert found.subject.startswith(f"{first}, {second} ")
    assert f" on {first}" in found.found
    assert f" on {second}" in found.found
    lost = dict.fromkeys(other, SILENT)
    assert examine_together(Together(PAIR, {first: seen(first, **one), second: seen(second, **lost)})) == ()


def test_every_check_is_tried_and_alike_is_silent() -> None:
    assert {each.id for each in TOGETHER} == {each[0] for each in OTHER}
    assert examine_together(Together(PAIR, {name: seen(name) for name in NAMES[:2]})) == ()


@pytest.mark.parametrize(
    ("roster", "asked", "expected"),
    [
        (PAIR, 1, []),
        (PAIR, 2, [2]),
        (EIGHT, 8, [8]),
        (EIGHT, 3, [3]),
        (sites(4)["pair"], 4, [2, 2]),
        (sites(3)["alone"], 3, []),
    ],
)
def test_a_group_is_all_that_serve_together_and_no_part_of_another(
    roster: Roster, asked: int, expected: list[int]
) -> None:
    names = roster.enrolled[:asked]
    found = list(groups(Together(roster, {name: seen(name) for name in names})))
    assert [len(each) for each in found] == expected
