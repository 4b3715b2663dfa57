"""NetworkManager's profiles and devices: what is durable, and what is redacted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.connections import (
    Connections,
    Networking,
    parse_networking,
    parse_profiles,
)
from fleet.keyfile import NetplanKeyfile, Settings, Storage, parse_keyfile, storage_of
from fleet.keyfile_loading import parse_keyfile_listing
from fleet.nm_device import parse_devices
from fleet.nmcli import join_terse
from fleet.record import Unobserved
from tests.conftest import CaseText

RUN = "/run/NetworkManager/system-connections/"
ETC = "/etc/NetworkManager/system-connections/"


def test_profiles_with_colons_and_backslashes_in_their_names(case: CaseText) -> None:
    found = {each.uuid[:4]: each for each in parse_profiles(case("048", "input.txt"))}
    assert {uuid: each.name for uuid, each in found.items()} == {
        "7b9f": "back\\slash",
        "463f": "cx7: p0",
        "6f98": "lo",
        "50ab": "<redacted>",
        "a54b": "Wired connection 1",
    }
    assert found["7b9f"].filename == ETC + "back\\slash.nmconnection"
    assert found["463f"].filename == ETC + "cx7: p0.nmconnection"
    assert found["50ab"].filename == ETC + "<redacted>"
    assert (found["a54b"].device, found["a54b"].state) == (None, None)
    assert {uuid: each.storage.value for uuid, each in found.items()} == {
        "7b9f": "persistent",
        "463f": "persistent",
        "6f98": "runtime",
        "50ab": "persistent",
        "a54b": "runtime",
    }


def test_a_devices_state_and_its_detail_are_two_things(case: CaseText) -> None:
    found = {each.name: each for each in parse_devices(case("048", "input.device.txt"))}
    assert (found["lo"].state, found["lo"].detail, found["lo"].is_external) == (
        "connected",
        "externally",
        True,
    )
    assert (found["peer0"].state, found["peer0"].detail) == ("connecting", "getting IP configuration")
    assert found["enp1s0f0np0"].connection == "cx7: p0"
    assert (found["br0"].state, found["br0"].detail, found["br0"].connection) == ("unmanaged", None, None)


def test_only_a_device_that_is_disconnected_without_autoconnect_is_kept_down() -> None:
    listed = "a:ethernet:disconnected:\nb:ethernet:disconnected:\nc:ethernet:connected:rail\n"
    may = {"a": "no", "b": "yes", "c": "no"}
    shown = "\n".join(f"GENERAL.DEVICE:{name}\nGENERAL.AUTOCONNECT:{yes}\n" for name, yes in may.items())
    assert [each.name for each in parse_devices(listed, shown) if each.kept_down] == ["a"]
    with pytest.raises(ValueError, match=r"found GENERAL\.DEVICE and nothing"):
        parse_devices(listed, "GENERAL.DEVICE:a\n")


def test_the_order_of_nmcli_does_not_matter(case: CaseText) -> None:
    text = case("048", "input.txt")
    backwards = "\n".join(reversed(text.splitlines()))
    assert parse_profiles(text) == parse_profiles(backwards)


def test_a_daemon_that_is_asleep_has_networking_off(case: CaseText) -> None:
    lines = [line for line in case("052", "input.txt").splitlines() if not line.startswith("#")]
    assert parse_networking(lines[0]) is Networking.DISABLED
    assert {each.state for each in parse_devices("\n".join(lines[1:]))} == {"unmanaged"}
    assert parse_networking("connected:full:missing:enabled:missing:enabled\n") is Networking.ENABLED


def test_no_answer_is_not_an_answer() -> None:
    with pytest.raises(ValueError, match="expected one line, found 0"):
        parse_networking("")


def test_a_profile_that_networkmanager_made_up_is_gone_at_the_next_boot(case: CaseText) -> None:
    path = RUN + "Wired connection 3.nmconnection"
    keyfile = parse_keyfile(case("042", "input.nmconnection"), path)
    (profile,) = parse_profiles(case("042", "input.nmcli.txt"), [keyfile])
    assert (profile.storage, profile.generated, profile.survives_reboot) == (Storage.RUNTIME, True, False)
    assert isinstance(keyfile.settings, Settings)
    assert keyfile.settings.autoconnect_priority == -999


SHADOWED = (
    "[connection]\nid=back\\\\slash\nuuid=7b9f7f18-4951-4f28-93cd-9f3ffca7fc1c\ntype=ethernet\n"
    "[ipv4]\naddress1=10.0.0.5/24\nmethod=manual\n"
)


def test_a_temporary_change_hides_what_comes_back(case: CaseText) -> None:
    """The file that is hidden is not among the case's inputs; its address is from the case's answer."""
    path = ETC + "back\\slash.nmconnection"
    shown = RUN + "back\\slash.nmconnection"
    files = [parse_keyfile(case("046", "input.run.nmconnection"), shown), parse_keyfile(SHADOWED, path)]
    line = join_terse(("back\\slash", files[0].uuid, "802-3-ethernet", "enP2p1s0f0np0", shown, "yes", "activated"))
    (profile,) = parse_profiles(line, files)
    assert files[0].shadows == path
    assert not profile.generated
    assert not profile.survives_reboot
    assert isinstance(profile.stored, Settings)
    assert profile.stored.ipv4_addresses == ("10.0.0.6/24",)
    assert isinstance(profile.shadowed, Settings)
    assert profile.shadowed.ipv4_addresses == ("10.0.0.5/24",)
    assert profile.keeps_address("10.0.0.5/24")
    assert not profile.keeps_address("10.0.0.6/24")


@pytest.mark.parametrize(
    ("filename", "storage"),
    [
        (ETC + "rail", Storage.PERSISTENT),
        ("/usr/lib/NetworkManager/system-connections/a.nmconnection", Storage.PERSISTENT),
        (RUN + "netplan-NM-0a1b.nmconnection", Storage.NETPLAN),
        (RUN + "lo.nmconnection", Storage.RUNTIME),
        ("/run/other/netplan-a.nmconnection", Storage.RUNTIME),
        ("/tmp/a.nmconnection", Storage.RUNTIME),
        ("", Storage.IN_MEMORY),
    ],
)
def test_where_a_file_is_says_whether_it_stays(filename: str, storage: Storage) -> None:
    assert storage_of(filename) is storage


def test_a_netplan_file_that_hides_another_is_not_netplans() -> None:
    assert storage_of(RUN + "netplan-a.nmconnection", shadows_another=True) is Storage.RUNTIME


def test_names_of_netplans_keyfiles_without_the_ssid(case: CaseText) -> None:
    ids = ("NM-0a1b2c3d-1111-4e2e-8f00-000000000004", "bond0", "enp1s0f0np0.100", "wlP9s9")
    found = [NetplanKeyfile.from_path(path, ids) for path in case("041", "input.ls.txt").splitlines()]
    assert [each and each.id for each in found] == list(ids)
    assert [each and each.has_ssid for each in found] == [True, False, False, True]
    assert found[0]
    assert found[0].shown == RUN + f"netplan-{ids[0]}-<redacted>.nmconnection"
    assert found[3]
    assert found[3].shown == RUN + "netplan-wlP9s9-<redacted>.nmconnection"


def test_without_ids_only_networkmanagers_own_form_tells(case: CaseText) -> None:
    found = [NetplanKeyfile.from_path(path) for path in case("041", "input.ls.txt").splitlines()]
    assert [each and each.id for each in found] == [
        "NM-0a1b2c3d-1111-4e2e-8f00-000000000004",
        None,
        None,
        None,
    ]


def test_wifi_names_are_redacted_everywhere() -> None:
    path = RUN + "netplan-wlP9s9-Some%20SSID.nmconnection"
    uuid = "b99b5f88-271d-3f05-8040-053a18ed5cea"
    line = join_terse(("netplan-wlP9s9-Some SSID", uuid, "802-11-wireless", "wlP9s9", path, "yes", "activated"))
    keyfile = parse_keyfile("[connection]\nid=Some SSID\ntype=wifi\n[wifi]\nssid=Some SSID\n", path)
    connections = Connections(
        running=True,
        profiles=parse_profiles(line, [keyfile]),
        devices=parse_devices("wlP9s9:wifi:connected:netplan-wlP9s9-Some SSID\n"),
    )
    assert "SSID" not in connections.canonical + keyfile.canonical
    assert connections.profiles[0].storage is Storage.NETPLAN


def test_what_networkmanager_loads(case: CaseText) -> None:
    entries = parse_keyfile_listing(case("044", "input.ls.txt"))
    assert {each.path.removeprefix(ETC): each.why_not_loaded for each in entries} == {
        "loose.nmconnection": "insecure permissions",
        "nosuffix": None,
        "other.nmconnection~": "backup or temporary file",
        ".hid.nmconnection": "hidden",
        "nouuid.nmconnection": None,
        "Wifi: home.nmconnection": None,
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"-rw------- root {RUN}nosuffix", "no .nmconnection extension"),
        ("-rw------- root /usr/lib/NetworkManager/system-connections/nosuffix", "no .nmconnection extension"),
        ("-rw-r--r-- root /usr/lib/NetworkManager/system-connections/a.nmconnection", "insecure permissions"),
        (f"-rwx------ root {ETC}a.nmconnection", None),
        (f"-rw-r----- root {ETC}a.nmconnection", "insecure permissions"),
        (f"-rw------- spark {ETC}a.nmconnection", "owner is not root"),
        (f"drwx------ root {ETC}a.nmconnection", "not a regular file"),
        (f"-rw------- root {ETC}home.office", "backup or temporary file"),
        (f"-rw------- root {ETC}key.pem", "backup or temporary file"),
        (f"-rw------- root {ETC}abc.txt", None),
        ("-rw------- root /etc/netplan/a.nmconnection", "not in a folder of profiles"),
    ],
)
def test_why_a_file_is_passed_over(line: str, why: str | None) -> None:
    """Each was tried with NetworkManager 1.52.1."""
    (entry,) = parse_keyfile_listing(line)
    assert entry.why_not_loaded == why
    assert entry.is_loaded is (why is None)


def test_older_spellings_of_an_address() -> None:
    text = "[ipv4]\naddresses1=10.0.0.5;24;10.0.0.1;\naddress2=10.0.0.6/24,10.0.0.1\nmethod=manual\n"
    settings = parse_keyfile(text).settings
    assert isinstance(settings, Settings)
    assert settings.ipv4_addresses == ("10.0.0.5/24", "10.0.0.6/24")


def test_an_address_is_durable_only_in_an_active_profile_that_stays() -> None:
    text = "[connection]\nuuid=u\ntype=ethernet\n[ipv4]\naddress1=192.168.102.10/24\nmethod=manual\n"
    for folder, durable in ((ETC, True), (RUN + "netplan-", True), (RUN, False)):
        path = f"{folder}a.nmconnection"
        line = join_terse(("rail", "u", "802-3-ethernet", "enp1s0f1np1", path, "yes", "activated"))
        found = Connections(running=True, profiles=parse_profiles(line, [parse_keyfile(text, path)]))
        assert found.keeps_address("enp1s0f1np1", "192.168.102.10/24") is durable
        assert not found.keeps_address("enp1s0f1np1", "192.168.102.11/24"), "added by hand with ip"
        assert not found.keeps_address("enP2p1s0f1np1", "192.168.102.10/24"), "on another interface"


VALUE, LINE = "expected numbers and addresses, found others", "expected a group or key=value, found another line"
NONSENSE = [
    ("[connection]\nuuid=u\ntype=ethernet\n[ipv4]\naddress1=10.0.0.x/24\n", "u", VALUE),
    ("[connection]\nuuid=u\ntype=ethernet\n[ethernet]\nmtu=large\n", "u", VALUE),
    ("psk=SECRET\n[connection]\nuuid=u\n", "", LINE),
    ("[connection]\nSECRET\n", "", LINE),
]


@pytest.mark.parametrize(("text", "uuid", "reason"), NONSENSE)
def test_nonsense_in_a_keyfile_is_about_its_own_profile_alone(text: str, uuid: str, reason: str) -> None:
    bad, good = ETC + "bad.nmconnection", ETC + "good.nmconnection"
    files = [parse_keyfile(text, bad), parse_keyfile("[connection]\nuuid=g\n[ethernet]\nmtu=9000\n", good)]
    rows = [("bad", "u", "802-3-ethernet", "", bad, "yes", ""), ("good", "g", "802-3-ethernet", "", good, "yes", "")]
    found = {each.name: each for each in parse_profiles("\n".join(map(join_terse, rows)), files)}
    assert (files[0].path, files[0].uuid, files[0].settings) == (bad, uuid, Unobserved(reason=reason))
    assert (found["bad"].stored, found["bad"].settings) == (Unobserved(reason=reason), None)
    assert not found["bad"].keeps_address("10.0.0.1/24")
    assert found["good"].settings
    assert found["good"].settings.mtu == 9000


@given(st.text() | st.lists(st.text(), min_size=7, max_size=7).map(join_terse))
def test_any_text_is_read_or_a_value_error(text: str) -> None:
    for read in (parse_profiles, parse_devices, parse_networking, parse_keyfile, parse_keyfile_listing):
        try:
            read(text)
        except ValueError:
            continue
