"""The scope of a host policy: what its plans are about, and what they leave alone."""

import pytest

from fleet.host.files import HostFiles
from fleet.host.guard_service import MemoryGuard
from fleet.host.kernel_values import Governors, HugePages
from fleet.host.manager import Manager
from fleet.host.mounts import Mounts
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
