"""The law of a host policy: what is planned and carried out leaves nothing, whatever policy was there before."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.host.decide import PARTS
from fleet.host.policy import HostPolicy
from fleet.observation import Observation, known
from fleet.step import Step
from tests.fleet.host import host

VALUES: dict[str, Any] = {
    "sysctls": st.dictionaries(st.sampled_from(["vm.swappiness", "vm/dirty_ratio", "kernel.panic"]), st.integers(0, 9)),
    "huge_pages": st.fixed_dictionaries({}, optional={
        "enabled": st.sampled_from(["always", "madvise", "never"]), "defrag": st.sampled_from(["always", "never"]),
    }),
    "governor": st.sampled_from(["performance", "schedutil"]),
    "swap": st.fixed_dictionaries({"size_gib": st.just(8)}),
    "units": st.dictionaries(st.sampled_from(["cups.service", "bluetooth.service", "none.service"]),
                             st.sampled_from(["disabled", "masked"])),
    "time_sync": st.just("timesyncd"),
    "time_servers": st.lists(st.sampled_from(["ntp1.lab", "192.0.2.7"]), unique=True),
    "default_target": st.sampled_from(["multi-user.target", "graphical.target"]),
    "watchdog": st.fixed_dictionaries({"seconds": st.integers(5, 600)}),
    "oom_protected": st.lists(st.sampled_from(["ssh.service", "tailscaled.service", "cups.service"]), unique=True),
    "memory_guard": st.fixed_dictionaries({"startup_gib": st.integers(3, 9), "steady_gib": st.just(3),
                                           "container": st.sampled_from(["vllm", "lane"])}),
    "remove_ipc": st.just(False),
    "linger": st.lists(st.sampled_from(["spark", "ada"]), unique=True),
    "mounts": st.dictionaries(st.sampled_from(["/mnt/models", "/srv/a b"]),
                              st.fixed_dictionaries({"source": st.sampled_from(["nas:/models", "[fd00::1]:/x y"])})),
}  # fmt: skip
spelled = st.fixed_dictionaries({}, optional=VALUES)


def policy(values: dict[str, Any]) -> HostPolicy:
    return HostPolicy.model_validate(
        values
        | {name: tuple(values.get(name, ())) for name in ("oom_protected", "linger", "time_servers")}
        | ({"time_sync": "timesyncd"} if values.get("time_servers") else {})
    )


def steps(wish: HostPolicy, seen: Observation) -> list[Step]:
    found = [each for decide in PARTS.values() for each in decide(wish, seen)]
    assert all(isinstance(each, Step) for each in found), found
    return [each for each in found if isinstance(each, Step)]


def carried_out(wish: HostPolicy, seen: Observation) -> Observation:
    for step in steps(wish, seen):
        seen = host.applied(step, seen)
    return seen


def both(one: dict[str, Any], other: dict[str, Any]) -> HostPolicy:
    """What looks of either ask for."""
    joined = {**one, **other}
    for name in ("sysctls", "units", "mounts"):
        joined[name] = one.get(name, {}) | other.get(name, {})
    for name in ("oom_protected", "linger"):
        joined[name] = list(dict.fromkeys([*one.get(name, []), *other.get(name, [])]))
    joined["time_sync"] = "timesyncd"
    return policy(joined)


@settings(max_examples=60, deadline=None)
@given(spelled, spelled)
def test_what_is_carried_out_leaves_nothing_whatever_was_there(one: dict[str, Any], other: dict[str, Any]) -> None:
    seen = host.with_desktop("a", both(one, other))
    for values in (one, other, other):
        seen = carried_out(policy(values), seen)
        assert steps(policy(values), seen) == []


@settings(max_examples=20, deadline=None)
@given(spelled)
def test_an_empty_policy_takes_every_file_of_ours_away(values: dict[str, Any]) -> None:
    seen = carried_out(policy(values), host.with_desktop("a", policy(values)))
    gone = carried_out(HostPolicy(), seen)
    assert known(gone.host_files).files == ()
    assert not [each for each in known(gone.mounts).fstab if each.ours]
