"""What can be observed of Ollama: the unit, the models it holds, the models it has loaded."""

from fleet.ollama.residency import Residency, Resident
from fleet.ollama.service import ServiceState
from fleet.ollama.store import ModelStore, OllamaModel

__all__ = ["ModelStore", "OllamaModel", "Residency", "Resident", "ServiceState"]
