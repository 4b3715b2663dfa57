"""The answer of a simulated Spark to a bundle of looks."""

import json
import re
from typing import Any

from facts.bundle import Wanted
from facts.look import SENTINEL
from facts.needs import health_looks
from facts.needs_doctor import doctor_looks
from fleet.completion import Completion
from fleet.desired import DesiredSpark
from fleet.generation import Begun
from fleet.kernel.running import Kernel
from fleet.observation import known
from fleet.record import Unobserved
from tests.simulated import lock
from tests.simulated.spark import CLIENT, PORT, SERVER, SimulatedSpark

_PACKED = re.compile(r"look (\d+)")
_CALL = "\nmain("

SOURCES: list[str] = []
"""The programs that were to be packed into a command; what stands for one there is its place here."""

VALUES: dict[str, Any] = {}
"""What is handed over as it is, by the text that stands for it."""

_KNOWN: dict[str, tuple[DesiredSpark, dict[str, str]]] = {}


def pack(source: str) -> str:
    """In place of `facts.bundle.packed`: neither packed here nor unpacked there."""
    SOURCES.append(source)
    return f"look {len(SOURCES) - 1}"


def is_bundle(command: str) -> bool:
    return _PACKED.search(command) is not None


def answer(spark: SimulatedSpark, session: int, command: str) -> str:
    """What the bundle's program prints. What is unfinished on the host comes to its end after it was seen once."""
    if not spark.has_sudo:
        return json.dumps({"refused": "expected sudo without a password for spark, found it refused"}) + f"\n{SENTINEL}"
    names = _names(spark)
    answers = [_section(spark, session, names[_key(each)]) for each in _sections(command)]
    spark.finish()
    return f"{json.dumps(answers)}\n{SENTINEL}"


def _names(spark: SimulatedSpark) -> dict[str, str]:
    """Every look's name, by what a bundle's program is told of it; the same as long as the same is desired."""
    desired, names = _KNOWN.get(spark.desired.name, (None, {}))
    if desired is not spark.desired:
        names = {_key(look.section): name for name, look in _every_look(spark).items()}
        _KNOWN[spark.desired.name] = spark.desired, names
    return names


def _every_look(spark: SimulatedSpark) -> dict[str, Wanted]:
    return doctor_looks(spark.desired) | health_looks(spark.desired)


def _sections(command: str) -> list[dict[str, Any]]:
    """What the program was asked to look at, from its own text."""
    packed = _PACKED.search(command)
    assert packed is not None
    call = SOURCES[int(packed[1])].rpartition(_CALL)[2].partition(")\nprint(")[0]
    asked = json.loads(json.loads(call))
    found: list[dict[str, Any]] = asked["sections"]
    for each in found:
        carried = {name: asked["texts"][number] for name, number in each.pop("texts", {}).items()}
        each |= {"arguments": each["arguments"] | carried} if carried else {}
    return found


def _key(section: dict[str, Any]) -> str:
    return json.dumps({name: each for name, each in section.items() if name != "timeout"}, sort_keys=True)


def _section(spark: SimulatedSpark, session: int, name: str) -> dict[str, Any]:
    made = {"lock": lock.as_seen, "completions": _completions}.get(name)
    value = made(spark) if made else getattr(spark.seen, name)
    if isinstance(value, Unobserved):
        return {"code": 1, "out": "", "error": value.reason}
    return {"code": 0, "out": f"{_text(spark, session, name, value)}{SENTINEL}", "error": ""}


def _text(spark: SimulatedSpark, session: int, name: str, value: Any) -> str:
    match name:
        case "lock":
            return str(value)
        case "guard":
            return ""
        case "session":
            route = json.dumps([{"dev": known(spark.seen.session).ssh.device}])  # type: ignore[union-attr]
            return f"{CLIENT} {40000 + session} {SERVER} {PORT}\n{route}\n"
        case "kernel":
            return _kernel(value)
        case "generation":
            return json.dumps({"stamp": _plain(value.generation), "begun": _plain(value.begun)})
    token = f"simulated {name} {len(VALUES)}\n"
    VALUES[token] = value
    return token


def _completions(spark: SimulatedSpark) -> tuple[Completion, ...]:
    """What is loaded answers."""
    residency = known(spark.seen.ollama_residency)
    return tuple(
        Completion(model=pin.model, kind="completion", asked=is_loaded, count=int(is_loaded and spark.answers),
                   failure=None if is_loaded else "not loaded")
        for pin in spark.ollama.residents
        for is_loaded in [residency.resident(pin.model) is not None]
    )  # fmt: skip


def _kernel(kernel: Kernel) -> str:
    return (
        f"release={kernel.release}\npage_size={kernel.page_size_bytes}\nboot_id={kernel.boot_id}\n"
        f"uptime={kernel.uptime_seconds}\ncmdline=\n"
    )


def _plain(stamp: Begun | None) -> str | None:
    return None if stamp is None else stamp.canonical
