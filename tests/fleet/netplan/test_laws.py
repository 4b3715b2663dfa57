"""What holds for every file: secrets stay on the host, and no text breaks the reader."""

import json
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from netaddr import IPNetwork

from facts.remote import netplan_tree
from fleet.netplan import NetplanFile, rail_document
from fleet.netplan.files import parse
from fleet.netplan.harmless import ALLOWED
from fleet.netplan.vocabulary import KEYS, SECTIONS
from tests.fleet.netplan.host import look, write

SECRET = "s3cr3t-D0-N0T-PR1NT"
READER: Any = netplan_tree
ALLOWED_LEAVES: Any = ALLOWED["leaves"]
PLAIN = st.sampled_from([SECRET, "true", "9000", "10.0.0.1/24", "networkd", ""])
WORDS = st.sampled_from(sorted({*KEYS, *SECTIONS, "wifi-security.psk", "connection.type", SECRET, "e0", "wg0"}))


def answer(text: str) -> str:
    """What the reader says of one file; the same code as on the host, in this process."""
    entry: dict[str, Any] = {
        "path": "/etc/netplan/a.yaml",
        "directory": "etc",
        "mode": 0o600,
        "sha256": "0" * 64,
    }
    try:
        entry["tree"] = READER.tree_of(text.encode("utf-8", "surrogatepass"), ALLOWED)
    except READER.Bad as bad:
        entry["error"] = list(bad.args)
    return json.dumps({"files": [entry]})


def read(text: str) -> NetplanFile:
    (file,) = parse(answer(text))
    return file


def shown(node: Any, path: tuple[str, ...] = ()) -> Any:
    """Every text in a redacted tree, with the keys above it."""
    if node[0] == "s":
        yield path, node[2]
    elif node[0] == "q":
        for item in node[2]:
            yield from shown(item, (*path, "-"))
    elif node[0] == "m":
        for key, value in node[2]:
            yield from shown(key, (*path, "key"))
            yield from shown(value, (*path, key[2] if key[0] == "s" else "?"))


NESTED = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)
DEVICES = st.dictionaries(st.sampled_from(["e0", "wlan0"]), st.dictionaries(WORDS, NESTED, max_size=5), max_size=2)
DOCUMENTS = st.fixed_dictionaries({"network": st.dictionaries(st.sampled_from(sorted(SECTIONS)), DEVICES)})
MAY_SHOW = {key for keys in ALLOWED_LEAVES.values() for key in keys} | {"name", "connection.type"}


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_a_secret_leaves_only_where_a_harmless_value_belongs(document: Any) -> None:
    file = json.loads(answer(yaml.safe_dump(document)))["files"][0]
    for path, text in shown(file["tree"]) if file.get("tree") else ():
        if SECRET in text:
            assert path[-1] in MAY_SHOW or path[-1] in ("-", "key"), path
            assert not set(path) & {"password", "key", "auth", "openvswitch", "apn"} or path[-1] in MAY_SHOW


PLACES = [
    "wifis: {w: {access-points: {X: {}}}}",
    "wifis: {w: {access-points: {a: {password: X}}}}",
    "wifis: {w: {access-points: {a: {bssid: X}}}}",
    "wifis: {w: {access-points: {a: {auth: {password: X, identity: X, ca-certificate: X}}}}}",
    "wifis: {w: {access-points: {a: {networkmanager: {name: X, stable-id: X}}}}}",
    "wifis: {w: {access-points: {a: {networkmanager: {passthrough: {wifi-security.psk: X, wifi.ssid: X}}}}}}",
    "wifis: {w: {networkmanager: {name: X, passthrough: {connection.id: X}}}}",
    "wifis: {w: {acces-points: {X: {mode: X}}}}",
    "ethernets: {e: {auth: {password: X, client-key: X}}}",
    "ethernets: {e: {password: X}}",
    "ethernets: {e: {X: 1}}",
    "ethernets: {e: {X: {mtu: X}}}",
    "ethernets: {e: {mtu: {a: X}, addresses: {b: X}, match: {name: {c: X}}, dhcp4: [[X]]}}",
    'ethernets: {e: {"access-points *": {mode: X}, "a networkmanager passthrough": {connection.type: X}}}',
    "ethernets: {e: {networkmanager: {passthrough: {connection.type: wifi}, name: X}}}",
    "ethernets: {e: {openvswitch: {external-ids: {a: X}, other-config: {X: a}}}}",
    "ethernets: {e: {dhcp4: !X no}}",
    "tunnels: {t: {key: X, keys: {private: X, input: X}, peers: [{keys: {shared: X}, endpoint: X}]}}",
    "tunnels: {t: {keys: X}}",
    "modems: {m: {apn: X, password: X, pin: X, username: X, number: X, sim-id: X, device-id: X}}",
    "nm-devices: {n: {networkmanager: {name: X, passthrough: {connection.type: wifi, wifi.ssid: X}}}}",
    "nm-devices: {n: {networkmanager: {name: X}}}",
    "nm-devices: {n: {networkmanager: {name: X, passthrough: {connection.type: vpn, vpn.data: X}}}}",
    'nm-devices: {n: {networkmanager: {passthrough: {wireguard.private-key: X, "wireguard-peer.X.psk": X}}}}',
    "openvswitch: {ssl: {private-key: X}}",
    "X: {e: {mtu: X}}",
    "ethernets: {? [X] : X, ? {X: X} : X}",
    "ethernets: {e: &X {mtu: 1}, f: *X}",
    "ethernets: {e: {set-name: 'a\n\n  X'}}",
]


