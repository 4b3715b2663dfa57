"""Wait until no request runs on the Ollama of a host, and unload what it holds where that is asked for."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from pyinfra.api import Host, StringCommand

from facts.bundle import packed
from facts.look import SENTINEL, as_root, called
from fleet.drain import Drain, Waiting, read_drain, read_waiting
from fleet.ollama import quiet
from fleet.ollama.deployment import UNIT
from fleet.refusal import Refusal
from operations.lock import take
from operations.lock_script import HELD
from operations.stream import Broken, lines


def drain_command(seconds: float, timeout: float, unload: bool) -> str:
    """The command that waits on the host, in one exec channel however long it takes.

    One that unloads changes the host, so it does nothing unless this run holds the host's lock.
    """
    asked: dict[str, Any] = {
        "unit": UNIT,
        "seconds": seconds,
        "timeout": timeout,
        "unload": unload,
        "quiet": Path(quiet.__file__).read_text("utf-8"),
        "invocation": _text("facts.remote", "ollama_invocation"),
        "store": _text("facts.remote", "ollama_store"),
        "ask": _text("operations.remote", "ollama_ask"),
    }
    command = packed(called(_text("operations.remote", "ollama_drain"), asked))
    return as_root(f"set -eu\n{HELD}\n{command}" if unload else command)


def wait_until_quiet(
    host: Host, seconds: float, timeout: float, unload: bool, tell: Callable[[Waiting], None]
) -> Drain | Refusal:
    """How the waiting ended, or why it could not be waited.

    + seconds: for which no request must run
    + timeout: seconds after which it is given up
    + unload: ask Ollama to let go of every model at the end
    + tell: gets each look as it comes
    """
    refusal = take(host) if unload else None
    if refusal is not None:
        return refusal
    looks: list[Waiting] = []

    def seen(look: Waiting) -> None:
        looks.append(look)
        tell(look)

    try:
        return _ended(host, drain_command(seconds, timeout, unload), seen)
    except (Broken, ValueError, OSError, EOFError) as error:
        return _not_seen(host, str(error) or type(error).__name__, has_looked=bool(looks))


def _not_seen(host: Host, reason: str, has_looked: bool) -> Refusal:
    """Where there was no look at all, as without sudo, nothing was begun: the host is unobserved."""
    subject, expected = f"{host.name} {UNIT}", "to see whether a request runs on it"
    if has_looked:
        return Refusal(code="drain_failed", subject=subject, expected=expected, found=reason)
    return Refusal(code="unobserved", subject=subject, expected=expected, found=reason)


def _ended(host: Host, command: str, tell: Callable[[Waiting], None]) -> Drain:
    drain: Drain | None = None
    for line in lines(host, StringCommand(command)):
        if line == SENTINEL:
            break
        waiting = read_waiting(line)
        if waiting is None:
            drain = read_drain(host.name, line)
        else:
            tell(waiting)
    if drain is None:
        raise Broken("no answer to its end")
    return drain


def _text(package: str, name: str) -> str:
    return files(package).joinpath(f"{name}.py").read_text(encoding="utf-8")
