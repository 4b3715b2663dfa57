"""Where a command's answer goes: to standard output, or whole into a file."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

import click

from lab.command import Failed

STANDARD = "-"


def refuse_output(path: str) -> None:
    """Raises Failed, before any work is done, for a file that cannot be: its folder is none, or it is no file."""
    if path == STANDARD:
        return
    if not path:
        raise Failed("--output: expected the name of a file, found none; - is standard output")
    target = Path(path)
    try:
        mode = target.stat().st_mode if target.exists() else stat.S_IFREG
        folder = target.parent.stat().st_mode
    except OSError as error:
        raise _unwritable(path, error) from error
    if not stat.S_ISDIR(folder):
        raise Failed(f"{path}: expected a file in a folder, found {target.parent} to be none")
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or pipe; - is standard output"
        raise Failed(f"{path}: expected a file to write, found {kind}")


def put(path: str, text: str, mode: int = 0o666) -> None:
    """Prints the text, or makes it the file's whole content: a reader finds the old file or the new one.

    + mode: of a file that is not there yet, less what the user takes from new files

    Colours stay only on a terminal, and there only where NO_COLOR is not set (no-color.org). Raises Failed.
    """
    plain = click.unstyle(text)
    if path != STANDARD:
        refuse_output(path)
        _replace(path, plain.encode(), mode)
    elif sys.stdout.isatty():
        click.echo(plain if os.environ.get("NO_COLOR") else text, nl=False)
    else:
        click.echo(plain.encode(), nl=False)


def _replace(path: str, content: bytes, mode: int) -> None:
    target = Path(path).resolve()
    scratch = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        try:
            with open(scratch, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
                if target.exists():
                    os.chmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(target)
        except BaseException:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str, error: OSError) -> Failed:
    return Failed(f"{path}: expected a file that can be written, found {error.strerror}")
