"""What becomes of a deployment in each state that a real server can be in: looked at for real, then decided."""

from collections.abc import Callable
from typing import Any

import pytest

from facts import bundle
from facts import ollama as facts
from facts.bundle import Bundle, Wanted
from fleet.observation import Observation
from fleet.ollama.decide import evict_steps, model_step, resident_step, service_step
from fleet.ollama.deployment import OllamaDeployment, OllamaModelPin, OllamaResidentPin
from fleet.ollama.residents_unit import residents_digest
from fleet.ollama.service import ResidentsUnit
from fleet.refusal import Refusal
from tests.facts.played_ollama import PlayedHost
from tests.fleet.ollama import host
from tests.operations.test_ollama_ask import ask
from tests.virtual.standin import PINS, SMALLEST, Standin

PIN = OllamaModelPin(
    name=SMALLEST, manifest_digest=PINS[SMALLEST]["digest"], size_bytes=PINS[SMALLEST]["size_bytes"], pull=True
)
STAY = OllamaResidentPin(model=SMALLEST, context=2048)


class Spark:
    """A played systemd, a real server, and what a run would decide about them."""

    def __init__(self, played: PlayedHost, standin: Standin) -> None:
        self.played, self.standin = played, standin
        self.runs = True
        self.desired = OllamaDeployment(
            listen=f"127.0.0.1:{standin.port}", models=(PIN,), residents=(STAY,), evict_undeclared=True
        )

    def look(self) -> tuple[Any, Any]:
        """The models, and what is loaded: both in one process."""
        endpoint = (("endpoint", self.standin.endpoint),)
        wanted = (Wanted(facts.OllamaModels, endpoint), Wanted(facts.OllamaResidency, endpoint))
        found = self.played.look(Bundle(), facts=wanted)
        return found[wanted[0].name], found[wanted[1].name]

    def decided(self, keep_alive: str = "forever") -> list[str]:
        """Each thing that is due or in the way, in a few words."""
        desired = self.desired.replaced(residents=(STAY.replaced(keep_alive=keep_alive),))
        process = {"PATH": "/usr/bin", **desired.desired_environment}
        state = host.service(
            drop_ins=(host.own_file(desired),), active_state="active" if self.runs else "failed",
            process_environment=process if self.runs else None,
            residents=ResidentsUnit(content_digest=residents_digest(desired), enabled=True),
        )  # fmt: skip
        models, residency = self.look()
        seen = Observation(
            host="srv5", ollama_service=state, ollama_models=models, ollama_residency=residency
        )  # fmt: skip
        pin = desired.residents[0]
        outcomes = [service_step(desired, seen), model_step(PIN, seen), *evict_steps(desired, seen),
                    resident_step(pin, desired, seen)]  # fmt: skip
        said = (f"{each.code}: {each.found}" if isinstance(each, Refusal) else f"{each.kind}: {each.before}"
                for each in outcomes if each is not None)  # fmt: skip
        return list(dict.fromkeys(said))

    def serve(self, **faults: str) -> None:
        """Pulled and loaded as declared, while the server has these faults."""
        self.standin.pull()
        self.standin.fail(**faults)
        asked = {"model": SMALLEST, "keep_alive": -1, "options": {"num_ctx": 2048}}
        self.standin.text("POST", "/api/generate", asked)


@pytest.fixture
def spark(played: PlayedHost, standin: Standin, monkeypatch: pytest.MonkeyPatch) -> Spark:
    monkeypatch.setattr(bundle, "as_root", lambda command, _="": command)
    return Spark(played, standin)


def test_a_fresh_one_is_pulled_and_loaded_and_then_nothing_is_due(spark: Spark) -> None:
    assert spark.decided() == ["ollama_pull: absent", "ollama_load: not loaded"]
    spark.serve()
    assert spark.decided() == []


def begins(found: list[str], wanted: list[str]) -> None:
    assert len(found) == len(wanted), found
    assert [each[: len(begin)] for each, begin in zip(found, wanted, strict=True)] == wanted


