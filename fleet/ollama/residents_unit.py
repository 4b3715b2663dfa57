"""What stays loaded, made durable: a unit that `ollama.service` wants and that asks it to load each resident.

Ollama loads nothing by itself, so a resident would be gone after a power cycle and after each restart.
"""

import json
from collections.abc import Iterable

from fleet.ollama.deployment import OllamaDeployment, OllamaResidentPin
from fleet.record import sha256_digest

RESIDENTS = "sparks-ollama-residents.service"
RESIDENTS_PATH = f"/etc/systemd/system/{RESIDENTS}"

CURL = "/usr/bin/curl"
"""Where Ubuntu and Debian install it; DGX OS has it (NVIDIA's own set-up steps use it)."""
RETRY_SECONDS = 600
"""How long a server that has just started may take before it listens: it looks for GPUs first."""


def residents_text(desired: OllamaDeployment) -> str | None:
    """The exact text of the unit; None where nothing is to stay loaded, and so no unit should be."""
    if not desired.residents:
        return None
    return f"""\
# Managed by sparks (operations.ollama.service); what is written here by hand is replaced.
[Unit]
Description=Load what Ollama keeps resident
After=ollama.service
PartOf=ollama.service

[Service]
Type=oneshot
RemainAfterExit=yes
TimeoutStartSec=infinity
{"".join(_lines(desired.endpoint.url, desired.residents))}
[Install]
WantedBy=ollama.service
"""


def residents_digest(desired: OllamaDeployment) -> str | None:
    """The digest of the unit's text; None where there should be no unit."""
    text = residents_text(desired)
    return None if text is None else sha256_digest(text.encode())


def _lines(url: str, residents: Iterable[OllamaResidentPin]) -> Iterable[str]:
    """One command each. Its failure (`-`) is no failure of the unit: what is loaded is looked at, not believed."""
    for pin in residents:
        asked = {"model": pin.model, "keep_alive": pin.keep.request, "options": {"num_ctx": pin.context}}
        yield (
            f"ExecStart=-{CURL} --fail --silent --show-error --output /dev/null --retry {RETRY_SECONDS} "
            f"--retry-delay 1 --retry-max-time {RETRY_SECONDS} --retry-connrefused "
            f"--data '{json.dumps(asked)}' {url}/api/generate\n"
        )
