"""What systemd says of Ollama's units. Carried as text, beside `ollama_probe` and `ollama_program`."""

import functools
import subprocess

PROPERTIES = (
    "LoadState", "ActiveState", "SubState", "UnitFileState", "NeedDaemonReload", "MainPID", "User",
    "ExecStart", "ExecMainStartTimestampMonotonic", "FragmentPath", "Environment", "EnvironmentFiles",
)  # fmt: skip

SYSTEMCTL_SECONDS = 45
"""For an answer of PID 1: over 10 s on a virtual Spark beside seven others on two processors (2026-11-30)."""


@functools.cache
def shown(units, blind):
    """What systemd says of some units; looks that run in one process see them at one moment."""
    command = ["systemctl", "show", *units, "--property", ",".join(PROPERTIES)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SYSTEMCTL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise blind(f"systemctl show: {type(error).__name__}") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["failed"]
        raise blind(f"systemctl show: {said[-1][:200]}")
    blocks = done.stdout.split("\n\n") + [""] * len(units)
    return [properties(block) for block, _ in zip(blocks, units, strict=False)]


def properties(block):
    found = dict.fromkeys(PROPERTIES, "")
    for line in block.splitlines():
        name, _, value = line.partition("=")
        found[name] = found[name] + "\n" + value if found.get(name) else value
    return found