CPU = "resident_on_cpu: 100% CPU"


@pytest.mark.parametrize(
    ("faults", "keep_alive", "decided"),
    [
        ({"processor": "cpu"}, "forever", [CPU]),
        ({"processor": "partial"}, "forever", ["resident_on_cpu: 50%/50% CPU/GPU"]),
        ({"context": "4096"}, "forever", ["ollama_load: context 4096, kept forever"]),
        ({"expiry": "past"}, "forever", ["ollama_load: context 2048, kept for a time that runs down"]),
        ({"expiry": "past"}, "24h", []),
        ({"expiry": "far"}, "forever", ["ollama_load: context 2048, kept for a time that runs down"]),
        ({"expiry": "far"}, "24h", ["ollama_load: context 2048, kept for a time that runs down"]),
        ({"ps": "late", "tags": "late"}, "forever", []),
        ({"tags": "500"}, "forever", [
            "unobserved: ollama API {}/api/tags: status 500: model list cache unavailable",
        ]),
        ({"ps": "garbage"}, "forever", ["unobserved: ollama {}: expected JSON, found '<html>"]),
        ({"ps": "close"}, "forever", ["unobserved: ollama API {}/api/ps: remote end closed connection"]),
        ({"ps": "hang"}, "forever", ["unobserved: ollama API {}/api/ps: no answer in 5 s"]),
    ],
)  # fmt: skip
def test_each_way_to_serve_wrong_has_its_answer(
    spark: Spark, faults: dict[str, str], keep_alive: str, decided: list[str]
) -> None:
    spark.serve(**faults)
    begins(spark.decided(keep_alive), [each.format(spark.standin.endpoint) for each in decided])


def evicted(spark: Spark) -> None:
    spark.standin.ask("POST", "/api/generate", {"model": SMALLEST, "keep_alive": 0})


def loaded_another(spark: Spark) -> None:
    spark.standin.pull("qwen3:0.6b")
    spark.standin.ask("POST", "/api/generate", {"model": "qwen3:0.6b"})


def republished(spark: Spark) -> None:
    spark.standin.fail(pull="other-digest")
    spark.standin.pull()


@pytest.mark.parametrize(
    ("happened", "decided"),
    [
        (evicted, ["ollama_load: not loaded"]),
        (loaded_another, ["ollama_evict: loaded"]),
        (republished, ["model_digest_differs: sha256:"]),
    ],
)
def test_each_thing_that_others_do_has_its_answer(
    spark: Spark, happened: Callable[[Spark], None], decided: list[str]
) -> None:
    spark.serve()
    happened(spark)
    begins(spark.decided(), decided)


def test_one_that_is_killed_while_it_loads_is_started_again_and_loads(spark: Spark) -> None:
    spark.standin.pull()
    spark.standin.fail(generate="die")
    done = ask(spark.standin.endpoint, "load", context=2048, keep_alive=-1)
    assert done.returncode == 1
    assert "closed connection" in done.stderr or "reset" in done.stderr
    spark.standin.process.wait(timeout=60)
    spark.runs = False
    spark.played.runs(None)
    spark.played.properties["Environment"] = f"HOME={spark.standin.home}"
    assert spark.decided() == ["ollama_service: failed (running)", "ollama_load: not loaded"]


def test_a_pull_that_is_cut_at_half_leaves_no_model_and_goes_on_from_there(spark: Spark) -> None:
    spark.standin.fail(pull="half")
    lines = spark.standin.cut("/api/pull", {"model": SMALLEST})
    half = max(line.get("completed", 0) for line in lines)
    assert 0 < half < PIN.size_bytes
    assert spark.decided() == ["ollama_pull: absent", "ollama_load: not loaded"]
    done = ask(spark.standin.endpoint, "pull", digest=PIN.manifest_digest)
    assert done.returncode == 0, done.stderr
    assert spark.decided() == ["ollama_load: not loaded"]
