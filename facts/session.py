"""How a host was reached: the connection that a change may cut."""

from typing_extensions import override

from facts.look import Look, shell
from fleet.session import Session, parse_session

_SCRIPT = r"""
set -f; set -- ${SSH_CONNECTION-}
if [ $# = 0 ]; then echo none; else
    echo "$*"
    zone=${1##*%}; [ "$zone" != "$1" ] || zone=
    client=${1%%\%*}; client=${client#::ffff:}
    server=${3%%\%*}; server=${server#::ffff:}
    ip -j route get "$client" from "$server" ${zone:+oif "$zone"} || exit 1
fi
"""


class SshSession(Look[Session]):
    """
    The SSH connection over which this very look came, and the interface by which answers leave; ``None`` when
    that was not observed. Without SSH (`@local`) its ``ssh`` is ``None``.

    .. code:: python

        Session(ssh=SshConnection(client="10.0.0.2", server="10.0.0.11", port=22, device="enP7s7"))
    """

    def command(self) -> str:
        return shell(_SCRIPT)

    @override
    def parse(self, text: str) -> Session:
        return parse_session(text)
