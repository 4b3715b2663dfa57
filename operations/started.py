"""Which serving processes a run has started: they are its own to change, though no stamp says so before its end."""

from weakref import WeakKeyDictionary

from pyinfra.api import Host, State

from fleet.observation import Observation
from fleet.ollama.disrupt import Drained
from fleet.record import Unobserved

_STARTED: WeakKeyDictionary[State, dict[str, str]] = WeakKeyDictionary()
"""By run and host, the digest of the process that was found after a restart."""


def has_started(host: Host, seen: Observation) -> None:
    """This run has restarted what serves on the host, and this was seen of it since."""
    if not isinstance(seen.invocation, Unobserved) and seen.invocation.invocation is not None:
        _STARTED.setdefault(host.state, {})[host.name] = seen.invocation.invocation.digest


def started(host: Host) -> Drained:
    """The process that this run has started on the host, as one that may be changed; none where it has started none."""
    digest = _STARTED.get(host.state, {}).get(host.name)
    return frozenset() if digest is None else frozenset({digest})
