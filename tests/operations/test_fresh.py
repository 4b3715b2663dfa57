"""A fresh connection: wherever a host answers, it is the host whose key is pinned under the inventory's name."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paramiko
import pytest

from operations.fresh import Place, places

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

CLIENT = """
from gevent import monkey; monkey.patch_all()
import json, sys
from pyinfra.api import Config, Inventory, State
from operations import fresh
asked = json.loads(sys.argv[1])
inventory = Inventory(([("spark.invalid", asked["data"])], {}))
state = State(inventory, Config(CONNECT_TIMEOUT=5))
state.init(inventory, None)
host = inventory.get_host("spark.invalid")
before = host.connector
answering = [str(place) for place, connection in fresh.connected(state, host, [
    fresh.Place(), *(fresh.Place("127.0.0.1", port) for port in asked["ports"])
]) if fresh.use(host, connection) is None]
print(json.dumps({"answering": answering, "taken": host.connector is not before and host.connected}))
"""


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Keys `mine`, `pinned` and `other`, and `known_hosts` with the pinned one under the inventory's name."""
    for name in ("mine", "pinned", "other"):
        key = paramiko.RSAKey.generate(2048)
        key.write_private_key_file(str(tmp_path / name))
        (tmp_path / f"{name}.pub").write_text(f"ssh-rsa {key.get_base64()}\n")
    (tmp_path / "known_hosts").write_text(f"[spark.invalid]:2222 {(tmp_path / 'pinned.pub').read_text()}")
    return tmp_path


@pytest.fixture
def server(keys: Path) -> Iterator[Any]:
    """Starts servers with a host key of that name; gives the port of each."""
    running: list[subprocess.Popen[str]] = []

    def start(host_key: str) -> int:
        command = [sys.executable, str(HERE / "ssh_server.py"), str(keys / host_key), str(keys / "mine.pub")]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        return int(process.stdout.readline())

    yield start
    for process in running:
        process.communicate()


def answering(keys: Path, *ports: int) -> Any:
    data = {
        "ssh_user": "spark", "ssh_port": 2222, "ssh_key": str(keys / "mine"), "ssh_config_file": "/dev/null",
        "ssh_known_hosts_file": str(keys / "known_hosts"), "ssh_strict_host_key_checking": "yes",
    }  # fmt: skip
    asked = json.dumps({"data": data, "ports": ports})
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, asked], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_host_is_known_by_its_pinned_key_wherever_it_answers(keys: Path, server: Any) -> None:
    right, wrong = server("pinned"), server("other")
    found = answering(keys, wrong, right)
    assert found == {"answering": [f"127.0.0.1:{right}"], "taken": True}


def test_where_nobody_answers_the_old_connection_stays(keys: Path, server: Any) -> None:
    assert answering(keys, server("other"), 1) == {"answering": [], "taken": False}


def host(**data: Any) -> Any:
    return SimpleNamespace(data=data, connector=SimpleNamespace(client=None))


def test_places_are_the_inventorys_the_declared_and_those_said_besides() -> None:
    assert places(host(), ["10.0.0.6"]) == (Place(), Place("10.0.0.6", 22))
    assert places(host(ssh_port=2222), ["10.0.0.6"])[1] == Place("10.0.0.6", 2222)
    assert places(host(ssh_also_at=["127.0.0.1:40022"]), []) == (Place(), Place("127.0.0.1", 40022))
    by_config = SimpleNamespace(data={}, connector=SimpleNamespace(client=SimpleNamespace(_ssh_config={"port": 2022})))
    known: Any = by_config
    assert places(known, ["10.0.0.6"])[1] == Place("10.0.0.6", 2022)
