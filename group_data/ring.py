"""What the Sparks of `inventories/ring.py` should be. Plain values; `docs/reference/roster.md` explains each key."""

_RELEASE = "7.0.0-1019-nvidia-64k"
_VERSION = "7.0.0-1019.19~24.04.2"

_KERNEL = {
    "release": _RELEASE,
    "page_size_bytes": 65536,
    "packages": {
        f"linux-image-{_RELEASE}": _VERSION,
        f"linux-modules-{_RELEASE}": _VERSION,
        f"linux-headers-{_RELEASE}": _VERSION,
        f"linux-tools-{_RELEASE}": _VERSION,
        f"linux-modules-nvidia-580-open-{_RELEASE}": _VERSION,
    },
    "metas": ["linux-nvidia-64k-hwe-24.04", "linux-nvidia-hwe-24.04", "linux-image-nvidia-hwe-24.04"],
    "fallback": "6.17.0-1031-nvidia",
    "command_line": {"add": ["kho=off"], "remove": ["kho=on"]},
    "kho": "off",
}
"""64 KiB pages, and no Kexec HandOver: it keeps some 9 GiB as CMA, in which RDMA cannot pin memory. `docs/kernel.md`"""

roster = {
    "sparks": {
        "dgx1": {"enrolled": True, "kernel": "nvidia-64k"},
        "dgx2": {"enrolled": True, "kernel": "nvidia-64k"},
        "dgx3": {"enrolled": True, "kernel": "nvidia-64k"},
        "dgx4": {"enrolled": True, "kernel": "nvidia-64k"},
    },
    "kernels": {"nvidia-64k": _KERNEL},
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
