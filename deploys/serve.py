"""Serving: the fabric first, then Ollama with its settings, its models, and what stays loaded.

pyinfra inventories/sparks.py deploys/serve.py --dry
"""

from pyinfra import host, local

from deploys.target import applied_to, beside_of, complete, desired_state, hands_over
from facts.desired import admission_for, drained_for
from fleet.decide import (
    GENERATION,
    OLLAMA_MODELS,
    OLLAMA_OFFERS,
    OLLAMA_PROGRAM,
    OLLAMA_RESIDENTS,
    OLLAMA_SETTINGS,
    OLLAMA_STOPS,
    OLLAMA_STOPS_FIRST,
)
from fleet.target import Scope
from operations import generation, ollama, ollama_copy, ollama_move, ollama_program

desired = desired_state(host, Scope.SERVE)
serving, beside, drained = desired.ollama, beside_of(host), drained_for(host)

local.include("deploys/fabric.py")

# What moves is stopped where it was once it answers where it goes, or before it starts there, as the roster says.
ollama_move.stopped(name=OLLAMA_STOPS_FIRST, desired=desired, first=True, drained=drained, others=beside.hosts)

ollama_program.installed(name=OLLAMA_PROGRAM, desired=serving)
ollama.service(name=OLLAMA_SETTINGS, desired=serving, drained=drained)
ollama_copy.offered(name=OLLAMA_OFFERS, desired=desired, offers=beside.offers)
ollama.model(name=OLLAMA_MODELS, desired=serving, drained=drained, sources=beside.sources)
ollama.resident(
    name=OLLAMA_RESIDENTS,
    desired=serving,
    drained=drained,
    policy=desired.memory_policy,
    admission=admission_for(host),
)

ollama_move.answers(name="ollama answers", desired=serving, asked=lambda: hands_over(host))
ollama_move.stopped(name=OLLAMA_STOPS, desired=desired, first=False, drained=drained, others=beside.hosts)

generation.stamp(name=GENERATION, desired=desired, applied=lambda: applied_to(host))
complete(host)
