"""What a trial of a kernel is going to do, as a document that somebody looks at and approves. Pure."""

from collections.abc import Iterator
from typing import Literal

from fleet.desired import DesiredSpark
from fleet.kernel.policy import KernelPolicy
from fleet.kernel.trial import Entry, First, Phase, Standing
from fleet.kernel.words import Release
from fleet.record import Digest, Record
from fleet.target import Target


class HostTrial(Record):
    """What is done on one Spark."""

    host: str
    release: Release
    fallback: Release
    running: Release
    begins: Phase
    """`drain`; or `qualify` where the kernel was booted before, and a trial was cut off."""
    entry: Entry
    policy: Digest
    """Of the policy that it is about."""
    drains: bool
    """Does anything serve there that requests may run on?"""
    checks: tuple[str, ...]
    """What must hold before the kernel becomes the default, in words."""

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What follows what, where all goes well."""
        order = (Phase.DRAIN, Phase.BOOT, Phase.QUALIFY, Phase.PERSIST)
        return tuple(each for each in order[order.index(self.begins) :] if self.drains or each is not Phase.DRAIN)

    def lines(self) -> Iterator[str]:
        """As people read it."""
        for phase in self.phases:
            yield f"{self.host}: {phase}: {_SAYS[phase].format(trial=self)}"
            if phase is Phase.QUALIFY:
                yield from (f"{self.host}:   {check}" for check in self.checks)


_SAYS = {
    Phase.DRAIN: "wait until no request runs; none is stopped",
    Phase.BOOT: "boot {trial.release} once; the default stays {trial.fallback}, which a power cycle returns to",
    Phase.QUALIFY: "each of these holds, or it is booted into {trial.fallback} again:",
    Phase.PERSIST: "make {trial.release} the default; {trial.fallback} stays installed",
}


class TrialPlan(Record):
    """The trial of a target: one Spark after the other, and no further one where one did not end well."""

    format: Literal[1] = 1
    target: Target
    hosts: tuple[HostTrial, ...]
    """In their order, those that have booted it already first; without those that run the kernel as their default."""

    @property
    def is_noop(self) -> bool:
        """Is there nothing to try?"""
        return not self.hosts

    @property
    def steps(self) -> tuple[Phase, ...]:
        """Every phase on every Spark."""
        return tuple(phase for each in self.hosts for phase in each.phases)

    @property
    def text(self) -> str:
        """As people read it."""
        lines = [line for each in self.hosts for line in each.lines()] or ["nothing to try"]
        return "\n".join([*lines, f"plan {self.digest} for {self.target}"])


def host_trial(desired: DesiredSpark, policy: KernelPolicy, seen: Standing, first: First) -> HostTrial:
    """What is done on a Spark whose trial may begin."""
    assert policy.fallback is not None, "expected a fallback where a trial may begin"
    return HostTrial(
        host=seen.host,
        release=policy.release,
        fallback=policy.fallback,
        running=seen.running,
        begins=first.phase,
        entry=first.entry,
        policy=policy.digest,
        drains=desired.ollama is not None,
        checks=tuple(_checks(desired, policy)),
    )


def _checks(desired: DesiredSpark, policy: KernelPolicy) -> Iterator[str]:
    words = " ".join(policy.command_line.add)
    yield f"{policy.release} runs" + (f", with {words} on its command line" if words else "")
    yield "the GPU answers, where the host has nvidia-smi"
    if desired.rail_ends:
        yield "each RDMA device of a rail pins memory"
        yield "the fabric is as desired"
    if desired.ollama is not None:
        yield "what is served is as desired, and answers"
