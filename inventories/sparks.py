"""Four Sparks, two of them ours: srv5 and srv6 are enrolled, srv7 and srv8 are only named in group_data.

Pin the host keys once, over a path you trust, into `inventories/sparks.known_hosts`:

    ssh-keyscan srv5 srv6 > inventories/sparks.known_hosts     # compare with each console before you use it
"""

from pathlib import Path

from lab.site import site

sparks = site(
    __file__,
    {
        "srv5": {"ssh_user": "spark"},
        "srv6": {"ssh_user": "spark"},
    },
    known_hosts=Path(__file__).with_suffix(".known_hosts"),
)
