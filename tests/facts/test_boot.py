"""The look at GRUB, below a directory of real files; sh itself says what /etc/default/grub means."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyinfra.api.exceptions import FactProcessError

from facts.boot import GrubBoot, SecureBoot
from facts.look import called, source_of
from facts.remote import grub as remote
from facts.remote import sh_values
from fleet.kernel.boot import Boot
from fleet.kernel.defaults import COMMON, LINES, NORMAL, TEXTS
from fleet.kernel.grub import entry_at, selector_for
from fleet.kernel.running import parse_command_line
from fleet.kernel.words import SECRET_PARAMETER
from tests.conftest import CaseText
from tests.fleet.kernel.menus import NEW, OLD, grub_cfg, selector

VARIABLES = {"lines": list(LINES), "texts": list(TEXTS)}
ARGUMENTS = {"variables": VARIABLES, "secret": SECRET_PARAMETER, "sh_values": source_of("sh_values")}
PIECES = st.sampled_from([
    "quiet", "a=1", " ", "  ", "'", '"', "\\", "\\\n", "\n", "$X", "${X}", "#", ";", 'b="c d"', "kho=on", '\\"', "=",
    "\t", "$(echo a b)", "`echo a | cat`", "${Y:-z}", "$((1 + (2)))", "(", ")", "`", "|",
])  # fmt: skip


def look(root: Path) -> Boot:
    """As a bundle takes it: the program itself, in a process of its own."""
    program = called(source_of("grub"), ARGUMENTS | {"root": str(root)})
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return GrubBoot().read(done.stdout)


def put(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_a_host_as_it_is(tmp_path: Path, case: CaseText) -> None:
    words = 'quiet my.token=abc "my_secret=a b" \'a psk=1\' net=http://u:p@h/ dyndbg="file x +p"'
    put(tmp_path, "boot/grub/grub.cfg", "password_pbkdf2 root grub.pbkdf2.x\n" + grub_cfg(NEW, OLD, words=words))
    put(tmp_path, "boot/grub/grubenv", case("117", "input.grubenv"))
    put(tmp_path, "etc/default/grub", case("117", "input.default-grub"))
    put(tmp_path, "etc/default/grub.d/50-a.cfg", case("117", "input.d-50.cfg"))
    put(tmp_path, "etc/default/grub.d/60-b.cfg.disabled", "GRUB_DEFAULT=0\n")
    found = look(tmp_path)
    assert (found.next.source, found.next.release, found.next.selector) == ("saved", OLD, selector(OLD))
    assert found.next.is_pinned
    assert found.default_once_made == found.default == found.next
    assert [each.path for each in found.defaults.files] == ["/etc/default/grub", "/etc/default/grub.d/50-a.cfg"]
    assert found.defaults.texts == {"GRUB_DEFAULT": "saved", "GRUB_TIMEOUT": "0"}
    assert not found.defaults.saves_default
    assert found.next.entry is not None
    shown = {each.name: each.value for each in found.next.entry.parameters}
    assert shown["my.token"] == shown["my_secret"] == "<redacted>"
    assert shown["net"] == "http://<redacted>@h/"
    assert shown["dyndbg"] == "file x +p"
    assert not any(each in found.canonical for each in ("abc", "a b", "u:p", "pbkdf2"))


def test_a_word_is_cut_where_it_stands_and_nothing_else_moves(tmp_path: Path) -> None:
    text = '# mine\nGRUB_CMDLINE_LINUX_DEFAULT="quiet  splash kho=on"\' a="b c"\'\nexport GRUB_CMDLINE_LINUX=one\n'
    put(tmp_path, "boot/grub/grub.cfg", grub_cfg(OLD))
    put(tmp_path, "etc/default/grub", text)
    words = {each.text: each.place for each in look(tmp_path).defaults.words}
    assert list(words) == ["one", "quiet", "splash", "kho=on", 'a="b c"']
    cut = {}
    for word, place in words.items():
        assert place is not None
        cut[word] = text[: place.start] + text[place.end :]
    assert cut["splash"] == text.replace(" splash", "")
    assert cut["quiet"] == text.replace("quiet ", "")
    assert cut['a="b c"'] == text.replace(' a="b c"', "")
    assert cut["one"] == text.replace("one", "")


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ('GRUB_CMDLINE_LINUX_DEFAULT="$(cat /x) kho=on"\n', False),
        ("GRUB_CMDLINE_LINUX_DEFAULT=`cat /x`\n", False),
        ('if true; then GRUB_CMDLINE_LINUX_DEFAULT="kho=on"; fi\n', True),
        ("GRUB_CMDLINE_LINUX_DEFAULT=\"kho\"'=on'\n", True),
        ('GRUB_CMDLINE_LINUX_DEFAULT="kho=on\n', True),
        ('K=kho\nGRUB_CMDLINE_LINUX_DEFAULT="$K=on"\n', True),
        ("GRUB_CMDLINE_LINUX_DEFAULT=kho=on | cat\n", True),
    ],
)
def test_a_word_that_is_no_piece_of_text_has_no_place(tmp_path: Path, text: str, known: bool) -> None:
    put(tmp_path, "boot/grub/grub.cfg", grub_cfg(OLD))
    put(tmp_path, "etc/default/grub", text)
    found = look(tmp_path).defaults
    assert found.is_known is known
    assert all(each.place is None for each in found.words)


def test_a_word_of_an_earlier_file_is_found_where_it_was_written(tmp_path: Path) -> None:
    put(tmp_path, "boot/grub/grub.cfg", grub_cfg(OLD))
    put(tmp_path, "etc/default/grub", 'GRUB_CMDLINE_LINUX_DEFAULT="quiet splash"\n')
    put(tmp_path, "etc/default/grub.d/a.cfg", 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT kho=off"\n')
    put(tmp_path, "etc/default/grub.d/b.cfg", 'GRUB_CMDLINE_LINUX_DEFAULT="${GRUB_CMDLINE_LINUX_DEFAULT} last"\n')
    found = look(tmp_path).defaults
    places = [(each.text, each.place and each.place.file) for each in found.words]
    own = "/etc/default/grub.d/a.cfg"
    assert places == [
        ("quiet", "/etc/default/grub"), ("splash", "/etc/default/grub"), ("kho=off", own),
        ("last", "/etc/default/grub.d/b.cfg"),
    ]  # fmt: skip
    assert found.later(own, NORMAL) == ("/etc/default/grub.d/b.cfg",)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=8), st.lists(PIECES, max_size=8))
@example([], ["$X", "$X"])
@example([], ["$X", " ", "$X"])
@example(["`", "(", "`"], [])
@example([], ["$X", "\\\n", "quiet"])
def test_sh_means_the_same_by_a_file(tmp_path: Path, before: list[str], pieces: list[str]) -> None:
    """Where a file is plain and a value known, it is what sh has after it, and a word is cut out as it says."""
    text = f"X='x y'\n{COMMON}={''.join(before)}\n{NORMAL}={''.join(pieces)}\n"
    variables: dict[str, object] = {}
    reader = sh_values.Reader("f", text, variables)
    reader.run()
    value = variables.get(NORMAL)
    whole = said(tmp_path, text)
    if not reader.is_plain or value is None or whole is None:
        return
    assert whole == remote.text_of(value)
    for place, word in enumerate(remote.words(value)):
        if span := remote.span(word, value, {"f"}):
            rest = said(tmp_path, text[: span["start"]] + text[span["end"] :])
            assert rest is not None
            others = [each for number, each in enumerate(remote.words(value)) if number != place]
            assert parse_command_line(rest) == parse_command_line(" ".join(map(remote.text_of, others)))


def said(tmp_path: Path, text: str) -> str | None:
    """What sh has in the variable once it has read a file; None where it gives up on it, as update-grub does then."""
    put(tmp_path, "f", text)
    script = f'. "$1" 2>/dev/null; printf %s "${NORMAL}"'
    done = subprocess.run(["sh", "-c", script, "sh", str(tmp_path / "f")], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def test_a_host_without_grub_is_not_observed(tmp_path: Path) -> None:
    with pytest.raises(FactProcessError, match=r"expected /boot/grub/grub\.cfg, found none"):
        look(tmp_path)
    with pytest.raises(FactProcessError, match="grubenv: expected its head line"):
        GrubBoot().read(json.dumps({"menu": "", "environment": "x", "defaults": {}}) + "\nend-of-fact")


@pytest.mark.parametrize(
    ("byte", "lockdown", "state", "locked"),
    [
        (1, "none [integrity] confidentiality", "on", "integrity"),
        (0, "[none] integrity", "off", "none"),
        (None, "", "no efi", None),
    ],
)
def test_secure_boot(tmp_path: Path, byte: int | None, lockdown: str, state: str, locked: str | None) -> None:
    if byte is not None:
        path = tmp_path / "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes([6, 0, 0, 0, byte]))
        put(tmp_path, "sys/kernel/security/lockdown", lockdown)
    script = str(SecureBoot().command(str(tmp_path)))
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    found = SecureBoot().read(done.stdout)
    assert found is not None
    assert (found.state, found.lockdown) == (state, locked)


def test_a_menu_that_grub_mkconfig_made(tmp_path: Path) -> None:
    """Made by grub-mkconfig 2.06 (Debian 12) from these two files, with a played grub-probe."""
    real = (Path(__file__).parents[1] / "fleet/kernel/real.grub.cfg").read_text()
    put(tmp_path, "boot/grub/grub.cfg", real)
    put(
        tmp_path,
        "etc/default/grub",
        "# by hand\nGRUB_DEFAULT=saved\nGRUB_DISTRIBUTOR=`( . /etc/os-release; echo ${NAME:-Debian} ) || echo Debian`\n"
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet splash dyndbg=\\"file drivers/net/* +p\\""\n'
        "GRUB_CMDLINE_LINUX='console=tty0  \"a=b c\"'\n",
    )
    put(tmp_path, "etc/default/grub.d/zz.cfg", 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT kho=off"\n')
    found = look(tmp_path)
    releases = [path[-1].release for path in found.menu.paths()]
    assert releases == [NEW, NEW, NEW, OLD, OLD, "6.9.0-1-nvidia", "6.9.0-1-nvidia"]
    assert (found.menu.default, found.menu.takes_one_shot, found.menu.saves_default) == ("${saved_entry}", True, False)
    assert selector_for(found.menu, OLD) == selector(OLD)
    entry = entry_at(found.menu, selector(OLD))
    assert entry is not None
    root, ro, *words = entry.parameters
    assert (root.name, ro.name) == ("root", "ro")
    assert tuple(words) == found.defaults.command_line.parameters
    assert found.defaults.default == found.menu.default
    assert all(each.place is not None for each in found.defaults.words), "a stock file asks who distributes it"
