"""Plans on pyinfra's own command line: told by a dry run, carried out when they are named, and nothing else ever."""

from pathlib import Path

import pytest

from fleet.hardware import INTERFACES
from fleet.observation import known
from fleet.ollama.observed import Residency
from fleet.rail_document import document_for
from tests.deploys.site import SERVED, Run, Site
from tests.fleet import observed
from tests.fleet.ollama import host as ollama_host


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_what_a_dry_run_tells_is_carried_out_when_it_is_named_and_then_nothing_is_due(site: Site) -> None:
    dry = site.run("--dry")
    assert dry.status == 0, dry.err
    assert set(dry.plans) == {"a", "b", "chat"}
    assert sorted(dry.looks) == ["a", "b"], "commands are collected without another look"
    assert dry.commands == []
    assert site.run_in_a_new_process("--dry", PYTHONHASHSEED="7").plans == dry.plans
    done = site.approved(dry, "a", "b")
    assert done.status == 0, done.err
    assert {host for host, _ in done.commands} == {"a", "b"}
    again = site.run("-y")
    assert again.status == 0, again.err
    assert again.commands == []
    assert again.plans == {}
    assert all(f"{name} is as desired" in again.err for name in "ab")


def test_a_deployment_is_a_target_of_its_own(site: Site) -> None:
    dry = site.run("--dry")
    done = site.approved(dry, "chat", "b")
    assert done.status == 0, done.err
    assert "Traceback" not in done.err


def refused(site: Site, *arguments: str, says: str) -> Run:
    done = site.run(*arguments)
    assert done.status == 1, done.err
    assert says in done.err
    assert done.commands == [], "something was written"
    assert "Traceback" not in done.err
    return done


def test_without_approval_nothing_is_written_on_any_host(site: Site) -> None:
    refused(site, "-y", says="a: expected a plan that was approved, found none [not_approved]")
    refused(site, "-y", says="b: expected a plan that was approved, found none [not_approved]")


def test_whoever_only_presses_enter_has_approved_nothing(site: Site) -> None:
    done = site.run(typed="\n")
    assert done.status == 1, done.err
    assert done.commands == []
    assert done.asked == [], "not even the lock is taken"
    assert "expected a plan that was approved, found none [not_approved]" in done.err


def test_every_host_of_a_run_needs_exactly_one_plan(site: Site) -> None:
    plans = site.run("--dry").plans
    refused(site, "--data", f"plan={plans['a']}", "-y", says="b: expected a plan that was approved, found none")
    twice = ",".join(plans.values())
    refused(site, "--data", f"plan={twice}", "-y", says="a: expected one approved plan, found")
    other = "sha256:" + "0" * 64
    refused(site, "--data", f"plan={other}", "-y", says=f"a, b: expected plan {other}, which was approved, found")


@pytest.mark.parametrize("word", ["7", "true", "sha256:12", "{}", ""])
def test_a_word_that_is_no_digest_is_told(site: Site, word: str) -> None:
    done = refused(site, "--data", f"plan={word}", "-y", says="plan: expected digests as sha256:…, with commas between")
    assert done.looks == [], "no host is asked before"


def test_a_host_that_moved_since_it_was_looked_at_is_refused(site: Site) -> None:
    dry = site.run("--dry")
    site["b"] = observed.with_link(site["b"], observed.link("enp1s0f0np0", mtu=1400))
    done = site.approved(dry, "a", "b")
    assert done.status == 1
    assert "[plan_moved]" in done.err
    assert done.commands == []


def test_what_drifts_while_the_run_executes_is_refused_and_not_written(site: Site) -> None:
    dry = site.run("--dry")
    ends = {each.interface: each for each in site.roster.desired_for("a").rail_ends}
    mine, other = (document_for(ends[name]) for name in INTERFACES[:2])
    edited = observed.netplan_file(other.path, other.text.replace("9000", "1400"))
    written = observed.with_file(site["a"], observed.netplan_file(mine.path, mine.text))
    site.drift("a", 1, observed.with_file(written, edited))
    done = site.approved(dry, "a", "b")
    assert done.status == 1, done.err
    assert (
        f"a {other.path}: expected absent -> {other.content_digest} 0600 root, as in the approved plan, found"
        in done.err
    )
    assert [host for host, _ in done.commands].count("a") == 1
    assert edited in known(site["a"].netplan)


def test_what_the_run_itself_has_moved_is_no_drift(site: Site) -> None:
    """A profile came up by itself when its neighbour's did, and has no GID yet; Ollama loads while it starts."""
    dry = site.run("--dry")
    late = "enP2p1s0f0np0"
    up = observed.as_desired(site.roster.desired_for("a").rail_ends, "a")
    gids = tuple(each for each in known(up.roce_gids) if each.netdev != late)
    served = {each: getattr(site["a"], each) for each in SERVED}
    site.drift("a", 3, up.model_copy(update=served | {"roce_gids": gids}))
    done = site.approved(dry, "a", "b")
    assert done.status == 0, done.err
    assert site.run("-y").commands == []


def test_a_step_that_nobody_foresaw_is_refused(site: Site) -> None:
    """Somebody loads another model into the Ollama of a host that was as desired."""
    assert site.approved(site.run("--dry"), "a", "b").status == 0
    site["a"] = observed.with_link(site["a"], observed.link("enp1s0f0np0"))
    stranger = ollama_host.loaded(name="stranger:1")
    loaded = (*known(site["a"].ollama_residency).residents, stranger)
    crowded = site["a"].model_copy(update={"ollama_residency": Residency(source="api", residents=loaded)})
    dry = site.run("--dry")
    end = next(each for each in site.roster.desired_for("a").rail_ends if each.interface == "enp1s0f0np0")
    site.drift("a", 1, observed.with_link(crowded, observed.link(end.interface, end.mtu, [str(end.address)])))
    done = site.approved(dry, "a", "b")
    assert done.status == 1, done.err
    assert "a ollama resident stranger:1: expected nothing to be due here, as in the approved plan" in done.err
    assert [host for host, _ in done.commands] == ["a"]


def test_one_deploy_makes_one_plan(site: Site) -> None:
    both = ("deploys/fabric.py", "deploys/serve.py")
    done = site.run("--dry", deploys=both)
    assert done.status == 1
    assert "expected one deploy in a run" in done.err
    fabric = site.run("--dry", deploys=("deploys/fabric.py",))
    assert fabric.status == 0, fabric.err
    assert "ollama" not in fabric.err
    assert set(fabric.plans.values()).isdisjoint(site.run("--dry").plans.values())


@pytest.mark.parametrize(
    "otherwise",
    [
        "import operations.netplan; operations.netplan.durable_step = lambda *_: None",
        "import operations.ollama; operations.ollama.evict_steps = lambda *_: 1 / 0",
        "import fleet.decide; fleet.decide.running_step = lambda *_: None",
    ],
)
def test_operations_that_would_do_otherwise_than_planned_stop_the_run_as_a_bug(site: Site, otherwise: str) -> None:
    (site.world / "patch.py").write_text(otherwise)
    dry = site.run("--dry")
    assert dry.status == 1, dry.err
    if "1 / 0" not in otherwise:
        assert "a bug in sparks: the plan and the operations disagree; nothing was written" in dry.err
        assert "a enp1s0f0np0 " in dry.err
    assert dry.commands == []