@pytest.mark.parametrize("place", PLACES)
def test_it_does_not_leave(place: str) -> None:
    said = answer(f"# {SECRET}\nnetwork: {{version: 2, {place.replace('X', SECRET)}}}\n{SECRET}: 1\n")
    assert SECRET not in said
    assert SECRET not in repr(parse(said))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200) | st.text(alphabet="{}[]:,&*!|>-?'\"\n\t #a0~<%@`", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    file = read(text)
    assert file.error is None or text.strip() not in file.error.reason or len(text.strip()) < 20


@settings(max_examples=100, deadline=None)
@given(NESTED)
def test_no_tree_breaks_the_reader(document: Any) -> None:
    read(yaml.safe_dump({"network": document}))
    read(yaml.safe_dump(document))


BOMB = "a0: &a0 [b, b]\n" + "".join(f"a{n + 1}: &a{n + 1} [{f'*a{n}, ' * 9}]\n" for n in range(9))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "expected at most 20000 nodes, found more"),
        ("a: &a {b: *a}", "expected YAML, found an alias inside its own anchor"),
        ("a: *a", "expected YAML, found an alias without its anchor"),
        ("[" * 100 + "]" * 100, "expected netplan's few levels, found many more"),
        ("network: {version: 2\n", "expected YAML, found a syntax error"),
        ("network: \x00", "expected YAML, found a control character"),
    ],
)  # fmt: skip
def test_a_bomb_is_refused(text: str, reason: str) -> None:
    error = read(text).error
    assert error
    assert error.reason == reason


INTERFACES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_.-]{0,14}", fullmatch=True)


@settings(max_examples=200, deadline=None)
@given(INTERFACES, st.integers(1, 2**32 - 2), st.integers(1, 30), st.integers(576, 9978))
def test_a_document_says_what_was_asked_for(interface: str, number: int, prefix: int, mtu: int) -> None:
    asked = IPv4Interface((number, prefix))
    of_no_peer = asked.ip.is_loopback or asked.ip.is_multicast or asked.ip.is_reserved or int(asked.ip) < 2**24
    if of_no_peer or asked.ip in (asked.network.network_address, asked.network.broadcast_address):
        return
    document = rail_document("srv5", interface, IPNetwork(str(asked)), mtu)
    file = read(document.text)
    (device,) = file.devices
    assert (file.error, device.errors) == (None, ())
    assert (device.binds.interface, device.binds.how) == (interface, "interface")
    assert (device.addresses, device.mtu) == ((str(asked),), mtu)
    assert (device.method4, device.method6, device.dhcp4, device.dhcp6) == (
        "manual",
        "disabled",
        False,
        False,
    )
    assert (device.uuid, device.profile) == (document.uuid, f"sparks-{interface}")
    assert (device.renderer, device.kind, device.autoconnect) == ("NetworkManager", "ethernet", True)
    assert device.autoconnect_priority > 0
    assert (device.gateway4, device.gateway6, device.routes, device.nameservers) == (None, None, (), ())


def test_a_document_is_byte_for_byte_what_networkmanager_writes() -> None:
    """source: libnetplan 0.106 and 1.1.2, `load_keyfile` then write, 2026-11, with our uuid put in."""
    document = rail_document("srv5", "enp1s0f0np0", IPNetwork("192.168.102.10/24"), 9000)
    written = Path(__file__).with_name("written_by_libnetplan.yaml").read_text(encoding="utf-8")
    assert document.text == written.replace("UUID", document.uuid)
    assert document.path == f"/etc/netplan/90-NM-{document.uuid}.yaml"
    assert (document.uuid, document.mode) == ("6a15f513-0880-59e7-b891-afcca11502e1", 0o600)


def test_a_document_on_a_host_has_its_digest(tmp_path: Path) -> None:
    document = rail_document("srv5", "enp1s0f0np0", IPNetwork("192.168.102.10/24"), 9000)
    (file,) = look(write(tmp_path, {document.path.lstrip("/"): document.text}))
    assert (file.path, file.content_digest) == (document.path, document.content_digest)
    assert (file.mode, file.too_open, file.durable) == (document.mode, False, True)
    assert NetplanFile.from_canonical(file.canonical) == file
