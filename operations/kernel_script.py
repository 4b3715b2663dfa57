"""What each step about the kernel runs on a host, as root."""

from shlex import quote

from fleet.kernel.dropins import FILE_MODE
from fleet.kernel.steps import Cut, HoldPackages, InstallKernel, MakeInitramfs, SetNextBoot, SetWords
from fleet.step import Step
from operations.acting import write_file
from operations.apt_script import hold, install
from operations.replace_script import replace_script

ROOT = ""
"""What stands before every path; tests put a directory there."""

MENU_SECONDS, INITRAMFS_SECONDS = 300, 900
"""update-grub takes 9 s on a virtual Spark (measured 2026-11-29), an initramfs with a driver's modules a minute."""


def script(step: Step) -> str:
    """The POSIX script that carries a step out; killed anywhere in it, it leaves a state from which one is due."""
    match step:
        case InstallKernel():
            return install(step)
        case HoldPackages(packages=packages):
            return hold(packages)
        case MakeInitramfs(release=release):
            return f"{_SAYS}{_run('update-initramfs -c -k ' + quote(release), INITRAMFS_SECONDS)}{_menu()}"
        case SetWords():
            return _words(step)
        case SetNextBoot():
            return _next_boot(step)
    raise AssertionError(f"expected a step about the kernel, found {step.kind}")


_SAYS = """
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"""


def _run(command: str, seconds: int) -> str:
    """A program whose last words are told where it fails; what it prints otherwise nobody needs."""
    name = command.partition(" ")[0]
    return f"""
timeout {seconds} {command} >"$log" 2>&1 || {{
  echo "{name}: expected it to end well, found status $? and: $(tail -n 1 "$log" | cut -c 1-300)" >&2
  exit 70
}}
"""


def _menu() -> str:
    return _run("update-grub", MENU_SECONDS)


def _words(step: SetWords) -> str:
    path = ROOT + step.path
    own = _written(step.path, step.text) if step.text is not None else f"rm -f {quote(path)}\n"
    return _SAYS + own + "".join(f"({_cut(each)})\n" for each in step.cuts) + _menu()


def _written(path: str, text: str) -> str:
    folder = quote((ROOT + path).rpartition("/")[0])
    return f"mkdir -p {folder}\n({write_file(ROOT + path, text, FILE_MODE)})\n"


def _cut(cut: Cut) -> str:
    """The file without the pieces, in its place; sh must read it."""
    digest = cut.content_digest.removeprefix("sha256:")
    return f"""
old=$(readlink -f {quote(ROOT + cut.path)})
found=$(sha256sum < "$old")
[ "${{found%% *}}" = {digest} ] || {{
  echo "{cut.path}: expected it as it was looked at, found it changed since" >&2
  exit 75
}}
{replace_script(_kept(cut), 'sh -n "$new"')}"""


def _kept(cut: Cut) -> str:
    """Every byte that is in no piece."""
    lines, place = "", 0
    for start, end in cut.pieces:
        if start > place:
            lines += f'tail -c +{place + 1} "$old" | head -c {start - place}\n'
        place = end
    return f'{lines}tail -c +{place + 1} "$old"\n'


def _next_boot(step: SetNextBoot) -> str:
    own = "" if step.text is None else _written(step.path, step.text)
    menu = _menu() if step.text is not None or step.remake else ""
    chosen = "" if step.selector is None else _chosen(step.selector)
    environment = quote(f"{ROOT}/boot/grub/grubenv")
    cleared = f"grub-editenv {environment} unset next_entry\n" if step.clear_one_shot else ""
    return f"{_SAYS}{own}{menu}{chosen}{cleared}"


def _chosen(selector: str) -> str:
    """grub-set-default takes an id that is nowhere without a word, and GRUB then starts the first entry."""
    menu = quote(f"{ROOT}/boot/grub/grub.cfg")
    looked = "".join(
        f"""grep -qF -e {quote(f"'{level}'")} {menu} || {{
  echo "{level}: expected it in GRUB's menu, found it absent; the default stays" >&2
  exit 69
}}
"""
        for level in selector.split(">")
    )
    return f"{looked}grub-set-default {quote(selector)}\n"
