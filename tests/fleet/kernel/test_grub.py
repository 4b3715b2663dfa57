"""What the next boot starts, by GRUB's own rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.kernel.grub import By, Menu, MenuEntry, entry_at, next_boot, selector_for
from fleet.kernel.grub_cfg import parse_grub_cfg
from fleet.kernel.grubenv import GrubEnvironment, parse_grubenv
from fleet.kernel.running import Parameter
from tests.conftest import CaseText
from tests.fleet.kernel.menus import NEW, OLD, UUID, entry, grub_cfg, selector

MENU = parse_grub_cfg(grub_cfg(NEW, OLD))
NAMES = st.text(st.sampled_from("ab 1->"), min_size=1, max_size=6)


def env(**values: str) -> GrubEnvironment:
    return GrubEnvironment(values=values)


def test_a_menu_is_read_with_its_submenus_and_ids() -> None:
    first, advanced, firmware = MENU.entries
    assert (first.title, first.id, first.release) == ("Ubuntu", f"gnulinux-simple-{UUID}", NEW)
    assert [each.release for each in advanced.entries or ()] == [NEW, NEW, OLD, OLD]
    assert (firmware.id, firmware.release, firmware.entries) == ("uefi-firmware", None, None)
    assert first.initrds == (f"/boot/initrd.img-{NEW}",)
    assert [str(each.name) for each in first.parameters] == ["root", "ro", "quiet", "splash", "$vt_handoff"]
    assert first.parameters[0] == Parameter(name="root", value=f"UUID={UUID}")
    assert MENU.takes_one_shot
    assert MENU.default == "${saved_entry}"
    assert not MENU.saves_default
    assert parse_grub_cfg(grub_cfg(NEW, saves=True)).saves_default


@pytest.mark.parametrize(
    ("saved", "release", "pinned"),
    [
        (selector(OLD), OLD, True),
        (selector(NEW), NEW, True),
        (f"Advanced options for Ubuntu>Ubuntu, with Linux {OLD}", OLD, True),
        (f"gnulinux-advanced-{UUID}>Ubuntu, with Linux {OLD}", OLD, True),
        ("1>2", OLD, False),
        ("0x1>02", OLD, False),
        ("1", NEW, False),
        ("0", NEW, False),
        ("", NEW, False),
        (f"gnulinux-simple-{UUID}", NEW, False),
        (f"gnulinux-{OLD}-advanced-{UUID}", NEW, False),
        (f"gnulinux-advanced-{UUID}>gnulinux-6.17.0-1032-nvidia-advanced-{UUID}", NEW, False),
        (f"gnulinux-advanced-{UUID}", NEW, False),
        ("7", NEW, False),
        ("uefi-firmware", None, False),
        (OLD, NEW, False),
    ],
)
def test_what_a_saved_entry_starts(saved: str, release: str | None, pinned: bool) -> None:
    """Also where it names a release: one that is not found by its whole path is entry 0, and nobody is told."""
    found = next_boot(MENU, env(saved_entry=saved))
    assert (found.source, found.release, found.is_pinned) == ("saved", release, pinned)


def test_a_one_shot_comes_first_and_is_found_by_the_same_rules() -> None:
    found = next_boot(MENU, env(saved_entry=selector(NEW), next_entry=selector(OLD)))
    assert (found.source, found.release) == ("one_shot", OLD)
    gone = next_boot(MENU, env(saved_entry=selector(OLD), next_entry="gone"))
    assert (gone.source, gone.release, gone.by) == ("one_shot", NEW, (By.NOTHING,))


def test_a_default_of_the_file_leaves_the_saved_entry_unread() -> None:
    menu = parse_grub_cfg(grub_cfg(NEW, OLD, default="0"))
    assert next_boot(menu, env(saved_entry=selector(OLD))).release == NEW
    named = parse_grub_cfg(grub_cfg(NEW, OLD, default=selector(OLD)))
    assert next_boot(named, env()).is_pinned


def test_a_release_is_not_the_one_whose_name_goes_on() -> None:
    """6.17.0-1031-nvidia and 6.17.0-1031-nvidia-64k stand in one menu, and only the whole name counts."""
    menu = parse_grub_cfg(grub_cfg(f"{OLD}-64k", OLD))
    assert selector_for(menu, OLD) == selector(OLD)
    assert selector_for(menu, f"{OLD}-64k") == selector(f"{OLD}-64k")
    for release in (OLD, f"{OLD}-64k"):
        found = next_boot(menu, env(saved_entry=str(selector_for(menu, release))))
        assert (found.release, found.is_pinned) == (release, True)


def test_the_selector_of_a_release_that_is_not_there_yet_is_what_it_will_be() -> None:
    before, after = parse_grub_cfg(grub_cfg(OLD)), parse_grub_cfg(grub_cfg(NEW, OLD))
    assert selector_for(before, NEW) == selector_for(after, NEW) == selector(NEW)
    assert entry_at(before, selector(NEW)) is None
    assert entry_at(after, selector(NEW)) is not None
    assert selector_for(Menu(entries=(), default=None, takes_one_shot=False), NEW) is None


def test_without_submenus_the_selector_is_one_id() -> None:
    menu = parse_grub_cfg(entry(NEW, "ro") + entry(OLD, "ro"))
    assert selector_for(menu, OLD) == f"gnulinux-{OLD}-advanced-{UUID}"
    assert menu.default is None
    assert next_boot(menu, env(saved_entry="x", next_entry="y")).release == NEW


def test_quotes_in_titles_and_words() -> None:
    text = "menuentry 'Ada'\\''s own' --id \"mine\" --users root {\n linux (hd0,gpt2)/vmlinuz-1.2 a=\"b c\" 'd e'\n}\n"
    (own,) = parse_grub_cfg(text).entries
    assert (own.title, own.id, own.release) == ("Ada's own", "mine", "1.2")
    assert own.parameters == (Parameter(name="a", value="b c"), Parameter(name="d e"))


@pytest.mark.parametrize(
    "text", ["menuentry 'a' {\n", "}\n", "menuentry 'a {\n}\n", "menuentry {\n}\n", "menuentry 'a'\n{\n}\n"]
)
def test_a_menu_that_cannot_be_read_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"grub\.cfg"):
        parse_grub_cfg(text)


def test_an_environment_block(case: CaseText) -> None:
    found = parse_grubenv(case("117", "input.grubenv"))
    assert found.saved_entry == selector(OLD)
    assert found.next_entry is None
    assert "x" not in found.values


def test_a_value_with_a_line_break_hides_no_entry() -> None:
    block = "# GRUB Environment Block\nsaved_entry=a\\\nnext_entry=b\\\\c\nnext_entry=real\n"
    found = parse_grubenv(block + "#" * (1024 - len(block)))
    assert found.saved_entry == "a\nnext_entry=b\\c"
    assert found.next_entry == "real"


def test_a_block_that_grub_would_refuse_is_no_environment() -> None:
    with pytest.raises(ValueError, match="grubenv"):
        parse_grubenv("saved_entry=0\n")
    assert parse_grubenv("") == GrubEnvironment()


@st.composite
def menus(draw: st.DrawFn, depth: int = 2) -> tuple[MenuEntry, ...]:
    def one() -> MenuEntry:
        below = draw(menus(depth - 1)) if depth and draw(st.booleans()) else None
        return MenuEntry(title=draw(NAMES), id=draw(st.none() | NAMES), entries=below)

    return tuple(one() for _ in range(draw(st.integers(1, 3))))


@given(menus(), st.text(st.sampled_from("ab 1>-"), max_size=12))
def test_any_selector_starts_something(entries: tuple[MenuEntry, ...], saved: str) -> None:
    """A menu always boots; and what is found by name alone does not move when another entry comes before it."""
    menu = Menu(entries=entries, default="${saved_entry}", takes_one_shot=False)
    found = next_boot(menu, env(saved_entry=saved))
    assert found.entry is not None
    if all(each is By.NAME for each in found.by):
        more = menu.replaced(entries=(MenuEntry(title="another"), *entries))
        assert next_boot(more, env(saved_entry=saved)).path == found.path


@given(st.text(st.characters(codec="ascii")))
def test_any_text_is_a_menu_or_a_value_error(text: str) -> None:
    try:
        parse_grub_cfg(text)
    except ValueError:
        return
