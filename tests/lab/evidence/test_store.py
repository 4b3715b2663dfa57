"""A folder of evidence: written once and whole, never over what is there; what was changed is named and is none."""

import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from fleet.evidence import FitEvidence, file_of
from fleet.fit.admission import Admission
from lab.command import Failed
from lab.evidence import command
from lab.evidence.store import admission_in, put, read_store
from tests.fleet.test_evidence import evidence


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "evidence"


def kept(folder: Path, *names: str) -> tuple[FitEvidence, ...]:
    found = tuple(evidence(name) for name in names)
    for each in found:
        put(folder, each)
    return found


def test_what_is_kept_is_found_by_its_subject_and_is_its_owners_alone(folder: Path) -> None:
    (one,) = kept(folder, "chat")
    assert read_store(folder).admission.evidence == {one.subject.digest: one.digest}
    assert admission_in(folder).evidence == {one.subject.digest: one.digest}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (file,) = folder.iterdir()
    assert (file.name, stat.S_IMODE(file.stat().st_mode)) == (file_of(one.digest), 0o600)


def test_the_same_once_more_is_nothing_new(folder: Path) -> None:
    (one,) = kept(folder, "chat")
    before = (folder / file_of(one.digest)).stat()
    put(folder, one)
    after = (folder / file_of(one.digest)).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_what_is_there_is_never_written_over(folder: Path) -> None:
    (one,) = kept(folder, "chat")
    file = folder / file_of(one.digest)
    file.write_bytes(b"somebody's")
    with pytest.raises(Failed, match="never written over"):
        put(folder, one)
    assert file.read_bytes() == b"somebody's"
    assert len(list(folder.iterdir())) == 1


def test_what_a_dead_process_was_writing_is_in_nobodys_way(folder: Path) -> None:
    (one,) = kept(folder, "chat")
    (folder / f".{file_of(one.digest)}.{os.getpid()}.new").write_bytes(b"half of")
    (folder / file_of(one.digest)).unlink()
    put(folder, one)
    assert read_store(folder).evidence == (one,)
    assert read_store(folder).broken == ()


def test_what_was_changed_is_named_and_no_evidence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = kept(folder, "chat", "code")
    (folder / file_of(one.digest)).write_bytes(one.canonical.encode()[:-1])
    found = admission_in(folder)
    assert found.evidence == {other.subject.digest: other.digest}
    said = capsys.readouterr().err
    assert said.startswith(f"{folder}/{file_of(one.digest)}: expected the content that its name is the digest of")
    assert said.endswith("it is no evidence\n")
    assert admission_in(folder) == found
    assert capsys.readouterr().err == "", "a run reads its site several times, and says it once"


def test_what_is_no_file_or_has_another_name_is_named(folder: Path) -> None:
    (one,) = kept(folder, "chat")
    (folder / "notes.txt").write_text("x")
    (folder / file_of("sha256:" + "0" * 64)).symlink_to(folder / file_of(one.digest))
    (folder / file_of("sha256:" + "1" * 64)).mkdir()
    store = read_store(folder)
    assert store.evidence == (one,)
    found = sorted(each.found for each in store.broken)
    assert found == ["a folder, device or pipe", "a symbolic link", "another name"]


def test_where_there_is_no_folder_there_is_no_evidence(folder: Path) -> None:
    assert read_store(folder).evidence == ()
    assert not folder.exists()


def test_a_folder_that_others_may_write_gets_none(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(Failed, match="expected a folder for its owner alone"):
        put(folder, evidence())


def test_what_is_no_folder_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.write_text("x")
    with pytest.raises(Failed, match="expected a folder for evidence"):
        read_store(folder)
    assert admission_in(folder) == Admission()
    assert "none of it is evidence" in capsys.readouterr().err


def test_the_first_evidence_of_a_subject_stands(folder: Path) -> None:
    """What is measured again is kept too, and moves no plan that names the first."""
    one, other = kept(folder, "chat", "talk")
    assert one.subject == other.subject
    first = min((one, other), key=lambda each: (each.measured_at, file_of(each.digest)))
    assert read_store(folder).admission.evidence == {one.subject.digest: first.digest}


def sparks(folder: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(command.evidence, [*arguments, "--evidence", str(folder)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_list_show_and_verify(folder: Path) -> None:
    (one,) = kept(folder, "chat")
    status, listed = sparks(folder, "list")
    assert status == 0
    assert "chat        srv5" in listed
    status, shown = sparks(folder, "show", one.digest[:20])
    assert status == 0
    assert f"evidence    {one.digest}" in shown
    assert "OLLAMA_NUM_PARALLEL=2" in shown
    assert "MemAvailable" in shown
    assert sparks(folder, "show", "--json", one.digest.removeprefix("sha256:"))[0] == 0
    assert sparks(folder, "verify") == (0, "1 as written\n")


def test_verify_fails_with_every_file_that_is_not_as_it_was_written(folder: Path) -> None:
    one, _ = kept(folder, "chat", "code")
    (folder / file_of(one.digest)).write_bytes(b"")
    status, said = sparks(folder, "verify")
    assert status == 1
    assert said.startswith(f"{file_of(one.digest)}: expected the content that its name is the digest of, found sha256:")
    assert said.endswith("1 as written\n")
    assert sparks(folder, "verify", "--json")[0] == 1
    assert "it is no evidence" in sparks(folder, "list")[1]


@pytest.mark.parametrize("wanted", ["", "sha256:", "0123", "no digest"])
def test_what_names_not_one_is_one_line(folder: Path, wanted: str) -> None:
    kept(folder, "chat", "code")
    status, said = sparks(folder, "show", wanted)
    assert status == 1
    assert "expected the digest of one evidence" in said


@pytest.mark.parametrize("names", [("chat", "chat"), ("code", "chat"), ("chat", "code")])
def test_of_one_moment_what_did_not_fit_is_the_last_word(folder: Path, names: tuple[str, str]) -> None:
    """However the files are called, and so sorted."""
    fitted, other = map(evidence, names)
    put(folder, fitted)
    put(folder, other.replaced(kind="no fit", said="out of memory"))
    assert (read_store(folder).admission.evidence, len(read_store(folder).admission.refuted)) == ({}, 1)


def test_a_digest_is_taken_as_the_list_shows_it(folder: Path) -> None:
    (one,) = kept(folder, "chat")
    assert sparks(folder, "show", f"{one.digest[:19]}…")[0] == 0


@pytest.mark.parametrize("command", [("list",), ("verify",), ("verify", "--json"), ("list", "--json")])
def test_a_name_that_is_no_text_is_told_as_one(folder: Path, command: tuple[str, ...]) -> None:
    kept(folder, "chat")
    (folder / os.fsdecode(b"\xff\x1b[2J.json")).write_bytes(b"")
    status, said = sparks(folder, *command)
    assert status == (command[0] == "verify")
    assert "\x1b" not in said
    assert "another name" in said


def test_an_empty_folder_is_told(folder: Path) -> None:
    assert sparks(folder, "list") == (0, f"{folder}: no evidence\n")
    assert sparks(folder, "verify") == (0, "0 as written\n")
