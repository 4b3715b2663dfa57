"""The image's name in the cache changes with whatever decides its bytes."""

from dataclasses import replace
from pathlib import Path

import pytest

from virtual import host, recipe
from virtual.computer import SAME_PLACES
from virtual.errors import LabError
from virtual.recipe import GuestFile, Recipe


@pytest.fixture
def current() -> Recipe:
    return recipe.current()


def test_the_same_inputs_have_the_same_key(current: Recipe) -> None:
    assert recipe.current().key == current.key


def test_a_package_changes_the_debian_and_the_image(current: Recipe) -> None:
    other = replace(current, packages=(*current.packages, "docker.io"))
    assert other.debian_key != current.debian_key
    assert other.key != current.key


@pytest.mark.parametrize("change", [{"content": b"x"}, {"executable": True}, {"path": "etc/other"}])
def test_a_guest_file_changes_the_image_alone(current: Recipe, change: dict[str, object]) -> None:
    first: GuestFile = replace(current.files[0], **change)  # type: ignore[arg-type]
    other = replace(current, files=(first, *current.files[1:]))
    assert other.debian_key == current.debian_key
    assert other.key != current.key


def test_a_script_changes_the_image(current: Recipe, tmp_path: Path) -> None:
    script = tmp_path / "customize.sh"
    script.write_text(current.customize.read_text() + "\n")
    assert replace(current, customize=script).key != current.key


def test_the_stand_in_is_installed_as_ollama(current: Recipe) -> None:
    assert [file.executable for file in current.files if file.path == "usr/local/bin/ollama"] == [True]


def test_a_missing_stand_in_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(recipe, "HERE", tmp_path)
    with pytest.raises(LabError, match="the image needs the lab's Ollama stand-in"):
        recipe.current()


def test_the_host_packages_are_those_of_the_programs() -> None:
    listed = (recipe.HERE / "host-packages.txt").read_text().split()
    for_tests = {"netplan.io", "grub2-common", "kmod"}
    assert set(listed) == {*host.PACKAGE_OF.values(), host.KEYRING.stem.removesuffix(".gpg")} | for_tests


def test_missing_programs_are_named_by_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_SEARCH", "/nowhere")
    with pytest.raises(LabError) as refusal:
        host.require(("qemu-img", "mke2fs"))
    assert refusal.value.message == "missing here: run `apt-get install e2fsprogs qemu-utils`"


def test_the_image_that_boots_by_grub_has_all_of_the_other_and_more(current: Recipe) -> None:
    """And the other one stays what it is, so that it is not built anew for it."""
    grub = recipe.current(by_grub=True)
    assert set(grub.packages) > set(current.packages)
    assert {file.path for file in grub.files} > {file.path for file in current.files}
    assert current.customize_grub is None
    assert grub.key != current.key
    menu = next(file.content.decode() for file in grub.files if file.path == "etc/default/grub")
    assert SAME_PLACES in menu
