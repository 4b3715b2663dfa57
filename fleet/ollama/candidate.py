"""What of a deployment goes together, as candidates: one for each model that is served. Pure."""

from fleet.candidate.incompatible import KNOWN
from fleet.candidate.join import Asked, DeploymentCandidate, candidate
from fleet.candidate.legs import (
    ArtifactRuntimeCompatibility,
    ParallelStrategyFeasibility,
    RuntimeHostKernelCompatibility,
    Transport,
)
from fleet.evidence import FitSubject, Served
from fleet.record import canonical_json, sha256_digest
from fleet.refusal import Refusal


def candidate_of(subject: FitSubject, served: Served, source: str) -> DeploymentCandidate | tuple[Refusal, ...]:
    """The candidate, or what is known against it: that wins over whatever says for it.

    + source: what says that it goes together: the digest of evidence of exactly this subject, which was loaded and
      well, or that somebody has admitted it for a first time
    """
    (host,) = subject.hosts
    environment = sha256_digest(canonical_json(subject.settings).encode())
    asked = Asked(
        artifact=served.artifact,
        runtime=subject.runtime,
        environment=environment,
        hosts=(host.name,),
        release=host.release,
        command_line=frozenset(host.set_apart),
        split=subject.split,
        transport=Transport.NONE,
    )
    artifact, runtime = served.artifact.digest, subject.runtime.digest
    return candidate(
        asked,
        (
            ArtifactRuntimeCompatibility(source=source, artifact=artifact, runtime=runtime),
            RuntimeHostKernelCompatibility(
                source=source, runtime=runtime, environment=environment, hosts=(host.name,), release=host.release
            ),
            ParallelStrategyFeasibility(source=source, artifact=artifact, runtime=runtime, split=subject.split),
        ),
        KNOWN,
    )
