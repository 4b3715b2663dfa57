"""What a line of a receipt can say about one operation, one step, or one look."""

from pydantic import Field

from fleet.health import Finding
from fleet.receipt.events import Event
from fleet.record import Digest
from fleet.refusal import Refusal
from fleet.step import Effect


class _Operation(Event):
    host: str
    operation: str
    subject: str | None = None

    @property
    def about(self) -> str:
        """The subject, or the host and the operation."""
        return self.subject or f"{self.host} {self.operation}"


class OperationBegun(_Operation):
    """An operation is about to act: said before its first command. Without a line of its end it may have acted."""

    event = "operation_begun"

    def __str__(self) -> str:
        return f"{self.about}: begun"


class OperationDone(_Operation):
    """An operation ended well."""

    event = "operation_done"
    changed: bool

    def __str__(self) -> str:
        return f"{self.about}: {'done' if self.changed else 'nothing to do'}"


class OperationFailed(_Operation):
    """An operation ended otherwise; the host gets no further one."""

    event = "operation_failed"
    reason: str
    refusals: tuple[Refusal, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.about}: {self.reason}", *map(str, self.refusals)])


class Admitted(Event):
    """What is loaded there is admitted, and by what."""

    event = "admitted"
    host: str
    subject: Digest | None
    """What is loaded, exactly (`fleet.evidence.FitSubject`); None where the build of the runtime was not known yet."""
    evidence: Digest | None
    """That it has fitted; None for a first time, which somebody asked for."""

    def __str__(self) -> str:
        by = f"evidence {self.evidence}" if self.evidence else "whoever asked for a first time, without evidence"
        return f"{self.host} memory: {self.subject or 'a build that is not known yet'} admitted by {by}"


class Evidenced(Event):
    """What was loaded there fitted, and the evidence of it was kept."""

    event = "evidenced"
    host: str
    subject: Digest
    evidence: Digest

    def __str__(self) -> str:
        return f"{self.host} memory: {self.subject} fitted, evidence {self.evidence}"


class Refuted(Event):
    """What was to be loaded there did not fit, and the evidence of that was kept."""

    event = "refuted"
    host: str
    subject: Digest
    evidence: Digest

    def __str__(self) -> str:
        return f"{self.host} memory: {self.subject} did not fit, evidence {self.evidence}"


class StepBegun(Event):
    """A step of the plan is about to be carried out."""

    event = "step_begun"
    host: str
    kind: str
    subject: str
    before: str
    after: str
    effect: Effect

    def __str__(self) -> str:
        return f"{self.subject}: {self.before} -> {self.after} ({self.effect})"


class StepDone(Event):
    """A step was carried out and read back."""

    event = "step_done"
    host: str
    kind: str
    subject: str
    after: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.after}"


class Readback(Event):
    """A host was looked at again after acting."""

    event = "readback"
    host: str
    as_desired: bool
    observed: Digest | None = None
    """Of what was seen, without what changes by itself."""
    refusals: tuple[Refusal, ...] = ()

    def __str__(self) -> str:
        found = "as desired" if self.as_desired else "not as desired"
        return "\n".join([f"{self.host}: {found}", *map(str, self.refusals)])


class Replan(Event):
    """The target was planned again after acting."""

    event = "replan"
    plan: Digest | None = None
    steps: int = Field(ge=0)
    """How many are due; 0 is what converging means."""
    refusals: tuple[Refusal, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.steps or 'no'} step{'' if self.steps == 1 else 's'} due", *map(str, self.refusals)])


class Health(Event):
    """Everything about a host that must hold at the end."""

    event = "health"
    host: str
    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        """Does all of it hold?"""
        return all(each.is_good for each in self.findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings)) or f"{self.host}: nothing that must hold"


class Drained(Event):
    """No request ran for a while on exactly this invocation."""

    event = "drained"
    host: str
    runtime: str
    invocation: Digest
    instrument: str
    """What was asked whether a request runs: `established connections`, `vllm:num_requests_running`."""
    idle_seconds: float = Field(ge=0, allow_inf_nan=False)
    admitting: bool
    """Could new requests still come in meanwhile?"""

    def __str__(self) -> str:
        return f"{self.host} {self.runtime}: idle for {self.idle_seconds:g} s by {self.instrument} ({self.invocation})"
