"""An SSH server on a free port of 127.0.0.1 that lets one key in: `python ssh_server.py HOST_KEY CLIENT_KEY.pub`.

Prints its port; serves until its standard input ends.
"""

import socket
import sys
import threading
from pathlib import Path

import paramiko


class Door(paramiko.ServerInterface):
    """Lets the one key in."""

    def __init__(self, public: str) -> None:
        self.public = public

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        known = key.get_base64() == self.public
        return paramiko.common.AUTH_SUCCESSFUL if known else paramiko.common.AUTH_FAILED


def main() -> None:
    host_key = paramiko.RSAKey.from_private_key_file(sys.argv[1])
    public = Path(sys.argv[2]).read_text().split()[1]
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=serve, args=(listener, host_key, public), daemon=True).start()
    sys.stdin.read()


def serve(listener: socket.socket, host_key: paramiko.PKey, public: str) -> None:
    while True:
        transport = paramiko.Transport(listener.accept()[0])
        transport.add_server_key(host_key)
        transport.start_server(server=Door(public))


if __name__ == "__main__":
    main()
