"""Serving: the fabric first, then Ollama with its settings, its models, and what stays loaded.

pyinfra inventories/sparks.py deploys/serve.py --dry
"""

from pyinfra import host, local

from deploys.target import desired_state
from operations import ollama

local.include("deploys/fabric.py")

serving = desired_state(host).ollama

ollama.service(name="ollama settings", desired=serving)
ollama.model(name="ollama models", desired=serving)
ollama.resident(name="ollama residents", desired=serving)
