"""Every check there is, by domain, and every id that a finding can have."""

from typing import Any

from fleet.doctor.check import Check, HostCheck, SiteCheck
from fleet.doctor.checks_bandwidth import BANDWIDTH
from fleet.doctor.checks_deployments import DEPLOYMENTS
from fleet.doctor.checks_engines import ENGINES
from fleet.doctor.checks_fabric import FABRIC
from fleet.doctor.checks_host import HOST
from fleet.doctor.checks_journal import JOURNAL
from fleet.doctor.checks_kernel import KERNEL
from fleet.doctor.checks_mounts import MOUNTS
from fleet.doctor.checks_packages import PACKAGES
from fleet.doctor.checks_policies import POLICIES
from fleet.doctor.checks_receipts import RECEIPTS
from fleet.doctor.checks_residency import RESIDENCY
from fleet.doctor.checks_roster import ROSTER
from fleet.doctor.checks_serving import SERVING
from fleet.doctor.checks_together import TOGETHER

_OF_HOSTS = (FABRIC, SERVING, ENGINES, RESIDENCY, KERNEL, PACKAGES, HOST, MOUNTS, JOURNAL)
HOST_CHECKS: tuple[HostCheck, ...] = tuple(check for checks in _OF_HOSTS for check in checks)
SITE_CHECKS: tuple[SiteCheck, ...] = (*ROSTER, *POLICIES, *DEPLOYMENTS)

DOMAINS: tuple[tuple[str, str, tuple[Check[Any], ...]], ...] = (
    ("The roster", "No host is asked for these: `sparks doctor --static` has nothing else but receipts.", SITE_CHECKS),
    ("Receipts", "What the controller keeps.", RECEIPTS),
    ("The fabric", "What no plan decides about; what one does is under *The planner*.", (*FABRIC, *BANDWIDTH)),
    ("Serving", "", (*SERVING, *ENGINES)),
    ("Who holds memory", "See [memory.md](../memory.md).", RESIDENCY),
    ("The kernel", "All but `kernel.kho` are asked only of a Spark that has a kernel policy.", (*KERNEL, *PACKAGES)),
    ("The host", "What its host policy says is the planner's. See also the journal, below.", (*HOST, *MOUNTS)),
    ("Journal, firmware, files", "", JOURNAL),
    ("Sparks together", "Of those that were asked, as far as they answered.", TOGETHER),
)
"""Title, a word before, and the checks."""

CHECKS: dict[str, Check[Any]] = {each.id: each for _, _, checks in DOMAINS for each in checks}
