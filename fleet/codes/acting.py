"""What an operation says when it acted, looked again, and did not find what it had made."""

AFTER_ACTING: dict[str, tuple[str, str]] = {
    "not_durable": (
        "the file is not as it was just written",
        "run again; what it says is what differs",
    ),
    "not_reverted": (
        "a removed file, its profile or an address that it gave was still there 20 s later",
        "run again; what it says is what is left",
    ),
    "not_active": (
        "address, MTU, profile or GID did not come within 20 s",
        "run again; what it says is what differs",
    ),
    "not_as_desired": (
        "Ollama's unit, models or residents, or transit, did not become as declared",
        "run again; what it says is what differs",
    ),
    "not_stamped": (
        "the stamp of the plan was not there after it was written",
        "run again: it is written at the end, also where nothing else is due",
    ),
}
"""By code: what it means, and what to do."""
