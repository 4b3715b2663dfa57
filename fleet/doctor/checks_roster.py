"""Checks of a roster and of how its hosts are reached: no host is asked. What cannot be at all is a wall elsewhere."""

from collections.abc import Iterator
from decimal import Decimal

from fleet.doctor.check import Found, Reached, Site, SiteCheck
from fleet.doctor.finding import Level
from fleet.fit.instrument import GIB

CEILING = Decimal("0.95")
"""Above that an engine's start fails on what the instruments differ by: 6.8 GiB of 121.69 (field notes)."""
RESERVE_BYTES = 4 * GIB
"""Below that a Spark under load has reached its memory guard (3 to 5 GiB, field notes)."""
JUMBO = 9000


def _no_rail(asked: Site) -> Iterator[Found]:
    joined = {end.spark for segment in asked.roster.segments for end in segment.ends}
    for name in asked.roster.enrolled:
        if asked.roster.fabrics and name not in joined:
            yield Found(f"sparks.{name}", "a rail in one of the fabrics", "none", host=name)


def _unused_fabric(asked: Site) -> Iterator[Found]:
    enrolled = set(asked.roster.enrolled)
    for name, fabric in sorted(asked.roster.fabrics.items()):
        if not fabric.segments:
            yield Found(f"fabrics.{name}", "a cable", "none")
        elif not enrolled & set(fabric.sparks):
            yield Found(f"fabrics.{name}", "an enrolled spark in it", "sparks that are only named")


def _half_enrolled(asked: Site) -> Iterator[Found]:
    enrolled = set(asked.roster.enrolled)
    for segment in asked.roster.segments:
        named = sorted({end.spark for end in segment.ends} - enrolled)
        if named and len(named) < len(segment.ends):
            yield Found(segment.joined(), "every end enrolled", f"{', '.join(named)} only named")


def _small_mtu(asked: Site) -> Iterator[Found]:
    for segment in asked.roster.segments:
        mtu = segment.ends[0].mtu
        if mtu < JUMBO:
            yield Found(segment.joined(), f"an MTU of {JUMBO}", str(mtu))


def _no_floor(asked: Site) -> Iterator[Found]:
    enrolled = set(asked.roster.enrolled)
    for name, fabric in sorted(asked.roster.fabrics.items()):
        if fabric.floor_gbps is None and enrolled & set(fabric.sparks):
            yield Found(f"fabrics.{name}.floor_gbps", "the least bandwidth of a twin", "none",
                        f'"floor_gbps": 90 in fabrics.{name}, then sparks bandwidth')  # fmt: skip


def _cluster(asked: Site) -> Iterator[Found]:
    enrolled = set(asked.roster.enrolled)
    for name, cluster in sorted(asked.roster.clusters.items()):
        named = sorted(set(cluster.sparks) - enrolled)
        if named:
            yield Found(f"clusters.{name}.sparks", "enrolled sparks", f"{', '.join(named)} only named")


def _policy(asked: Site) -> Iterator[Found]:
    policy = asked.roster.memory
    if policy.ceiling > CEILING:
        yield Found("memory.ceiling", f"at most {CEILING}", str(policy.ceiling))
    if policy.reserve_bytes < RESERVE_BYTES:
        yield Found("memory.reserve_bytes", f"at least {RESERVE_BYTES}", str(policy.reserve_bytes))


def _place(reached: Reached) -> str:
    return reached.host if reached.place == reached.host else f"{reached.host} {reached.place}"


def _unresolved(asked: Site) -> Iterator[Found]:
    for each in asked.reached:
        if each.unresolved is not None:
            yield Found(_place(each), "a name that means an address here", each.unresolved,
                        f"ssh_hostname of {each.host} in the inventory, or /etc/hosts", each.host)  # fmt: skip


def _unpinned(asked: Site) -> Iterator[Found]:
    for each in asked.reached:
        if not each.pinned:
            fix = f"ssh-keyscan {_scanned(each.place)} >> {each.known_hosts}, compared with its console"
            yield Found(_place(each), f"a host key in {each.known_hosts}", "none", fix, each.host)


