"""An identity is exact: another file, another byte, another build or another kind of artefact is another one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from fleet.candidate.identity import (
    ArtifactFile,
    ArtifactIdentity,
    ClosedFiles,
    OllamaManifest,
    Runtime,
    RuntimeIdentity,
)
from fleet.record import sha256_digest

A = sha256_digest(b"a")
paths = st.from_regex(r"[a-z]{1,4}(/[a-z]{1,4})?", fullmatch=True)
files = st.builds(ArtifactFile, path=paths, size_bytes=st.integers(0, 9), content_digest=st.just(A))


@given(st.lists(files, min_size=1, max_size=5, unique_by=lambda each: each.path), st.randoms())
def test_the_order_of_files_is_no_part_of_it_and_each_file_is(listed: list[ArtifactFile], random: Any) -> None:
    whole = ClosedFiles(files=tuple(listed))
    random.shuffle(listed)
    assert ClosedFiles(files=tuple(listed)).digest == whole.digest
    assert whole.size_bytes == sum(each.size_bytes for each in listed)
    more = ArtifactFile(path="zz/zz/zz", size_bytes=0, content_digest=A)
    assert ClosedFiles(files=(*listed, more)).digest != whole.digest
    larger = listed[0].replaced(size_bytes=listed[0].size_bytes + 1)
    assert ClosedFiles(files=(larger, *listed[1:])).digest != whole.digest


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", "a\nb"])
def test_no_file_leaves_its_artefact(path: str) -> None:
    with pytest.raises(ValidationError, match="expected one inside the artefact"):
        ArtifactFile(path=path, size_bytes=1, content_digest=A)


def test_no_path_is_there_twice() -> None:
    twice = ArtifactFile(path="a", size_bytes=1, content_digest=A)
    with pytest.raises(ValidationError, match="expected each path once, found a"):
        ClosedFiles(files=(twice, twice.replaced(size_bytes=2)))


def test_a_manifest_and_files_are_two_forms_of_one_thing() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(ArtifactIdentity)
    for each in (OllamaManifest(manifest_digest=A), ClosedFiles(files=(ArtifactFile(path="a", size_bytes=1,
                                                                                   content_digest=A),))):  # fmt: skip
        assert adapter.validate_json(each.canonical) == each


@given(st.sampled_from(Runtime), st.sampled_from(Runtime))
def test_runtimes_are_different_whatever_is_inside(one: Runtime, other: Runtime) -> None:
    def identity(runtime: Runtime) -> RuntimeIdentity:
        return RuntimeIdentity(runtime=runtime, form="executable", content_digest=A)

    assert (identity(one).digest == identity(other).digest) == (one is other)
