"""What a ring of four virtual Sparks should be: cage f1 of each to cage f0 of the next, and packets passed on."""

_PCI = {
    "enp1s0f0np0": "0000:00:05.0",
    "enP2p1s0f0np0": "0000:00:06.0",
    "enp1s0f1np1": "0000:00:07.0",
    "enP2p1s0f1np1": "0000:00:08.0",
}
"""A virtual Spark has its fabric ports at other places than a real one."""

roster = {
    "sparks": {
        "vspark1": {
            "enrolled": True,
            "machine_id": "sha256:4231b5404d921293f7f295f467d8c85c4192bd416f23f28088610871af8ba534",
            "pci": _PCI,
        },
        "vspark2": {
            "enrolled": True,
            "machine_id": "sha256:54a17daeebf38cef587b8fccddb50dd5b5149cc52d5dd23b600658cfde93918d",
            "pci": _PCI,
        },
        "vspark3": {
            "enrolled": True,
            "machine_id": "sha256:e1e22a91561cfb4472e5550cb5cfa8d30421abe3b752e62c517fb6c7aaf6031e",
            "pci": _PCI,
        },
        "vspark4": {
            "enrolled": True,
            "machine_id": "sha256:3b366270eebdcffff27cc2d7b79b01f3f262dcf82b93c3400abbd1672f1308ab",
            "pci": _PCI,
        },
    },
    "fabrics": {
        "ring": {
            "shape": "ring",
            "cables": [
                "vspark1.f1 - vspark2.f0",
                "vspark2.f1 - vspark3.f0",
                "vspark3.f1 - vspark4.f0",
                "vspark4.f1 - vspark1.f0",
            ],
            "pool": "10.10.0.0/16",
            "mtu": 9000,
            "transit": True,
        },
    },
}
