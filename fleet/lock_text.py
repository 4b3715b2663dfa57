"""The lock as text: the file on a host, and what a look at it says. Lines of a word and its values."""

from collections.abc import Mapping

from fleet.controller import Controller
from fleet.lock import Lock, LockState, Process

NONE = "-"
"""Stands for a value that is not there."""


def lock_head(token: str, plan: str | None, controller: Controller) -> str:
    """The lines of the file that the controller knows; the host adds its own."""
    there = (controller.boot_id, controller.pid_namespace, controller.machine_id_digest)
    words = " ".join(map(str, (controller.pid, controller.started_ticks, *(each or NONE for each in there))))
    return f"token {token}\nowner {controller.owner}\nplan {plan or NONE}\ncontroller {words}\n"


def parse_lock_state(text: str) -> LockState:
    """From `now BOOT_ID`, then `digest HEX`, the lines of the file after `| `, `lives yes|no|-`, and `at-work`.

    Raises ValueError for what is not so.
    """
    lines = text.splitlines()
    file = dict(_pair(line.removeprefix("| ")) for line in lines if line.startswith("| "))
    said = dict(_pair(line) for line in lines if not line.startswith("| "))
    if "now" not in said or said.keys() - {"now", "digest", "lives", "at-work"}:
        raise ValueError("lock: expected the host's boot and its lock, found other lines")
    at_work = "at-work" in said
    if "digest" not in said:
        return LockState(boot_id=said["now"], at_work=at_work)
    lives = {"yes": True, "no": False, NONE: None}[said["lives"]]
    return LockState(boot_id=said["now"], at_work=at_work, held=_lock(file, said["digest"]), holder_lives=lives)


def _pair(line: str) -> tuple[str, str]:
    word, _, rest = line.partition(" ")
    return word, rest


def _lock(file: Mapping[str, str], digest: str) -> Lock:
    pid, ticks, boot, namespace, machine = file["controller"].split()
    user, _, host = file["owner"].partition("@")
    return Lock(
        token=file["token"],
        client=_known(file["from"]),
        since=file["since"],
        plan=_known(file["plan"]),
        controller=Controller(
            user=user,
            host=host,
            boot_id=_known(boot) or "",
            pid=int(pid),
            started_ticks=int(ticks),
            pid_namespace=_known(namespace),
            machine_id_digest=_known(machine),
        ),
        boot_id=file["boot"],
        holder=_process(file["holder"]),
        content_digest=f"sha256:{digest}",
    )


def _known(value: str) -> str | None:
    return None if value == NONE else value


def _process(words: str) -> Process | None:
    if words == NONE:
        return None
    pid, ticks = words.split()
    return Process(pid=int(pid), started_ticks=int(ticks))
