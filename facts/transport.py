"""The transport environment of a Spark, made from its roster and from what it has now."""

import shlex
from typing import Any, ClassVar

from pyinfra import host
from pyinfra.api.exceptions import FactProcessError
from typing_extensions import override

from facts.bundle import Bundle, Wanted
from facts.desired import roster_for
from facts.look import Look
from facts.network import Links
from facts.roce import RoceDevices, RoceGids
from fleet.cluster import choose_cluster
from fleet.observation import Observation
from fleet.roster_error import RosterError
from fleet.transport import Environment, transport_environment

LOOKS = {"links": Wanted(Links), "roce_devices": Wanted(RoceDevices), "roce_gids": Wanted(RoceGids)}
"""The looks that an environment is made from, by section of an observation."""


class TransportEnvironment(Look[Environment]):
    """
    The variables of NCCL, UCX, Gloo, Ray and vLLM for this Spark, by name; ``None`` when its rails are not
    as they must be, or were not observed.

    + cluster: a cluster of the roster; the one that the cabling makes if not given, where there is just one

    .. code:: python

        {"NCCL_IB_HCA": "=rocep1s0f1:1,roceP2p1s0f1:1", "NCCL_IB_GID_INDEX": "3", …}
    """

    timeout_seconds: ClassVar[float] = 100.0

    def command(self, cluster: str | None = None) -> str:
        self._bundle = Bundle()
        try:
            self._roster = roster_for(host)
            self._cluster = choose_cluster(self._roster.clusters, self._roster.fabrics, host.name, cluster)
        except (RosterError, ValueError) as error:
            return f"echo {shlex.quote(str(error))} >&2; exit 64"
        self._name = host.name
        return self._bundle.command(facts=LOOKS.values())

    @override
    def parse(self, text: str) -> Environment:
        seen = self._bundle.parse(text)
        sections: dict[str, Any] = {section: seen[look.name] for section, look in LOOKS.items()}
        management = self._roster.sparks[self._name].management.interface
        observation = Observation(host=self._name, **sections)
        outcome = transport_environment(self._cluster, self._roster.fabrics, self._name, management, observation)
        if isinstance(outcome, tuple):
            raise FactProcessError("; ".join(map(str, outcome)))
        return outcome
