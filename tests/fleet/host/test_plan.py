"""The scope of a host policy: what its plans are about, and what they leave alone."""

import pytest

from fleet.host.files import HostFiles
from fleet.host.guard_service import MemoryGuard
from fleet.host.kernel_values import Governors, HugePages
from fleet.host.manager import Manager
from fleet.host.modules import Modules, Parameter
from fleet.host.mounts import Mount, Mounts
from fleet.host.policy import HostPolicy
from fleet.host.sysctl import Sysctls
from fleet.plan import Plan, plan
from fleet.roster import Roster
from fleet.target import Scope, Target
from tests.fleet.observed import blank

TARGET = Target(name="a", kind="spark", hosts=("a",))
SEEN = blank("a").model_copy(
    update={
        "sysctls": Sysctls(now={"vm/swappiness": "60"}),
        "host_files": HostFiles(),
        "huge_pages": HugePages(page_size_bytes=4096),
        "governors": Governors(),
        "memory_guard": MemoryGuard(),
        "mounts": Mounts(mounts=(), fstab=()),
        "manager": Manager(default_target="multi-user.target"),
    }
)


def roster(**policy: object) -> Roster:
    sparks = {"a": {"enrolled": True, "host": "plain"}}
    return Roster.read({"sparks": sparks, "hosts": {"plain": policy}}, "x")


def planned(scope: Scope, of: Roster) -> Plan:
    found = plan(of, TARGET, {"a": SEEN}, scope)
    assert isinstance(found, Plan), found
    return found


SWAPPY = roster(sysctls={"vm.swappiness": 1})


def test_its_own_scope_plans_the_host_and_nothing_else() -> None:
    found = planned(Scope.HOST, SWAPPY)
    assert [step.kind for step in found.steps] == ["write_host_file", "set_kernel_values"]
    assert Plan.from_canonical(found.canonical) == found


@pytest.mark.parametrize("scope", [Scope.FABRIC, Scope.SERVE])
def test_no_other_scope_is_moved_by_it(scope: Scope) -> None:
    one, other = planned(scope, SWAPPY), planned(scope, roster())
    assert one.digest == other.digest
    assert "sysctls" not in one.hosts[0].prestate


def test_a_spark_without_a_policy_has_nothing_to_do() -> None:
    bare = Roster.read({"sparks": {"a": {"enrolled": True}}}, "x")
    assert planned(Scope.HOST, bare).is_noop
    assert HostPolicy().settings == {}


def test_a_plan_says_what_waits_for_a_boot_and_what_one_takes_away() -> None:
    poll = Modules(loaded={"nvme": {"poll_queues": Parameter(value="0")}})
    by_hand = Mounts(mounts=(Mount(target="/mnt/x", source="nas:/x", type="nfs4"),), fstab=())
    seen = SEEN.model_copy(update={"modules": poll, "mounts": by_hand})
    found = plan(roster(modules={"nvme": {"poll_queues": 2}}), TARGET, {"a": seen}, Scope.HOST)
    assert isinstance(found, Plan)
    assert found.hosts[0].notes == (
        "a nvme.poll_queues: 0 until the next boot, then 2",
        "a /mnt/x: nas:/x, mounted by hand: lost at the next boot",
    )