def _scanned(place: str) -> str:
    """A place of known_hosts, `[name]:port` where the port is another, as ssh-keyscan takes it."""
    name, _, port = place.rpartition("]:")
    return f"-p {port} {name.removeprefix('[')}" if name else place


def _unread(asked: Site) -> Iterator[Found]:
    if asked.unread is not None:
        yield Found("inventory", "its hosts", " ".join(asked.unread.split()))


ROSTER: tuple[SiteCheck, ...] = (
    SiteCheck(
        id="roster.inventory",
        level=Level.ERROR,
        looks_for="An inventory whose hosts cannot be read here.",
        why="Nothing reaches the site from this machine. Of virtual Sparks it says that the lab is down.",
        fix="Mend what it names.",
        find=_unread,
    ),
    SiteCheck(
        id="roster.no_rail",
        level=Level.INFO,
        looks_for="An enrolled Spark that no fabric of the site joins.",
        why="It may be meant so. If not, its cable is missing from the roster, and nothing of it is made durable.",
        fix="Add its cable to a fabric.",
        find=_no_rail,
    ),
    SiteCheck(
        id="roster.unused_fabric",
        level=Level.INFO,
        looks_for="A fabric without a cable, or none of whose Sparks is enrolled.",
        why="Nothing of it is ever made or looked at, although it reads as if it were.",
        fix="Enrol its Sparks, or take it out.",
        find=_unused_fabric,
    ),
    SiteCheck(
        id="roster.half_enrolled",
        level=Level.INFO,
        looks_for="A rail of which one end is on a Spark that is only named.",
        why="Its far end is never looked at: a ping that fails says nothing about which end is wrong.",
        fix="Enrol the Spark, if it is yours.",
        find=_half_enrolled,
    ),
    SiteCheck(
        id="roster.small_mtu",
        level=Level.WARN,
        looks_for="A rail with an MTU below 9000.",
        why="RDMA then works with packets of 1024 or 2048 bytes instead of 4096.",
        fix='Set `"mtu": 9000` for both ends, and let the switch pass it.',
        find=_small_mtu,
    ),
    SiteCheck(
        id="roster.no_floor",
        level=Level.INFO,
        looks_for="A fabric whose bandwidth nobody judges.",
        why="A healthy link at 200 Gb/s may carry 13 Gb/s (dgx-spark-playbooks, PR#108). Only a measured figure tells, "
        "and only against a floor.",
        fix="Declare `floor_gbps` (a twin has 92 to 112 Gb/s), and measure with `sparks bandwidth`.",
        find=_no_floor,
    ),
    SiteCheck(
        id="roster.cluster_named",
        level=Level.WARN,
        looks_for="A cluster with a Spark that is only named.",
        why="Nothing starts there by any run of ours, so the cluster is never whole.",
        fix="Enrol the Spark, or take it out of the cluster.",
        find=_cluster,
    ),
    SiteCheck(
        id="roster.memory_policy",
        level=Level.WARN,
        looks_for="A memory policy that leaves the host hardly anything.",
        why="On a Spark host and GPU share one memory; what instruments say is free differs by 7 GiB, and a host "
        "without memory is one that no SSH reaches.",
        fix="Lower `memory.ceiling`, raise `memory.reserve_bytes`: 8 GiB is what labs have settled on.",
        find=_policy,
    ),
    SiteCheck(
        id="roster.unresolved",
        level=Level.ERROR,
        looks_for="A host of the inventory whose name means no address on this machine.",
        why="No run reaches it from here. Where a jump host resolves names, none is asked for here.",
        fix="Set `ssh_hostname` in the inventory, or put the name into DNS or /etc/hosts.",
        find=_unresolved,
    ),
    SiteCheck(
        id="roster.unpinned",
        level=Level.ERROR,
        looks_for="A host without a key in the site's file of known hosts.",
        why="A key that is not pinned is refused, so no run reaches the host.",
        fix="`ssh-keyscan` over a path that you trust, compared with the host's console.",
        find=_unpinned,
    ),
)
