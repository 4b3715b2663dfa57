"""sysctl.d as systemd reads it."""

import pytest

from fleet.transit.sysctl import SysctlFile, canonical_key, decides

KEY = "net/ipv4/conf/enp1s0f0np0/forwarding"


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("net.ipv4.ip_forward", "net/ipv4/ip_forward"),
        ("net/ipv4/ip_forward", "net/ipv4/ip_forward"),
        ("net.ipv4.conf.eth0/100.forwarding", "net/ipv4/conf/eth0.100/forwarding"),
        ("net/ipv4/conf/eth0.100/forwarding", "net/ipv4/conf/eth0.100/forwarding"),
    ],
)
def test_the_first_separator_says_how_a_key_is_spelled(written: str, key: str) -> None:
    assert canonical_key(written) == key


def test_comments_exceptions_and_dashes() -> None:
    lines = ("# net.ipv4.ip_forward = 0", "; net.ipv4.ip_forward=0", "-net.ipv4.conf.all.rp_filter",
             "-net.ipv4.ip_forward=1", " net.ipv4.conf.all.rp_filter =  1 ")  # fmt: skip
    assert SysctlFile(path="x", lines=lines).settings == {
        "net/ipv4/ip_forward": "1",
        "net/ipv4/conf/all/rp_filter": "1",
    }


def test_the_last_word_decides_and_a_pattern_has_none() -> None:
    one = SysctlFile(path="/etc/sysctl.d/10-a.conf", lines=(f"{KEY}=1", f"{KEY}=0"))
    pattern = SysctlFile(path="/usr/lib/sysctl.d/50-b.conf", lines=("net.ipv4.conf.*.forwarding=1",))
    assert decides([one, pattern], KEY) == (one.path, "0")
    assert decides([pattern], KEY) is None
