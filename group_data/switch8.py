"""What the Sparks of `inventories/switch8.py` should be: one pool of Sparks, and clusters by name out of it."""

_SPARKS = [f"dgx{number}" for number in range(1, 9)]

roster = {
    "sparks": {name: {"enrolled": True} for name in _SPARKS},
    "fabrics": {
        "switch": {
            "shape": "switch",
            "cables": [f"{name}.f0 - switch1" for name in _SPARKS],
            "pool": "10.20.0.0/22",
            "mtu": 9000,
        },
        "dac": {
            "shape": "pair",
            "cables": ["dgx1.f1 - dgx2.f1", "dgx3.f1 - dgx4.f1"],
            "pool": "10.20.4.0/22",
            "first_rail": 5,
            "mtu": 9000,
        },
    },
    "clusters": {
        "2nodes-dac": {"fabric": "dac", "sparks": ["dgx1", "dgx2"]},
        "4nodes-switch": {"fabric": "switch", "sparks": _SPARKS[:4]},
        "8nodes-switch": {"fabric": "switch", "sparks": _SPARKS},
    },
}
