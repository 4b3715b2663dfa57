"""The rest of a host, by its policy: kernel settings and what else is neither fabric, kernel nor serving.

pyinfra inventories/ring.py deploys/host.py --dry
"""

from pyinfra import host

from deploys.target import applied_to, complete, desired_state
from fleet.decide import GENERATION
from fleet.host.decide import PARTS
from fleet.target import Scope
from operations import generation
from operations.host import part

desired = desired_state(host, Scope.HOST)

for each in host.loop(PARTS):
    part(name=each, desired=desired, name_of_part=each)

generation.stamp(name=GENERATION, desired=desired, applied=lambda: applied_to(host))
complete(host)
