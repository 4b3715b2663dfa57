"""What a roster says of a Spark that served with Ollama and does so no more."""

from fleet.record import Record


class Retirement(Record):
    """What a roster says of a Spark that served."""

    moved_to: str | None = None
    """The Spark that serves it now; None where nobody does."""
    first: bool = False
    """Stopped before that one starts; otherwise once it answers there."""
