"""A candidate is there where every leg is, about exactly the same things; else each missing one is refused by name."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fleet.candidate.identity import OllamaManifest, Runtime, RuntimeIdentity
from fleet.candidate.incompatible import KNOWN, Incompatible
from fleet.candidate.join import Asked, DeploymentCandidate, candidate
from fleet.candidate.legs import (
    AnyLeg,
    ArtifactRuntimeCompatibility,
    ParallelStrategyFeasibility,
    RuntimeHostKernelCompatibility,
    Transport,
    TransportFeasibility,
)
from fleet.fit.demand import Split
from fleet.record import sha256_digest

A, B, E = (sha256_digest(each) for each in (b"a", b"b", b"e"))
PAIR = Asked(
    artifact=OllamaManifest(manifest_digest=A),
    runtime=RuntimeIdentity(runtime=Runtime.VLLM, form="image", content_digest=B),
    environment=E,
    hosts=("a", "b"),
    release="6.17.0-1031-nvidia",
    split=Split(kind="tensor", ranks=2),
    transport=Transport.RDMA,
)
CODES = {
    ArtifactRuntimeCompatibility: "artifact_present_but_no_admitted_runtime",
    RuntimeHostKernelCompatibility: "kernel_dispatch_unsupported",
    ParallelStrategyFeasibility: "parallel_strategy_infeasible",
    TransportFeasibility: "transport_unavailable",
}


def legs(asked: Asked = PAIR) -> tuple[AnyLeg, ...]:
    """All that must be known of what is asked."""
    artifact, runtime = asked.artifact.digest, asked.runtime.digest
    return (
        ArtifactRuntimeCompatibility(source="s", artifact=artifact, runtime=runtime),
        RuntimeHostKernelCompatibility(
            source="s", runtime=runtime, environment=asked.environment, hosts=asked.hosts, release=asked.release
        ),
        ParallelStrategyFeasibility(source="s", artifact=artifact, runtime=runtime, split=asked.split),
        TransportFeasibility(source="s", hosts=asked.hosts, transport=asked.transport, release=asked.release),
    )


def codes(asked: Asked, known: Any, *more: Incompatible) -> list[str]:
    found = candidate(asked, known, (*KNOWN, *more))
    return [] if isinstance(found, DeploymentCandidate) else [each.code for each in found]


def test_with_every_leg_there_is_a_candidate() -> None:
    assert codes(PAIR, legs()) == []


@given(st.sets(st.sampled_from(range(4)), min_size=1))
def test_each_missing_leg_is_refused_by_its_own_name(missing: set[int]) -> None:
    known = [each for at, each in enumerate(legs()) if at not in missing]
    assert codes(PAIR, known) == [CODES[type(legs()[at])] for at in sorted(missing)]


def test_one_spark_needs_no_transport() -> None:
    alone = PAIR.replaced(hosts=("a",), split=Split(kind="tensor"), transport=Transport.NONE)
    assert codes(alone, legs(alone)[:3]) == []


OTHERS: dict[str, Any] = {
    "artifact": OllamaManifest(manifest_digest=B),
    "runtime": RuntimeIdentity(runtime=Runtime.VLLM, form="image", content_digest=A),
    "environment": A,
    "hosts": ("a", "c"),
    "release": "7.0.0-1020-nvidia",
    "split": Split(kind="layers", ranks=2),
    "transport": Transport.TCP,
}


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_carries_over_to_another(name: str) -> None:
    other = PAIR.replaced(**{name: OTHERS[name]})
    assert codes(other, legs(PAIR))
    assert codes(other, legs(other)) == []


def test_one_runtime_says_nothing_about_another_that_has_it_inside() -> None:
    ollama = PAIR.replaced(
        runtime=RuntimeIdentity(runtime=Runtime.OLLAMA, form="executable", content_digest=B),
        hosts=("a",), split=Split(kind="whole"), transport=Transport.NONE,
    )  # fmt: skip
    for other in (Runtime.LLAMA_CPP, Runtime.LLAMA_CPP_RPC):
        asked = ollama.replaced(runtime=ollama.runtime.replaced(runtime=other))
        assert "artifact_present_but_no_admitted_runtime" in codes(asked, legs(ollama)[:3])


def test_kernel_dispatch_is_refused_for_exactly_this_image_and_environment() -> None:
    lacking = Incompatible(runtime=PAIR.runtime.digest, environment=E, effect="no kernel image", source="a lab's own")
    (refusal,) = candidate(PAIR, legs(), (lacking,))
    assert str(refusal) == (
        f"a, b vllm image {B} in environment {E}: expected things that go together, "
        "found no kernel image (a lab's own) [kernel_dispatch_unsupported]"
    )
    for name, other in (("environment", A), ("runtime", OTHERS["runtime"])):
        asked = PAIR.replaced(**{name: other})
        assert codes(asked, legs(asked), lacking) == []


@pytest.mark.parametrize("release", ["7.0.0-1019-nvidia", "7.0.0-1019-nvidia-64k"])
def test_kho_breaks_rdma_unless_it_is_off(release: str) -> None:
    asked = PAIR.replaced(release=release)
    assert codes(asked, legs(asked)) == ["transport_unavailable"]
    cured = asked.replaced(command_line=frozenset({"quiet", "kho=off"}))
    assert codes(cured, legs(cured)) == []
    tcp = asked.replaced(transport=Transport.TCP)
    assert codes(tcp, legs(tcp)) == []


def test_gpudirect_is_known_not_to_go_on_any_spark() -> None:
    asked = PAIR.replaced(transport=Transport.GPUDIRECT)
    assert codes(asked, legs(asked)) == ["transport_unavailable"]


def test_a_kernel_release_with_an_artefact_can_be_known_not_to_go() -> None:
    entry = Incompatible(artifact=PAIR.artifact.digest, release=PAIR.release, effect="it hangs", source="a lab's own")
    assert codes(PAIR, legs(), entry) == ["known_incompatible"]


IMPOSSIBLE: dict[str, tuple[Callable[[], Any], str]] = {
    "legs about another artefact": (
        lambda: _made(loads=legs(PAIR.replaced(artifact=OTHERS["artifact"]))[0]), "legs_of_another"),
    "no transport between two": (lambda: _made(reaches=None), "legs_of_another"),
    "two sparks without transport": (lambda: PAIR.replaced(transport=Transport.NONE), "transport_of_one"),
    "two ranks on one spark": (lambda: PAIR.replaced(hosts=("a",)), "ranks_and_hosts"),
    "an incompatibility of everything": (lambda: Incompatible(effect="e", source="s"), "incompatible_with_all"),
    "an environment without its runtime": (
        lambda: Incompatible(environment=E, release="r", effect="e", source="s"), "environment_of_none"),
}  # fmt: skip


def _made(**changes: Any) -> DeploymentCandidate:
    named = dict(zip(("loads", "runs", "splits", "reaches"), legs(), strict=True))
    return DeploymentCandidate(asked=PAIR, **(named | changes))


@pytest.mark.parametrize(("make", "code"), IMPOSSIBLE.values(), ids=list(IMPOSSIBLE))
def test_what_cannot_be_has_no_constructor(make: Callable[[], Any], code: str) -> None:
    with pytest.raises(ValidationError) as failure:
        make()
    assert code in [each["type"] for each in failure.value.errors()]


def test_every_known_incompatibility_says_whence() -> None:
    assert all(each.source and each.effect for each in KNOWN)
