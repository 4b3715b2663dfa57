"""Have one Spark offer a model to another one over a rail, and the other one copy it.

Over SSH the controller has the one start a server that lives for a while, at its end of the rail, for one client and
one token; the other gets port and token over SSH too, and asks for the blobs. Neither Spark can log in to the other,
and no token is in a list of processes or on a disk.
"""

import json
from collections.abc import Generator, Iterable
from importlib.resources import files
from shlex import quote
from typing import Any
from weakref import WeakKeyDictionary

from pyinfra import host
from pyinfra.api import Host, State, operation

from facts.look import called
from facts.needs import observation, offer_looks
from fleet.desired import DesiredSpark
from fleet.ollama.offer import offer_step
from fleet.ollama.source import Offer
from fleet.ollama.steps import CopyModel, OfferModel
from fleet.refusal import Refusal
from fleet.step import Step
from operations.acting import Call, Script, refuse, say
from operations.answer import answered
from operations.approved import begins, carried_out, not_approved
from operations.lock import under_lock
from operations.ollama_offer_script import offer_script, unit_of
from operations.stream import Broken

START_SECONDS = 90
"""For the server to be up: an interpreter's start and systemd's, 5 s on an emulated CPU that others keep busy."""

_OFFERED: WeakKeyDictionary[State, dict[str, str]] = WeakKeyDictionary()
"""By unit, port and token of the offers that this run has had started."""


@operation()
def offered(desired: DesiredSpark, offers: Iterable[Offer]) -> Generator[Any, None, None]:
    """
    Offer models of this host to others that copy them now, each to one of them, at this end of a rail, for a while.

    + desired: what the host should be
    + offers: what others copy from here

    .. code:: python

        ollama_copy.offered(name="ollama offers", desired=desired, offers=beside.offers)
    """
    asked = tuple(offers)
    if not asked:
        host.noop("nobody copies a model from here")
        return
    outcomes = yield from under_lock(host, lambda: _outcomes(desired, asked))
    refusals = [each for each in outcomes if isinstance(each, Refusal)]
    steps = [each for each in outcomes if isinstance(each, OfferModel)]
    if refusals := refusals or list(not_approved(host, steps)):
        yield from refuse(*dict.fromkeys(refusals))
        return
    for step in steps:
        script = Script(offer_script(step), step)
        begins(host, step)
        yield Call(step.kind, _start, script, step, step=step, sends=script.planned.sends)
        carried_out(host, step)


def given(host: Host, step: Step) -> str | None:
    """What the script of a step reads: port and token of the offer that it copies from; raises Broken without one."""
    if not isinstance(step, CopyModel):
        return None
    found = _OFFERED.get(host.state, {}).get(unit_of(step.manifest_digest, step.client))
    if found is None:
        raise Broken(f"copy {step.model}: expected an offer of {step.source} in this run, found none")
    return found + "\n"


def copy_script(step: CopyModel, endpoint: str) -> str:
    """The script that copies a model; port and token come on its input."""
    asked = {
        "model": step.model,
        "digest": step.manifest_digest,
        "address": step.address,
        "client": step.client,
        "directory": step.directory,
        "replaces": step.replaces,
        "endpoint": endpoint,
        "blobs": _source("ollama_blobs"),
        "ask": "" if step.replaces is None else _source("ollama_ask"),
    }
    return f"python3 -c {quote(called(_source('ollama_copy'), asked))}"


def _outcomes(desired: DesiredSpark, offers: Iterable[Offer]) -> list[OfferModel | Refusal]:
    seen = observation(host, host.name, offer_looks(desired))
    return [offer_step(each, seen) for each in offers]


def _start(state: State, host: Host, script: Script, step: OfferModel) -> bool:
    answer = answered(host, script, START_SECONDS)
    said = answer.out[-1:] if answer is not None and answer.is_ok else ()
    try:
        found = json.loads(said[0])
    except (IndexError, ValueError):
        why = "no answer" if answer is None else answer.error or "no port"
        refusal = Refusal(code="not_offered", subject=step.subject, expected="its offer to start", found=why)
        return say(state, host, (refusal,))
    _OFFERED.setdefault(state, {})[unit_of(step.manifest_digest, step.client)] = json.dumps(found)
    return True


def _source(name: str) -> str:
    return files("operations.remote").joinpath(f"{name}.py").read_text(encoding="utf-8")
