"""What a guarded change sends to a host: `remote/guard.sh`, the values it works with, and the files of the trial."""

import secrets
from importlib.resources import files
from shlex import quote

from fleet.guard import GuardedChange
from fleet.revert import KEPT_IN
from fleet.trial import HOME
from operations.lock_script import HELD
from operations.scratch import accepted

ETC = "/etc/netplan"
RUN = "/run/netplan"
NOTHING = "network: {version: 2}\n"
"""A netplan file that says nothing: under /run it hides the one of its name under /etc."""


class Trial:
    """One guarded change on its way; the token tells it from any other and proves which host answers."""

    def __init__(self, step: GuardedChange, token: str | None = None) -> None:
        self.step = step
        self.token = token or secrets.token_hex(8)
        self.directory = f"{HOME}/{self.token}"

    @property
    def arm(self) -> str:
        """Lay the files down, ask netplan whether it would take them, and arm. Nothing is changed where it fails."""
        into = quote(f"{self.directory}/new")
        laid = [f"printf %s {quote(text)} > {into}/{quote(name)}" for name, text in self._texts.items()]
        return "\n".join((
            "umask 077",
            f"d={quote(self.directory)}",
            f'mkdir -p "$d" {into} "$d/old"',
            "trap 'rm -rf \"$d\"' EXIT",
            *laid,
            f'printf %s {quote(self.script)} > "$d/guard"',
            f'echo {self.step.window_seconds} > "$d/seconds"',
            'echo "${SUDO_USER:-root} from ${SSH_CONNECTION%% *} at $(date -u "+%F %T UTC")" > "$d/by"',
            accepted(f'cp -p {into}/*.yaml "$root/run/netplan/" 2>/dev/null || :', '"$d"'),
            "trap - EXIT",
            f"exec {self.call('arm')}",
        ))  # fmt: skip

    @property
    def confirmed(self) -> tuple[str, ...]:
        """The scripts of a change that is confirmed, in order; what changes the host needs its lock."""
        return f"{HELD}\n{self.arm}", self.call("state"), f"{HELD}\n{self.call('commit')}"

    def call(self, command: str, *arguments: str) -> str:
        """A command of the script once it is on the host."""
        return " ".join(("/bin/sh", quote(f"{self.directory}/guard"), command, *map(quote, arguments)))

    @property
    def script(self) -> str:
        """The text of the script on the host."""
        step = self.step
        values = {
            "token": self.token,
            "seconds": str(step.window_seconds),
            "home": HOME,
            "etc": ETC,
            "run": RUN,
            "kept": KEPT_IN,
            "written": " ".join(_name(each.path) for each in step.documents),
            "removed": " ".join(map(_name, step.removed)),
            "up": "\n".join(
                f"{each.uuid} {each.interface} {'anew' if each.anew else ''}".rstrip() for each in step.profiles
            ),
            "down": "\n".join(
                f"{'up' if each.was_up else 'down'} {each.uuid} {each.interface}" for each in step.undoing
            ),
        }
        head = "".join(f"{name}={quote(value)}\n" for name, value in values.items())
        return head + files("operations.remote").joinpath("guard.sh").read_text(encoding="utf-8")

    @property
    def _texts(self) -> dict[str, str]:
        written = {_name(each.path): each.text for each in self.step.documents}
        return written | {_name(path): NOTHING for path in self.step.removed}


def _name(path: str) -> str:
    return path.rpartition("/")[2]
