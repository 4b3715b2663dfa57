"""The kernel: what is installed and held, the words of its command line, and what the next boot starts. Nothing boots.

pyinfra inventories/sparks.py deploys/kernel.py --dry
"""

from pyinfra import host

from deploys.target import applied_to, complete, desired_state
from fleet.decide import GENERATION
from fleet.target import Scope
from operations import generation

desired = desired_state(host, Scope.KERNEL)

generation.stamp(name=GENERATION, desired=desired, applied=lambda: applied_to(host))
complete(host)
