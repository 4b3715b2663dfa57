"""`sparks plan`, `show` and `observe` on Sparks that are only observations: it is the plan of pyinfra's own command."""

import json
from pathlib import Path

import pytest

from tests.deploys.site import Site
from tests.fleet import observed


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_both_ways_make_the_same_plan_and_either_carries_it_out(site: Site, tmp_path: Path) -> None:
    native = site.run("--dry")
    file = tmp_path / "plan.json"
    made = site.sparks("plan", "chat", "-o", str(file), "--json")
    assert made.status == 2, made.err
    document = json.loads(made.out)
    assert document["plan_digest"] == native.plans["chat"]
    assert (document["due"], document["refusals"]) == ("pending", [])
    assert made.looks == ["a"], "another host was looked at"
    assert made.commands == []
    assert json.loads(file.read_text()) == document
    assert file.stat().st_mode & 0o777 == 0o600
    shown = site.sparks("show", str(file))
    assert (shown.status, shown.looks) == (0, [])
    assert f"plan {native.plans['chat']}\nfor deployment chat: serve\n" in shown.out
    assert "+      mtu: 9000" in shown.out
    assert "7 steps: 2 activate, 1 download, 1 load, 1 restart, 2 write; up to 10 bytes come to the hosts" in shown.out
    done = site.run("--data", f"plan={document['plan_digest']},{native.plans['b']}", "-y")
    assert done.status == 0, done.err
    sent = [text for each in document["plan"]["hosts"] for one in each["operations"]
            for command in one["commands"] for text in command["sends"]]  # fmt: skip
    ran = [text for host, text in done.commands if host == "a" and "generation" not in text]
    assert ran == sent, "what ran is what was approved, byte for byte"
    assert site.sparks("plan", "a").status == 0


def test_a_plan_from_an_observation_needs_no_host_and_says_what_differs(site: Site, tmp_path: Path) -> None:
    changed = observed.netplan_file("/etc/netplan/90-NM-bce3b8a4-e5db-508f-8247-3c7ad4b631ec.yaml", OLDER)
    site["a"] = observed.with_file(site["a"], changed)
    kept = tmp_path / "seen.json"
    assert site.sparks("observe", "a", "-o", str(kept)).status == 0
    offline = site.sparks("plan", "a", "--from", str(kept), "--scope", "fabric", "--commands")
    assert offline.status == 2, offline.err
    assert offline.looks == []
    assert "-ethernets.NM-bce3b8a4-e5db-508f-8247-3c7ad4b631ec.mtu: 1400" in offline.out
    assert "+ethernets.NM-bce3b8a4-e5db-508f-8247-3c7ad4b631ec.mtu: 9000" in offline.out
    assert "commands: not known" in offline.out
    assert "ollama" not in offline.out
    text = kept.read_text()
    kept.write_text(text.replace('"observed_at": "2', '"observed_at": "3'))
    moved = site.sparks("plan", "a", "--from", str(kept))
    assert moved.status == 1
    assert f"{kept}: collection_digest: expected sha256:" in moved.err


@pytest.mark.parametrize("target", ["b", "chat"])
def test_an_observation_of_other_sparks_is_none_of_these(target: str, site: Site, tmp_path: Path) -> None:
    kept, of = tmp_path / "seen.json", "a" if target == "b" else "b"
    assert site.sparks("observe", of, "-o", str(kept)).status == 0
    done = site.sparks("plan", target, "--from", str(kept))
    assert (done.status, done.out) == (3, "")
    assert ": expected an observation, found none at all [unobserved]" in done.err


OLDER = """\
network:
  version: 2
  ethernets:
    NM-bce3b8a4-e5db-508f-8247-3c7ad4b631ec:
      renderer: NetworkManager
      match:
        name: "enp1s0f0np0"
      addresses:
      - "10.1.1.1/24"
      mtu: 1400
"""


def test_what_is_refused_is_status_3_and_a_document_all_the_same(site: Site, tmp_path: Path) -> None:
    site["a"] = observed.with_link(site["a"], observed.link("enp1s0f0np0", carrier=False))
    file = tmp_path / "plan.json"
    refused = site.sparks("plan", "a", "--json", "-o", str(file))
    assert refused.status == 3
    document = json.loads(refused.out)
    assert (document["due"], document["plan"], document["refusals"][0]["code"]) == ("refused", None, "no_carrier")
    assert "[no_carrier]" in refused.err
    assert not file.exists()
    nobody = site.sparks("plan", "all")
    assert nobody.status == 3
    assert nobody.err.startswith("all: expected one spark or one deployment of the roster, found a word for everything")
