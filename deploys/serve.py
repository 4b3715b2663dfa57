"""Serving: the fabric first, then Ollama with its settings, its models, and what stays loaded.

pyinfra inventories/sparks.py deploys/serve.py --dry
"""

from pyinfra import host, local

from deploys.target import desired_state
from fleet.decide import OLLAMA_MODELS, OLLAMA_RESIDENTS, OLLAMA_SETTINGS
from fleet.target import Scope
from operations import ollama

serving = desired_state(host, Scope.SERVE).ollama

local.include("deploys/fabric.py")

ollama.service(name=OLLAMA_SETTINGS, desired=serving)
ollama.model(name=OLLAMA_MODELS, desired=serving)
ollama.resident(name=OLLAMA_RESIDENTS, desired=serving)
