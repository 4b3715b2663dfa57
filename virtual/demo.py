"""`make demo`: the main job on virtual Sparks, in five steps, every command printed so that it can be repeated."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import click

from virtual.errors import LabError
from virtual.lab import Lab

ROOT = Path(__file__).resolve().parent.parent
SERVE = ("pyinfra", "inventories/virtual.py", "deploys/serve.py")
PLAN = re.compile(r"plan (sha256:[0-9a-f]{64}) for \S+$", re.MULTILINE)
"""How a dry run tells the plan of a virtual Spark; behind a deployment's name it says where that is."""
AS_DESIRED = "is as desired"
"""What a deploy prints of each host that needs nothing."""


def main() -> None:
    """Run the demo; exits 1 with one line when a step does not come out as it says."""
    try:
        _demo(Lab(say=click.echo))
    except LabError as error:
        error.show()
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo("\ninterrupted; `sparks virtual down` stops the virtual Sparks", err=True)
        sys.exit(130)


def _demo(lab: Lab) -> None:
    started = time.monotonic()
    machines = _boot(lab)
    _title(1, "dry run: what would change, and on which host? Nothing is written.")
    dry = _run(*SERVE, "--dry")
    _expect(AS_DESIRED not in dry, "every virtual Spark needs something")
    _title(2, "converge: carry out exactly those plans, named by their digests, and read back what was done.")
    _run(*SERVE, "--data", f"plan={','.join(PLAN.findall(dry))}", "-y")
    _title(3, "converge again: a second run must find nothing to do, and so needs no approval.")
    _expect_as_desired(_run(*SERVE, "-y"), machines)
    _title(4, "power cycle: both at once, as a breaker would. What lived only in memory is gone.")
    _run("sparks", "virtual", "power-cycle", *machines)
    _title(5, "dry run after the power cycle: still nothing to change.")
    for machine in machines:
        _run("sparks", "virtual", "ssh", machine, "systemctl is-system-running --wait")
    _expect_as_desired(_run(*SERVE, "--dry"), machines)
    minutes, seconds = divmod(int(time.monotonic() - started), 60)
    click.secho(f"\nDone in {minutes} min {seconds} s: what was declared is durable.", bold=True)
    click.echo("The virtual Sparks are still up. `sparks virtual down` stops them, `make test` tests everything.")


def _boot(lab: Lab) -> tuple[str, ...]:
    """Bring the lab up from nothing or from its cache, blank either way."""
    click.secho("Virtual Sparks: real kernels with soft-RoCE, systemd, NetworkManager, netplan and SSH;", bold=True)
    click.echo("the Ollama on them is a stand-in that speaks its API. The first start builds the image once.")
    click.echo("Every command is shown; to repeat one: export PATH=$PWD/.venv/bin:$PATH\n")
    _command("sparks", "virtual", "up")
    lab.up()
    _command("sparks", "virtual", "reset")
    lab.reset()
    return tuple(machine.name for machine in lab.state.machines)


def _title(number: int, text: str) -> None:
    click.secho(f"\n=== {number}/5  {text}", bold=True, fg="cyan")


def _command(*command: str) -> None:
    click.secho(f"$ {' '.join(command)}", bold=True)


def _run(*command: str) -> str:
    """Run one command of this checkout, show it and its output as it comes; what it printed."""
    _command(*command)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            click.echo(f"  {line}", nl=False)
    _expect(process.returncode == 0, f"it ended with status {process.returncode}")
    return "".join(lines)


def _expect_as_desired(output: str, machines: tuple[str, ...]) -> None:
    for machine in machines:
        _expect(f"{machine} {AS_DESIRED}" in output, f"{machine} is as desired")


def _expect(truth: bool, what: str) -> None:
    if not truth:
        raise LabError(f"the demo stops here: expected {what}, found otherwise above")


if __name__ == "__main__":
    main()
