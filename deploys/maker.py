"""Who makes a plan here, and with what."""

import getpass
import socket
from importlib.metadata import version


def maker() -> str:
    """Who runs this, and where: `user@controller`."""
    return f"{getpass.getuser()}@{socket.gethostname()}"


def versions() -> dict[str, str]:
    """What a plan is made with."""
    return {name: version(name) for name in ("sparks", "pyinfra")}
