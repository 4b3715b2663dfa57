"""What was measured, and of exactly what: evidence carries over to nothing else.

That a deployment fitted once is evidence for the same Sparks, artefacts, build of the runtime, kernel and settings.
Where anything of these is another, there is none.
"""

import re
from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from fleet.candidate.identity import ArtifactIdentity, RuntimeIdentity
from fleet.fit.admission import Admission
from fleet.fit.demand import Split
from fleet.fit.instrument import Instrument
from fleet.fit.needs import Count
from fleet.instant import Instant
from fleet.receipt.name import ReceiptName
from fleet.record import Digest, Record, sha256_digest
from fleet.spark import HostName
from fleet.wall import wall


class HostSubject(Record):
    """One Spark, as far as memory depends on it."""

    name: HostName
    machine_id_digest: Digest | None
    """Another machine behind the same name is another one."""
    release: str
    page_size_bytes: Annotated[int, Field(gt=0)]
    set_apart: tuple[str, ...] = ()
    """The words of its kernel's command line that take memory away or give it back, as `kho=off`, sorted."""


class Served(Record):
    """One model as it is served."""

    artifact: ArtifactIdentity
    context: Count
    """Tokens of context of each slot."""
    slots: Count


def _sorted(served: tuple[Served, ...]) -> tuple[Served, ...]:
    return tuple(sorted(served, key=lambda each: each.canonical))


class FitSubject(Record):
    """Exactly what has fitted; its digest is what evidence is looked up by."""

    hosts: Annotated[tuple[HostSubject, ...], Field(min_length=1)]
    """In the order of their ranks."""
    runtime: RuntimeIdentity
    served: Annotated[tuple[Served, ...], Field(min_length=1), AfterValidator(_sorted)]
    """All that is served at once: they share the memory."""
    split: Split
    settings: dict[str, str]
    """Of the runtime, but for those that memory does not depend on."""

    @model_validator(mode="after")
    def _walls(self) -> Self:
        names = [each.name for each in self.hosts]
        if len(set(names)) != self.split.ranks or len(names) != self.split.ranks:
            raise wall("ranks_and_hosts", f"hosts: expected {self.split.ranks} sparks, found {', '.join(names)}")
        return self

    def differences(self, other: "FitSubject") -> tuple[str, ...]:
        """The fields in which another subject is another one, in words: `release of srv5`."""
        fields = [name.replace("_", " ") for name in ("runtime", "served", "split", "settings")
                  if getattr(self, name) != getattr(other, name)]  # fmt: skip
        theirs = {each.name: each for each in other.hosts}
        if list(theirs) != [each.name for each in self.hosts]:
            return ("hosts", *fields)
        return (
            *(f"{name.replace('_', ' ')} of {each.name}" for each in self.hosts
              for name in HostSubject.model_fields if getattr(each, name) != getattr(theirs[each.name], name)),
            *fields,
        )  # fmt: skip


class Measured(Record):
    """What one instrument said on one Spark, before and after. It is never added to what another said."""

    host: HostName
    instrument: Instrument
    before_bytes: Annotated[int, Field(ge=0)] | None
    """None where nobody had looked before."""
    after_bytes: Annotated[int, Field(ge=0)]

    @property
    def taken_bytes(self) -> int | None:
        """How much more is held after than before; None where nobody had looked before."""
        if self.before_bytes is None:
            return None
        grown = self.after_bytes - self.before_bytes
        return -grown if self.instrument.tells_free else grown


class FitEvidence(Record):
    """That something fitted: it was loaded as declared, and well, when this was measured; or that it did not."""

    format: Literal[1] = 1
    kind: Literal["fit", "no fit"] = "fit"
    said: str | None = None
    """Where it did not fit, how its engine said so."""
    deployment: str
    """As the roster called it then: for people, and no part of the subject."""
    subject: FitSubject
    measured: tuple[Measured, ...]
    measured_at: Instant
    measured_by: str
    """`user@controller`."""
    receipt: ReceiptName | None
    """Of the run that loaded it; None where it was found loaded."""

    @model_validator(mode="after")
    def _walls(self) -> Self:
        if (self.said is None) != self.fitted:
            raise wall(
                "fit_without_words", f"said: expected why it did not fit, and that alone, found kind {self.kind}"
            )
        pairs = [(each.host, each.instrument) for each in self.measured]
        hosts = {each.name for each in self.subject.hosts}
        if {host for host, _ in pairs} != hosts or len(set(pairs)) != len(pairs):
            raise wall("measured_elsewhere", "measured: expected each instrument once on each spark, found otherwise")
        return self

    @property
    def fitted(self) -> bool:
        """Did it?"""
        return self.kind == "fit"


def admission_of(evidence: Iterable[FitEvidence]) -> Admission:
    """What evidence lets be loaded and what it does not, the oldest first: the last word on each subject stands.

    Of several that say the same one after the other the first is named, so that to measure again moves no plan.
    """
    fits: dict[str, str] = {}
    refuted: dict[str, str] = {}
    for each in evidence:
        mine, other = (fits, refuted) if each.fitted else (refuted, fits)
        other.pop(each.subject.digest, None)
        mine.setdefault(each.subject.digest, each.digest)
    return Admission(evidence=fits, refuted=refuted)


_FILE = re.compile(r"sha256-([0-9a-f]{64})\.json")


class Broken(Record):
    """A file that is no evidence, since it is not as it was written; `str()` says why."""

    file: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.file}: expected {self.expected}, found {self.found}"


def file_of(digest: str) -> str:
    """The name of the file of evidence with this digest: `sha256sum` says the same."""
    return f"{digest.replace(':', '-')}.json"


def is_file_of(name: str) -> bool:
    """Is it the name of a file of evidence?"""
    return _FILE.fullmatch(name) is not None


def read_evidence(name: str, content: bytes) -> FitEvidence | Broken:
    """The evidence in a file; whatever was changed in it since, its name is not its digest any more."""
    found = sha256_digest(content)
    if file_of(found) != name:
        return Broken(file=name, expected="the content that its name is the digest of", found=found)
    try:
        evidence = FitEvidence.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        return Broken(file=name, expected="evidence of a fit", found=f"{place}: {first['msg']}")
    if evidence.canonical.encode() != content:
        return Broken(file=name, expected="evidence in its one spelling", found="another spelling")
    return evidence
