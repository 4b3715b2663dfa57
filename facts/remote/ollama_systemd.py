"""What systemd says of Ollama's units. Carried as text, beside `ollama_probe` and `ollama_program`."""

import functools
import subprocess

PROPERTIES = (
    "LoadState", "ActiveState", "SubState", "UnitFileState", "NeedDaemonReload", "MainPID", "User",
    "ExecStart", "ExecMainStartTimestampMonotonic", "FragmentPath", "Environment", "EnvironmentFiles",
    "PassEnvironment", "UnsetEnvironment",
)  # fmt: skip

SYSTEMCTL_SECONDS = 45
"""For an answer of PID 1: over 10 s on a virtual Spark beside seven others on two processors (2026-11-30)."""


@functools.cache
def shown(units, blind):
    """What systemd says of some units; looks that run in one process see them at one moment."""
    blocks = asked([*units, "--property", ",".join(PROPERTIES)], blind).split("\n\n") + [""] * len(units)
    return [properties(block) for block, _ in zip(blocks, units, strict=False)]


def of_manager(passed, units, blind):
    """What systemd gives to each process that it starts, and of its own environment what a unit has it pass on.

    + passed: PassEnvironment= of the unit
    """
    given = units.shown_environment(properties(asked(["--property", "Environment"], blind))["Environment"])
    return given | ({name: value for name, value in own(blind).items() if name in passed} if passed else {})


def own(blind):
    """The environment of PID 1 (systemd.exec(5): PassEnvironment= takes it from there)."""
    try:
        with open("/proc/1/environ", "rb") as file:
            pairs = file.read().decode("utf-8", "backslashreplace").split("\0")
    except OSError as error:
        raise blind(f"environment of process 1: {error.strerror}") from error
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def asked(words, blind):
    command = ["systemctl", "show", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SYSTEMCTL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise blind(f"systemctl show: {type(error).__name__}") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["failed"]
        raise blind(f"systemctl show: {said[-1][:200]}")
    return done.stdout


def properties(block):
    found = dict.fromkeys(PROPERTIES, "")
    for line in block.splitlines():
        name, _, value = line.partition("=")
        found[name] = found[name] + "\n" + value if found.get(name) else value
    return found
