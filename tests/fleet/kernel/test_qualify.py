"""A kernel qualifies where every check holds; what could not be looked at does not hold."""

from typing import Any

import pytest

from fleet.gpu import GpuAnswer, GpuState
from fleet.health import Finding, Verdict
from fleet.kernel.policy import CommandLineWords, KernelPolicy
from fleet.kernel.qualify import Looked, qualified
from fleet.kernel.running import Kernel, parse_command_line
from fleet.observation import known
from fleet.plan import Refusals
from fleet.rdma_pin import RdmaPin
from fleet.record import Unobserved
from fleet.refusal import Refusal
from fleet.roster import Roster
from tests.fleet import observed
from tests.fleet.observed import plan_of
from tests.fleet.test_roster import GOOD

ROSTER = Roster.read(GOOD, "test")
A = ROSTER.desired_for("a")
DONE = observed.as_desired(A.rail_ends, "a")
OLD, NEW = "6.17.0-1031-nvidia", "7.0.0-1019-nvidia-64k"
POLICY = KernelPolicy(
    release=NEW, packages={f"linux-image-{NEW}": "7.0.0-1019.19~24.04.2"}, fallback=OLD,
    command_line=CommandLineWords(add=("kho=off",), remove=("splash",)),
)  # fmt: skip
KERNEL = Kernel(
    release=NEW,
    page_size_bytes=65536,
    command_line=parse_command_line("ro quiet kho=off"),
    boot_id="two",
    uptime_seconds=9,
)
PINS = tuple(
    RdmaPin(device=each.device, size_bytes=1 << 30, error=None) for each in known(observed.blank("a").roce_devices)
)
BLIND = Unobserved(reason="no answer")
WELL = Looked(
    kernel=KERNEL,
    gpu=GpuState(answer=GpuAnswer.SEEN, module="580.95.05", gpus=(), apps=()),
    pins=PINS,
    outcome=plan_of(ROSTER, {"a": DONE}),
    served=(),
)
REFUSED = Refusal(code="no_cable", subject="a rail 102", expected="a cable", found="none")
UNSEEN = Refusal(code="unobserved", subject="a links", expected="an observation", found="no answer")
ILL = Finding(code="process", subject="a ollama", verdict=Verdict.DIFFERS, expected="one process", found="none")


def bad(**changes: Any) -> list[tuple[str, Verdict]]:
    found = qualified(A, POLICY, WELL.replaced(**changes))
    return [(each.code, each.verdict) for each in found if not each.is_good]


def test_a_kernel_that_does_all_qualifies() -> None:
    found = qualified(A, POLICY, WELL)
    assert all(each.is_good for each in found)
    assert {each.code for each in found} == {
        "trial_kernel", "trial_page_size", "trial_command_line", "trial_gpu", "trial_rdma_pin", "trial_as_desired",
    }  # fmt: skip
    assert len([each for each in found if each.code == "trial_rdma_pin"]) == len(A.rail_ends) > 0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"kernel": KERNEL.replaced(release=OLD)}, [("trial_kernel", Verdict.DIFFERS)]),
        ({"kernel": KERNEL.replaced(page_size_bytes=4096)}, [("trial_page_size", Verdict.DIFFERS)]),
        ({"kernel": KERNEL.replaced(command_line=parse_command_line("ro kho=on"))},
         [("trial_command_line", Verdict.DIFFERS)]),
        ({"kernel": KERNEL.replaced(command_line=parse_command_line("ro kho=off splash=silent"))},
         [("trial_command_line", Verdict.DIFFERS)]),
        ({"kernel": BLIND}, [("trial_kernel", Verdict.UNOBSERVED)]),
        ({"gpu": GpuState(answer=GpuAnswer.NO_DRIVER, module=None, gpus=(), apps=())},
         [("trial_gpu", Verdict.DIFFERS)]),
        ({"gpu": GpuState(answer=GpuAnswer.NOT_INSTALLED, module=None, gpus=(), apps=())}, []),
        ({"gpu": BLIND}, [("trial_gpu", Verdict.UNOBSERVED)]),
        ({"pins": ()}, [("trial_rdma_pin", Verdict.DIFFERS)] * len(A.rail_ends)),
        ({"pins": BLIND}, [("trial_rdma_pin", Verdict.UNOBSERVED)] * len(A.rail_ends)),
        ({"pins": tuple(each.replaced(error="ibv_reg_mr: Cannot allocate memory") for each in PINS)},
         [("trial_rdma_pin", Verdict.DIFFERS)] * len(A.rail_ends)),
        ({"outcome": plan_of(ROSTER, {"a": observed.blank("a")})}, [("trial_as_desired", Verdict.DIFFERS)]),
        ({"outcome": Refusals(refusals=(REFUSED, UNSEEN))}, [("trial_as_desired", Verdict.DIFFERS)]),
        ({"outcome": Refusals(refusals=(UNSEEN,))}, [("trial_as_desired", Verdict.UNOBSERVED)]),
        ({"served": (ILL,)}, [("process", Verdict.DIFFERS)]),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_told_by_its_code(changes: dict[str, Any], expected: list[tuple[str, Verdict]]) -> None:
    assert bad(**changes) == expected


def test_a_device_that_is_missing_is_not_passed_over() -> None:
    """From what should be there to what is: a kernel without the driver has no device to ask."""
    found = [str(each) for each in qualified(A, POLICY, WELL.replaced(pins=())) if not each.is_good]
    assert all("expected memory registered and let go, found no such device [trial_rdma_pin]" in each for each in found)
