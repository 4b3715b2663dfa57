"""What the Sparks of `inventories/ring.py` should be. Plain values; `docs/reference/roster.md` explains each key."""

roster = {
    "sparks": {
        "dgx1": {"enrolled": True},
        "dgx2": {"enrolled": True},
        "dgx3": {"enrolled": True},
        "dgx4": {"enrolled": True},
    },
    "fabrics": {
        "ring": {
            "shape": "ring",
            "cables": [
                "dgx1.f1 - dgx2.f0",
                "dgx2.f1 - dgx3.f0",
                "dgx3.f1 - dgx4.f0",
                "dgx4.f1 - dgx1.f0",
            ],
            "pool": "10.10.0.0/16",
            "mtu": 9000,
            "transit": True,
        },
    },
    "clusters": {
        "tp4": {"fabric": "ring", "sparks": ["dgx1", "dgx2", "dgx3", "dgx4"]},
    },
}
