"""What a policy may say: every wrong value names file, key, what was expected and what was found."""

from typing import Any

import pytest

from fleet.roster import Roster
from fleet.roster_error import RosterError


def read(policy: Any, name: str = "plain", spark_has: str = "plain") -> Roster:
    values = {"sparks": {"a": {"enrolled": True, "host": spark_has}}, "hosts": {name: policy}}
    return Roster.read(values, "group_data/x.py")


def test_sparks_share_a_policy_by_name() -> None:
    policy = read({"sysctls": {"vm.swappiness": 1}}).desired_for("a").host
    assert policy is not None
    assert policy.settings == {"vm/swappiness": "1"}


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"sysctl": {}}, "roster.hosts.plain.sysctl: expected no such key"),
        ({"sysctls": {"vm.*": 1}}, "expected a kernel setting as vm.watermark_boost_factor, found 'vm.*'"),
        ({"sysctls": {"swappiness": 1}}, "expected a kernel setting as vm.watermark_boost_factor"),
        ({"sysctls": {"vm.swappiness": True}}, "roster.hosts.plain.sysctls.vm.swappiness"),
        (
            {"sysctls": {"vm.swappiness": 1, "vm/swappiness": 1}},
            "expected one value for a setting, found vm.swappiness and vm/swappiness [sysctl_twice]",
        ),
    ],
)
def test_a_wrong_value_names_its_place(policy: Any, said: str) -> None:
    with pytest.raises(RosterError) as error:
        read(policy)
    assert all(line.startswith("group_data/x.py: roster.hosts") for line in error.value.lines)
    assert said in str(error.value)


def test_a_policy_that_nobody_has_written_is_named() -> None:
    with pytest.raises(RosterError, match=r"sparks\.a\.host: expected one of hosts \(plain\), found other"):
        read({}, spark_has="other")
