"""What every fact of ours has in common: it proves that it looked, and `None` means it could not.

pyinfra 3.10 gives `default()` for a failed command, for empty output and for a `FactProcessError`, and
aborts every host on any other exception. So `default()` is `None`, a command ends with a line of its own
(`SENTINEL`), and whatever a parser raises is translated here, once.
"""

import json
import shlex
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import ValidationError
from pyinfra.api import FactBase
from pyinfra.api.exceptions import FactProcessError
from typing_extensions import override

from fleet.record import told

T = TypeVar("T")

SENTINEL = "end-of-fact"
"""The last line of every fact's output: without it the output is not whole."""


class Look(FactBase[T | None], Generic[T]):
    """
    One read-only look at a host. Subclasses give `command` and `parse`.

    + needs_root: the command elevates (see `as_root`) since what it reads is root's
    + timeout_seconds: after which a bundle gives this look up as unobserved
    """

    abstract = True
    needs_root: ClassVar[bool] = False
    timeout_seconds: ClassVar[float] = 120.0

    def parse(self, text: str) -> T:
        """The value from the command's output without its sentinel; raises ValueError when unreadable."""
        raise FactProcessError(f"{self.name}: expected a parser, found none")

    @override
    def process(self, output: list[str]) -> T:
        return self.read("\n".join(output))

    def read(self, text: str) -> T:
        """`parse` behind the sentinel; every complaint becomes a FactProcessError of one line."""
        body, found, _ = text.rpartition(SENTINEL)
        if not found:
            raise FactProcessError(f"expected output that ends with {SENTINEL}, found it cut short")
        try:
            return self.parse(body)
        except ValidationError as error:
            raise FactProcessError(told(error)) from error
        except json.JSONDecodeError as error:
            raise FactProcessError(f"expected JSON, found {error}") from error
        except ValueError as error:
            raise FactProcessError(str(error)) from error
        except RecursionError as error:
            raise FactProcessError("expected another shape, found values nested too deep") from error
        except (LookupError, TypeError, AttributeError, ArithmeticError) as error:
            raise FactProcessError(f"expected another shape, found {type(error).__name__}: {error}") from error


def shell(script: str) -> str:
    """A POSIX sh script in the C locale that ends with the sentinel when all of it ran.

    The script must `exit` non-zero itself where it cannot look.
    """
    return f"export LC_ALL=C; {script.strip()}\necho {SENTINEL}"


class RemotePython(str):
    """A command that runs Python on the host; a bundle takes the program instead, and runs it in its own process."""

    module: str
    arguments: dict[str, Any]

    @classmethod
    def of(cls, command: str, module: str, arguments: dict[str, Any]) -> Self:
        """The command, and the program in `facts/remote` that it runs with these arguments."""
        self = cls(command)
        self.module, self.arguments = module, arguments
        return self


@cache
def source_of(module: str) -> str:
    """The text of `facts/remote/<module>.py`: a `main` that takes JSON arguments and prints one JSON line."""
    return files("facts.remote").joinpath(f"{module}.py").read_text(encoding="utf-8")


def called(source: str, arguments: Any) -> str:
    """The source of a remote module with a call of its `main`, then the sentinel."""
    return f"{source}\nmain({json.dumps(json.dumps(arguments))})\nprint({SENTINEL!r})\n"


def remote_python(module: str, **arguments: Any) -> RemotePython:
    """A command that runs `facts/remote/<module>.py` on the host."""
    command = f"LC_ALL=C python3 -c {shlex.quote(called(source_of(module), arguments))}"
    return RemotePython.of(command, module, arguments)


NO_SUDO = 'echo "expected sudo without a password for $(id -un), found it refused" >&2; exit 77'
"""What a command does where it may not become root."""


def as_root(command: str, otherwise: str = NO_SUDO) -> str:
    """The command run by root: as it is where we are root, else through `sudo -n`, else `otherwise`.

    pyinfra's own `_sudo` asks for a password on the controller's terminal when sudo wants one (3.10.0);
    a scripted night must get an answer instead. sudo clears the environment; which SSH connection it is stays.
    """
    kept = "SSH_CONNECTION=$1; export SSH_CONNECTION; "
    elevated = (
        'if [ "$(id -u)" = 0 ]; then r=; elif sudo -n true 2>/dev/null; then r="sudo -n -H"; '
        f'else {otherwise}; fi; $r sh -c {shlex.quote(kept + command)} sh "${{SSH_CONNECTION-}}"'
    )
    if isinstance(command, RemotePython):
        return RemotePython.of(elevated, command.module, command.arguments)
    return elevated
