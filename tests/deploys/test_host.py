"""`deploys/host.py` on pyinfra's own command line: a plan of its own scope, carried out when it is named."""

from pathlib import Path

from fleet.observation import Observation
from tests.deploys.site import VALUES, Site
from tests.fleet.host import host

POLICY = {"sysctls": {"vm.swappiness": 1}, "default_target": "multi-user.target", "units": {"cups.service": "masked"}}
SPARKS = {name: spark | {"host": "plain"} for name, spark in VALUES["sparks"].items() if spark["enrolled"]}
DEPLOY = ("deploys/host.py",)


def as_it_comes(site: Site, name: str) -> Observation:
    policy = site.roster.desired_for(name).host
    assert policy is not None
    return host.with_desktop(name, policy)


def test_what_a_dry_run_tells_is_carried_out_when_it_is_named(tmp_path: Path) -> None:
    site = Site(tmp_path, VALUES | {"sparks": VALUES["sparks"] | SPARKS, "hosts": {"plain": POLICY}})
    for name in site.roster.enrolled:
        site[name] = as_it_comes(site, name)
    dry = site.run("--dry", deploys=DEPLOY)
    assert dry.status == 0, dry.err
    assert "a cups.service at boot: enabled -> masked" in dry.err
    assert "192.168" not in dry.err, "the fabric is no part of it"
    named = ("--data", f"plan={dry.plans['a']},{dry.plans['b']}", "-y")
    done = site.run(*named, deploys=DEPLOY)
    assert done.status == 0, done.err
    assert {name for name, _ in done.commands} == {"a", "b"}
