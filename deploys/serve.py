"""Serving: the fabric first, then Ollama with its settings, its models, and what stays loaded.

pyinfra inventories/sparks.py deploys/serve.py --dry
"""

from pyinfra import host, local

from deploys.target import applied_to, complete, desired_state
from facts.desired import admission_for, drained_for
from fleet.decide import GENERATION, OLLAMA_MODELS, OLLAMA_RESIDENTS, OLLAMA_SETTINGS
from fleet.target import Scope
from operations import generation, ollama

desired = desired_state(host, Scope.SERVE)
serving = desired.ollama

local.include("deploys/fabric.py")

ollama.service(name=OLLAMA_SETTINGS, desired=serving, drained=drained_for(host))
ollama.model(name=OLLAMA_MODELS, desired=serving, drained=drained_for(host))
ollama.resident(
    name=OLLAMA_RESIDENTS,
    desired=serving,
    drained=drained_for(host),
    policy=desired.memory_policy,
    admission=admission_for(host),
)

generation.stamp(name=GENERATION, desired=desired, applied=lambda: applied_to(host))
complete(host)
