"""A ring of four Sparks, dgx1 to dgx4: cage f1 of each goes to cage f0 of the next.

Pin the host keys once, over a path you trust, into `inventories/ring.known_hosts`:

    ssh-keyscan dgx1 dgx2 dgx3 dgx4 > inventories/ring.known_hosts     # compare with each console before you use it
"""

from pathlib import Path

from lab.site import site

ring = site(
    __file__,
    {f"dgx{number}": {"ssh_user": "spark"} for number in range(1, 5)},
    known_hosts=Path(__file__).with_suffix(".known_hosts"),
)
