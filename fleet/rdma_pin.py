"""Whether a host's RDMA devices can pin memory: what an engine does first, and a kernel may not let it do. Pure."""

import json

from fleet.record import Record


class RdmaPin(Record):
    """What became of registering memory with one device, by `ibv_reg_mr`."""

    device: str
    size_bytes: int
    error: str | None
    """None where it was registered, and let go again; else the call that failed and why: `ibv_reg_mr: Cannot allocate
    memory`."""


def parse_rdma_pins(text: str) -> tuple[RdmaPin, ...]:
    """From the one JSON line of `facts/remote/rdma_pin.py`; raises ValueError with why nothing could be tried."""
    found = json.loads(text)
    if "unobserved" in found:
        raise ValueError(found["unobserved"])
    return tuple(RdmaPin(**each) for each in found["pins"])
