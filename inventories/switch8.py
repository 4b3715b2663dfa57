"""Eight Sparks on one 200G switch by cage f0, and two pairs of them joined directly by cage f1.

Pin the host keys once, over a path you trust, into `inventories/switch8.known_hosts`:

    ssh-keyscan dgx{1..8} > inventories/switch8.known_hosts     # compare with each console before you use it
"""

from pathlib import Path

from lab.site import site

switch8 = site(
    __file__,
    {f"dgx{number}": {"ssh_user": "spark"} for number in range(1, 9)},
    known_hosts=Path(__file__).with_suffix(".known_hosts"),
)
