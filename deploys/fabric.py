"""The fabric: what others left as declared, every rail end durable under /etc/netplan, then active,
and in a ring with transit each Spark passing on what its neighbours send each other; last the management connection.

pyinfra inventories/sparks.py deploys/fabric.py --dry
"""

from pyinfra import host

from deploys.target import applied_to, complete, desired_state, is_whole
from fleet.decide import FILES_OF_OTHERS, GENERATION, MANAGEMENT, TRANSIT, active, durable
from fleet.hardware import INTERFACES
from fleet.target import Scope
from operations import generation, netplan, others, transit

desired = desired_state(host, Scope.FABRIC)

others.declared(name=FILES_OF_OTHERS, desired=desired)

# Every host runs the same operations in the same order, whatever it is cabled with: pyinfra tells operations
# apart by their place, and would otherwise merge unrelated ones. Every document comes before any activation.
for interface in host.loop(INTERFACES):
    netplan.document(name=durable(interface), end=desired.end_on(interface))

for interface in host.loop(INTERFACES):
    netplan.active(name=active(interface), end=desired.end_on(interface))

transit.forwarding(name=TRANSIT, desired=desired)

# The last change, since it may end a run: what cuts SSH and is not confirmed fails the host.
netplan.management(name=MANAGEMENT, desired=desired)

if is_whole(host, Scope.FABRIC):
    generation.stamp(name=GENERATION, desired=desired, applied=lambda: applied_to(host))
    complete(host)
