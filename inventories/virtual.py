"""The virtual Sparks of this checkout, as `sparks virtual up` left them.

They are reached as real ones are: an ordinary user with sudo, a key, and a pinned host key per machine.
"""

from pyinfra.api.exceptions import PyinfraError

from lab.site import site
from virtual.errors import LabError
from virtual.lab import Lab

try:
    _lab = Lab().state
except LabError as _error:
    raise PyinfraError(_error.message) from _error

virtual = site(
    __file__,
    {
        machine.name: {
            "ssh_hostname": machine.host,
            "ssh_port": machine.port,
            "ssh_user": _lab.user,
            "ssh_key": _lab.key,
        }
        for machine in _lab.machines
    },
    known_hosts=_lab.known_hosts,
)
