"""What is looked at on a host when a run is over."""

HEALTH: dict[str, tuple[str, str]] = {
    "generation": (
        "the stamp on the host does not name the plan that was just carried out, or a run has begun there and not come "
        "to its end",
        "run again: what is left is done, and the stamp is written",
    ),
    "serving_process": (
        "what serves is not the process that was left running: none, another program, or one that has restarted since",
        "look at Ollama's log; where the change was meant, as an upgrade by hand, see [health.md](../health.md)",
    ),
    "completion": (
        "a declared resident was asked for one token and did not answer with one",
        "look at Ollama's log: a server may list a model long after its runner has died",
    ),
    "residency": (
        "what is loaded is not what is declared resident",
        "run again; what it says is what differs",
    ),
}
"""By code: what it means, and what to do."""
