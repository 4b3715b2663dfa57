"""What starts an offer of a model on a host: a unit of its own, closed in, that ends by itself."""

import hashlib
import json
from importlib.resources import files
from shlex import quote

from fleet.ollama.steps import OfferModel

PLACE = "/run/sparks-ollama-offer"
IDLE_SECONDS = 300
"""After which nobody copies any more: the other side hashes what it has already before it asks for the rest."""

CLOSED_IN = (
    "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=read-only", "PrivateTmp=yes", "PrivateDevices=yes",
    "ProtectKernelTunables=yes", "ProtectKernelModules=yes", "ProtectControlGroups=yes", "RestrictSUIDSGID=yes",
    "RestrictAddressFamilies=AF_INET", "LockPersonality=yes", "CapabilityBoundingSet=", "IPAddressDeny=any",
)  # fmt: skip
"""It reads a store and answers one client; it writes its port under /run, and nothing else (systemd.exec(5))."""


def unit_of(manifest_digest: str, client: str) -> str:
    """The name of the unit that offers one model to one client: a second start takes the first one's place."""
    named = hashlib.sha256(f"{manifest_digest} {client}".encode()).hexdigest()[:16]
    return f"sparks-ollama-offer-{named}"


def offer_script(step: OfferModel) -> str:
    """Starts the offer and prints its port and token as JSON, which nobody else on the host can read."""
    unit = unit_of(step.manifest_digest, step.client)
    folder, ready = f"{PLACE}/{unit}", f"/run/{unit}/port"
    asked = {
        "address": step.address, "client": step.client, "digest": step.manifest_digest, "idle": IDLE_SECONDS,
        "blobs": f"{step.directory}/blobs", "manifest": f"{step.directory}/manifests/{manifest_path(step.model)}",
        "ready": ready,
    }  # fmt: skip
    properties = (*CLOSED_IN, f"IPAddressAllow={step.client}", f"RuntimeMaxSec={step.seconds}",
                  f"RuntimeDirectory={unit}", f"LoadCredential=token:{folder}/token",
                  f"ExecStopPost=+/bin/rm -rf {folder}")  # fmt: skip
    values = {
        "unit": unit, "folder": folder, "ready": ready, "asked": json.dumps(asked), "server": _text("ollama_offer.py"),
        "owner": step.directory, "about": f"Offer {step.model} to {step.to}", "properties": "\n".join(properties),
    }  # fmt: skip
    head = "".join(f"{name}={quote(value)}\n" for name, value in values.items())
    return head + _text("ollama_offer.sh")


def manifest_path(name: str) -> str:
    """Where a store keeps the manifest of a name, below its `manifests`, as Ollama does."""
    rest, _, tag = name.rpartition(":")
    parts = rest.split("/")
    host = parts.pop(0) if len(parts) > 2 else "registry.ollama.ai"
    space = parts.pop(0) if len(parts) > 1 else "library"
    return f"{host}/{space}/{parts[0]}/{tag}"


def _text(name: str) -> str:
    return files("operations.remote").joinpath(name).read_text(encoding="utf-8")
