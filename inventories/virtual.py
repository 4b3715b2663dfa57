"""The pair of virtual Sparks of this checkout, as `sparks virtual up` left it.

They are reached as real ones are: an ordinary user with sudo, a key, and a pinned host key per machine.
"""

from pyinfra.api.exceptions import PyinfraError

from lab.site import site
from virtual.errors import LabError
from virtual.lab import Lab

try:
    _lab = Lab()
    _hosts, _known_hosts = _lab.hosts("pair"), _lab.state.known_hosts
except LabError as _error:
    raise PyinfraError(_error.message) from _error

virtual = site(__file__, _hosts, known_hosts=_known_hosts)
