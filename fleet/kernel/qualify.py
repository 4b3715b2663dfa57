"""Is a kernel that is tried good enough to become the default? Every check, whether it holds or not. Pure."""

from collections.abc import Iterable

from fleet.desired import DesiredSpark
from fleet.gpu import GpuAnswer, GpuState
from fleet.hardware import TWINS
from fleet.health import Finding, Verdict
from fleet.kernel.policy import KernelPolicy, matches
from fleet.kernel.running import Kernel
from fleet.plan import Plan, Refusals
from fleet.rdma_pin import RdmaPin
from fleet.record import Record, Unobserved

_ROCE_OF = {twin.interface: twin.rdma_device for twin in TWINS}


class Looked(Record):
    """What a Spark was looked at for, with the kernel that is tried."""

    kernel: Kernel | Unobserved
    gpu: GpuState | Unobserved
    pins: tuple[RdmaPin, ...] | Unobserved
    outcome: Plan | Refusals
    """The plan of all that the Spark is to be but its kernel: nothing must be due."""
    served: tuple[Finding, ...]
    """The health of what is served there."""


def qualified(desired: DesiredSpark, policy: KernelPolicy, looked: Looked) -> tuple[Finding, ...]:
    """Every check; the kernel has qualified where all of them are good."""
    host = desired.name
    found = [*_kernel(host, policy, looked.kernel), _gpu(host, looked.gpu)]
    found += _pins(desired, looked.pins)
    found.append(_as_desired(host, looked.outcome))
    return (*found, *looked.served)


def _kernel(host: str, policy: KernelPolicy, seen: Kernel | Unobserved) -> Iterable[Finding]:
    if isinstance(seen, Unobserved):
        yield checked("trial_kernel", f"{host} kernel", policy.release, seen)
        return
    yield checked("trial_kernel", f"{host} kernel", policy.release, seen.release)
    if policy.expected_page_size is not None:
        found = f"{seen.page_size_bytes} bytes"
        yield checked("trial_page_size", f"{host} page size", f"{policy.expected_page_size} bytes", found)
    words = [str(each) for each in seen.command_line.parameters]
    wrong = [f"no {word}" for word in policy.command_line.add if word not in words]
    wrong += [word for gone in policy.command_line.remove for word in words if matches(word, gone)]
    yield checked(
        "trial_command_line", f"{host} command line", "the words of the policy", ", ".join(wrong), bool(wrong)
    )


def _gpu(host: str, seen: GpuState | Unobserved) -> Finding:
    """Where nvidia-smi is not installed nobody computes; every other answer than GPUs is a fault of this kernel."""
    subject, expected = f"{host} gpu", "an answer of nvidia-smi"
    if isinstance(seen, Unobserved):
        return checked("trial_gpu", subject, expected, seen)
    is_good = seen.answer in (GpuAnswer.SEEN, GpuAnswer.NOT_INSTALLED)
    found = "it answers" if seen.answer is GpuAnswer.SEEN else f"nvidia-smi {seen.answer}"
    return checked("trial_gpu", subject, expected, found, not is_good)


def _pins(desired: DesiredSpark, seen: tuple[RdmaPin, ...] | Unobserved) -> Iterable[Finding]:
    """One for each device of a rail: joined from what should be there, so that a missing device fails."""
    for end in desired.rail_ends:
        device = _ROCE_OF[end.interface]
        subject, expected = f"{desired.name} {device} pin", "memory registered and let go"
        if isinstance(seen, Unobserved):
            yield checked("trial_rdma_pin", subject, expected, seen)
            continue
        pin = next((each for each in seen if each.device == device), None)
        found = "no such device" if pin is None else pin.error or f"{pin.size_bytes >> 20} MiB registered and let go"
        yield checked("trial_rdma_pin", subject, expected, found, pin is None or pin.error is not None)


def _as_desired(host: str, outcome: Plan | Refusals) -> Finding:
    subject, expected = f"{host} fabric and serving", "nothing due"
    if isinstance(outcome, Refusals):
        is_blind = all(each.code == "unobserved" for each in outcome.refusals)
        said = "; ".join(str(each) for each in outcome.refusals)
        found = Unobserved(reason=said) if is_blind else said
        return checked("trial_as_desired", subject, expected, found, True)
    due = "; ".join(each.subject for each in outcome.steps)
    return checked("trial_as_desired", subject, expected, due or "nothing due", bool(due))


def checked(code: str, subject: str, expected: str, found: str | Unobserved, is_bad: bool | None = None) -> Finding:
    """+ is_bad: whether what was found is a fault; where not given, whether it is another than what was expected."""
    if isinstance(found, Unobserved):
        return Finding(code=code, subject=subject, verdict=Verdict.UNOBSERVED, expected=expected, found=found.reason)
    differs = found != expected if is_bad is None else is_bad
    said = found or expected
    verdict = Verdict.DIFFERS if differs else Verdict.OK
    return Finding(code=code, subject=subject, verdict=verdict, expected=expected, found=said)
