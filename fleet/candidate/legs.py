"""What is known to go together, each about exact digests and an exact set of Sparks."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from fleet.fit.demand import Split
from fleet.record import Digest, Record
from fleet.spark import HostName

Hosts = Annotated[tuple[HostName, ...], Field(min_length=1)]
"""In the order of their ranks."""


class Transport(StrEnum):
    """How ranks reach each other."""

    NONE = "none"
    """One Spark needs none."""
    TCP = "tcp"
    RDMA = "rdma"
    GPUDIRECT = "gpudirect"


class Leg(Record):
    """One thing that is known."""

    source: str
    """Whence: the digest of evidence, a document with its date."""


class ArtifactRuntimeCompatibility(Leg):
    """This runtime loads this artefact."""

    artifact: Digest
    runtime: Digest


class RuntimeHostKernelCompatibility(Leg):
    """This runtime, in this environment, has kernels for the GPU of these Sparks under this kernel release."""

    runtime: Digest
    environment: Digest
    """Of the effective environment: a variable can choose another kernel of the same image."""
    hosts: Hosts
    release: str


class ParallelStrategyFeasibility(Leg):
    """This artefact can be split like this by this runtime."""

    artifact: Digest
    runtime: Digest
    split: Split


class TransportFeasibility(Leg):
    """These Sparks reach each other like this, under this kernel release."""

    hosts: Hosts
    transport: Transport
    release: str


AnyLeg = (
    ArtifactRuntimeCompatibility | RuntimeHostKernelCompatibility | ParallelStrategyFeasibility | TransportFeasibility
)
