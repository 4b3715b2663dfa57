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
        "dgx1": {"enrolled": True, "kernel": "nvidia-64k", "host": "serving"},
        "dgx2": {"enrolled": True, "kernel": "nvidia-64k", "host": "serving"},
        "dgx3": {"enrolled": True, "kernel": "nvidia-64k", "host": "serving"},
        "dgx4": {"enrolled": True, "kernel": "nvidia-64k", "host": "serving"},
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
    "hosts": {
        "serving": {
            "page_size_kib": 64,
            "sysctls": {"vm.watermark_boost_factor": 0, "vm.min_free_kbytes": 45166},
            "huge_pages": {"enabled": "never"},
            "governor": "performance",
            "swap": {"size_gib": 16},
            "default_target": "multi-user.target",
            "units": {
                "gdm.service": "masked",
                "bluetooth.service": "masked",
                "cups.service": "masked",
                "cups-browsed.service": "masked",
                "ModemManager.service": "masked",
            },
            "time_sync": "timesyncd",
            "watchdog": {"seconds": 60},
            "oom_protected": ["ssh.service", "tailscaled.service"],
            "memory_guard": {"startup_gib": 5, "steady_gib": 3, "label": "sparks.deployment=tp4"},
            "remove_ipc": False,
            "linger": ["spark"],
        },
    },
}
