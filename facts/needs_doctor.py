"""Which looks doctor is made of: what every scope decides on, and what its own checks ask besides."""

from facts.bundle import Wanted
from facts.host_clock import Clock
from facts.host_health import Firmware, Journal
from facts.host_kernel import HugePages
from facts.host_mounts import Mounts
from facts.host_systemd import Logins, Units
from facts.model_layouts import ModelLayouts
from facts.needs import Looks, ledger_looks, looks_for
from facts.needs_kernel import kernel_health_looks
from facts.port_settings import PortSettings
from fleet.desired import DesiredSpark
from fleet.doctor.checks_host import REACHED_BY
from fleet.target import Scope

STORE = "/usr/share/ollama/.ollama/models"
"""Where Ollama's own unit keeps models: below the home of its user (ollama.com/install.sh)."""


def doctor_looks(desired: DesiredSpark) -> Looks:
    """Everything that doctor asks a Spark, in one round trip."""
    looks = {name: look for scope in Scope for name, look in looks_for(desired, scope).items()}
    looks = _host_looks() | ledger_looks(desired) | kernel_health_looks(desired) | looks
    return looks | {"units": _units(desired), "port_settings": Wanted(PortSettings)}


def slow_looks(desired: DesiredSpark) -> Looks:
    """The same with what reads the map of every model's file, which takes seconds to minutes."""
    if desired.ollama is None:
        return doctor_looks(desired)
    path = desired.ollama.store or STORE
    return doctor_looks(desired) | {"fragmentation": Wanted(ModelLayouts, (("path", path),))}


def _host_looks() -> Looks:
    """What every Spark is asked, also one without a host policy; where one asks for more, that counts."""
    return {
        "clock": Wanted(Clock),
        "firmware": Wanted(Firmware),
        "huge_pages": Wanted(HugePages),
        "journal": Wanted(Journal),
        "logins": Wanted(Logins),
        "mounts": Wanted(Mounts),
    }


def _units(desired: DesiredSpark) -> Wanted:
    """Those of the policy, and what the Spark is reached by."""
    policy = desired.host
    names = () if policy is None else (*policy.every_unit, *policy.oom_protected)
    return Wanted(Units, (("names", tuple(dict.fromkeys((*names, *REACHED_BY)))),))
