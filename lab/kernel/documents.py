"""What `sparks kernel trial` and `sparks kernel show` found, as documents."""

from collections.abc import Iterator

from fleet.health import Finding
from fleet.kernel.trial import Phase
from fleet.kernel.words import Release
from fleet.outcome import Outcome
from fleet.record import Digest, Record
from fleet.refusal import Refusal


class HostEnd(Record):
    """How it stands with one Spark of a trial."""

    host: str
    phase: Phase
    says: str
    """The same in words, and how to go on."""


class Tried(Record):
    """`sparks kernel trial --json`."""

    target: str
    plan: Digest | None
    """None where there was none, since it was refused."""
    outcome: Outcome
    reason: str | None
    hosts: tuple[HostEnd, ...]
    """Those that it came to."""
    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...]
    """What the kernel was held against, on the last Spark that it came to."""
    receipt: str | None
    """None where the target is none, so that no run was begun."""


class Shown(Record):
    """The kernel of one Spark."""

    host: str
    running: Release
    default: Release | None
    """None where that is no kernel that is known."""
    is_pinned: bool
    """Is the default named, so that another kernel in the menu does not move it?"""
    one_shot: str | None
    next_boot: Release | None
    policy: Release | None
    """What the roster wants to run; None without a policy."""
    fallback: Release | None
    fallback_missing: str | None
    """What a boot of the fallback would lack, empty where nothing; None without a fallback."""
    held: tuple[str, ...]
    """Packages that apt does not move."""

    def lines(self) -> Iterator[str]:
        """As people read it."""
        by = "by its name" if self.is_pinned else "by its place in the menu, which another kernel moves"
        without = f", without {self.fallback_missing}" if self.fallback_missing else ""
        rows = (
            ("running", self.running),
            ("default", f"{self.default or 'no kernel that is known'}, {by}"),
            ("one-shot", self.one_shot or "none"),
            ("next boot", self.next_boot or "no kernel that is known"),
            ("policy", self.policy or "none"),
            ("fallback", f"{self.fallback or 'none'}{without}"),
            ("held", ", ".join(self.held) or "none"),
        )
        yield from (f"{self.host}  {name:<10} {value}" for name, value in rows)


class ShowDocument(Record):
    """`sparks kernel show --json`."""

    target: str
    hosts: tuple[Shown, ...]
    refusals: tuple[Refusal, ...]
    """Of Sparks that could not be observed."""

    @property
    def text(self) -> str:
        """As people read it."""
        return "\n".join(line for each in self.hosts for line in each.lines())
