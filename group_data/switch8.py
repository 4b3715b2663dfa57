"""What the Sparks of `inventories/switch8.py` should be: one pool of Sparks, and clusters by name out of it."""

_SPARKS = [f"dgx{number}" for number in range(1, 9)]

_RELEASE = "6.17.0-1031-nvidia"
_VERSION = "6.17.0-1031.31"

_KERNEL = {
    "release": _RELEASE,
    "page_size_bytes": 4096,
    "packages": {
        f"linux-image-{_RELEASE}": _VERSION,
        f"linux-modules-{_RELEASE}": _VERSION,
        f"linux-headers-{_RELEASE}": _VERSION,
        f"linux-tools-{_RELEASE}": _VERSION,
        f"linux-modules-nvidia-580-open-{_RELEASE}": _VERSION,
    },
    "metas": ["linux-nvidia-hwe-24.04", "linux-image-nvidia-hwe-24.04", "linux-headers-nvidia-hwe-24.04"],
}
"""The last release without Kexec HandOver: pinned, and never upgraded. `docs/kernel.md`"""

roster = {
    "sparks": {name: {"enrolled": True, "kernel": "nvidia-6.17", "host": "pool"} for name in _SPARKS},
    "kernels": {"nvidia-6.17": _KERNEL},
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
    "assemblies": {
        "glm": {
            "engine": "vllm",
            "cluster": "8nodes-switch",
            "model": "GLM-5.3",
            "transport": "rdma",
            "context": 512 * 1024,
            "slots": 1,
            "memory": {
                "weights_bytes": 8 * 47 * 2**30,
                "kv_bytes_per_token": 53_965,
                "attention_heads": 64,
                "kv_heads": 1,
            },
        },
    },
    "hosts": {
        "pool": {
            "page_size_kib": 4,
            "time_sync": "timesyncd",
            "oom_protected": ["ssh.service", "tailscaled.service"],
            "remove_ipc": False,
            "linger": ["spark"],
            "mounts": {
                "/mnt/models": {
                    "source": "nas:/volume1/models",
                    "type": "nfs4",
                    "options": ["nconnect=8", "hard", "noatime", "_netdev", "nofail"],
                },
            },
        },
    },
}
