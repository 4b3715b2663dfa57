"""What others left on the ports of virtual Sparks: found, adopted as it is, made durable, or reverted."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.control import Run, converge, on, pyinfra, sparks, wait_until

if TYPE_CHECKING:
    from virtual.lab import Lab

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(3600)]

F1, P1 = "enp1s0f1np1", "enP2p1s0f1np1"
CX7 = "/etc/netplan/40-cx7.yaml"
KEYFILE = "/etc/NetworkManager/system-connections/rail.nmconnection"
KEPT = "/var/lib/sparks/reverted"


class Site:
    """A site kept elsewhere, whose roster says nothing of the fabric at first."""

    def __init__(self, lab: "Lab", folder: Path) -> None:
        self.lab, self.folder = lab, folder
        self.names = tuple(machine.name for machine in lab.state.machines)
        login = {"ssh_user": lab.state.user, "ssh_key": lab.state.key}
        hosts = {m.name: {"ssh_hostname": m.host, "ssh_port": m.port} | login for m in lab.state.machines}
        self.inventory = folder / "inventories" / "found.py"
        self.data = folder / "inventories" / "group_data" / "found.py"
        self.data.parent.mkdir(parents=True)
        self.inventory.write_text(
            f"from lab.site import site\nfound = site(__file__, {hosts!r}, known_hosts={lab.state.known_hosts!r})\n"
        )
        self.say()

    def say(self, *rows: str) -> None:
        """The roster: every Spark enrolled, and then these rows, pasted at its end."""
        sparks = {name: {"enrolled": True} for name in self.names}
        self.data.write_text("\n".join([f"roster = {{'sparks': {sparks!r}}}", *rows, ""]))

    def run(self, *flags: str) -> Run:
        return pyinfra(self.folder / "trace.jsonl", str(self.inventory), "deploys/fabric.py", *flags)

    def converge(self) -> Run:
        return converge(self.folder / "trace.jsonl", str(self.inventory), "deploys/fabric.py")

    def adopt(self, name: str) -> str:
        """The rows that `sparks adopt` prints."""
        done = sparks("adopt", name, "-i", str(self.inventory))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def addresses(self, name: str) -> str:
        return on(self.lab, name, f"ip -br -4 addr show {F1}; ip -br -4 addr show {P1}")


@pytest.fixture
def site(side_lab: "Lab", tmp_path: Path) -> Site:
    side_lab.reset()
    return Site(side_lab, tmp_path)


def as_desired(site: Site, run: Run) -> None:
    assert run.status == 0, run.said
    for name in site.names:
        assert f"{name} is as desired" in run.err, run.said


def test_a_hand_made_address_is_adopted_made_durable_and_survives_a_power_cycle(site: Site) -> None:
    for at, name in enumerate(site.names):
        on(site.lab, name, f"ip link set {F1} mtu 9000 up; ip addr add 192.168.102.1{at}/24 dev {F1}")
    told = site.run("--dry")
    as_desired(site, told)
    assert f"{site.names[0]} {F1}: 192.168.102.10/24, mtu 9000, hand-made (ip): lost at the next boot" in told.err
    site.say(site.adopt(site.names[0]))
    converged = site.converge()
    assert converged.status == 0, converged.said
    as_desired(site, site.run("--dry"))
    site.lab.power_cycle(*site.names)
    as_desired(site, site.run("--dry"))
    assert site.lab.ssh(site.names[0], "ping -c 2 -M do -s 8972 192.168.102.11").returncode == 0


def cx7(at: int) -> str:
    """As the playbook's helper writes it."""
    lines = ["network:", "  version: 2", "  ethernets:"]
    for port, net in ((F1, 102), (P1, 103)):
        lines += [f"    {port}:", "      dhcp4: false", "      mtu: 9000", f"      addresses: [192.168.{net}.1{at}/24]"]
    return "\\n".join(lines) + "\\n"


def put_file(site: Site, name: str, at: int) -> None:
    """Another tool's netplan file, and its profiles up."""
    on(site.lab, name, f"umask 077; printf '{cx7(at)}' > {CX7}; netplan generate; nmcli connection reload")
    wait_until(lambda: site.addresses(name).count("192.168.10") == 2, 60, "the file's profiles to come up")


def put_keyfiles(site: Site, name: str, at: int) -> None:
    """What a person does with nmcli: one profile for each port."""
    for con, port, net in (("rail", F1, 102), ("rail2", P1, 103)):
        on(
            site.lab, name,
            f"nmcli connection add type ethernet con-name {con} ifname {port} ipv4.method manual ipv6.method disabled "
            f"ipv4.addresses 192.168.{net}.1{at}/24 802-3-ethernet.mtu 9000",
        )  # fmt: skip
    wait_until(lambda: site.addresses(name).count("192.168.10") == 2, 60, "the profiles to come up")


@pytest.mark.nightly
def test_files_of_others_are_refused_adopted_without_a_step_and_reverted(site: Site) -> None:
    first, second = site.names
    put_file(site, first, 0)
    put_keyfiles(site, second, 1)
    refused = site.run("--dry")
    assert refused.status == 1
    assert f"{first} {F1}: expected no durable state but the roster's, found {CX7} at line 4 (NVIDIA" in refused.err
    assert f"{second} {F1}: expected no durable state but the roster's, found {KEYFILE} (a person's" in refused.err
    assert f"sparks adopt {first}" in refused.err
    assert f'put "{CX7}" into revert of {first}' in refused.err
    rows = site.adopt(first)
    site.say(rows)
    rows += site.adopt(second)
    site.say(rows)
    as_desired(site, site.run("--dry"))
    as_desired(site, site.run("-y"))
    site.lab.power_cycle(first)
    as_desired(site, site.run("--dry"))
    keyfiles = [KEYFILE, KEYFILE.replace("rail", "rail2")]
    site.say(
        f"roster['sparks']['{first}']['revert'] = ['{CX7}']", f"roster['sparks']['{second}']['revert'] = {keyfiles!r}"
    )
    dry = site.run("--dry")
    assert f"{first} {CX7}: sha256:" in dry.err
    converged = site.converge()
    assert converged.status == 0, converged.said
    for name, path in ((first, CX7), *((second, keyfile) for keyfile in keyfiles)):
        assert "192.168.10" not in site.addresses(name)
        on(site.lab, name, f"[ ! -e {path} ] && [ $(stat -c %a%U {KEPT}) = 700root ]")
        on(site.lab, name, f"ls -l {KEPT}/{path.rpartition('/')[2]}.*")
    assert on(site.lab, first, f"cat {KEPT}/40-cx7.yaml.*").startswith("network:")
    as_desired(site, site.run("-y"))


def test_a_file_that_mixes_management_and_fabric_is_left_alone(site: Site) -> None:
    name = site.names[0]
    on(site.lab, name, f"printf '    {F1}:\\n      addresses: [192.168.102.10/24]\\n' >> /etc/netplan/50-mgmt.yaml")
    before = on(site.lab, name, "sha256sum /etc/netplan/50-mgmt.yaml")
    for rows in ((), (f"roster['sparks']['{name}']['revert'] = ['/etc/netplan/50-mgmt.yaml']",)):
        site.say(*rows)
        run = site.run("-y")
        assert run.status == 1
        assert f"{F1} at line 8 beside enP7s7 at line 4 [mixed_file]" in run.err, run.said
    assert on(site.lab, name, "sha256sum /etc/netplan/50-mgmt.yaml") == before
