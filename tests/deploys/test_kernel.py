"""`deploys/kernel.py` on pyinfra's own command line: a plan of its own scope, carried out when it is named."""

from pathlib import Path

from fleet.kernel.defaults import FILE
from fleet.observation import known
from tests.deploys.site import VALUES, Site
from tests.fleet.kernel.host import NEW_VERSION, OLD_VERSION, PlayedHost, packages_of
from tests.fleet.kernel.menus import NEW, OLD, selector

POLICY = {"release": NEW, "packages": packages_of(NEW, NEW_VERSION), "fallback": OLD, "page_size_bytes": 65536}
SPARKS = {name: spark | {"kernel": "new"} for name, spark in VALUES["sparks"].items() if spark["enrolled"]}
DEPLOY = ("deploys/kernel.py",)


def test_what_a_dry_run_tells_is_carried_out_when_it_is_named(tmp_path: Path) -> None:
    site = Site(tmp_path, VALUES | {"sparks": VALUES["sparks"] | SPARKS, "kernels": {"new": POLICY}})
    installed = packages_of(NEW, NEW_VERSION) | packages_of(OLD, OLD_VERSION)
    for name in site.roster.enrolled:
        files = {FILE: "GRUB_DEFAULT=saved\n"}
        host = PlayedHost(name=name, running=NEW, packages=installed, files=files)
        host.environment["saved_entry"] = selector(OLD)
        site[name] = host.seen()
    dry = site.run("--dry", deploys=DEPLOY)
    assert dry.status == 0, dry.err
    assert f"a next boot: {OLD} by saved {selector(OLD)}, pinned -> {NEW}, pinned" in dry.err
    assert "192.168" not in dry.err, "the fabric is no part of it"
    done = site.run("--data", f"plan={dry.plans['a']},{dry.plans['b']}", "-y", deploys=DEPLOY)
    assert done.status == 0, done.err
    assert {name for name, _ in done.commands} == {"a", "b"}
    assert all(known(site[name].boot).next.release == NEW for name in "ab")
