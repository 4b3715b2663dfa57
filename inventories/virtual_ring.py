"""The ring of four virtual Sparks of this checkout, as `sparks virtual up --layout ring4` left it."""

from pyinfra.api.exceptions import PyinfraError

from lab.site import site
from virtual.errors import LabError
from virtual.lab import Lab

try:
    _lab = Lab()
    _hosts, _known_hosts = _lab.hosts("ring4"), _lab.state.known_hosts
except LabError as _error:
    raise PyinfraError(_error.message) from _error

virtual_ring = site(__file__, _hosts, known_hosts=_known_hosts)
