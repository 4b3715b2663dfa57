"""What the virtual Sparks should be: one cable between two cages f1, and one small model each.

The models are the stand-in's: synthetic, with digests that follow from `virtual/ollama_registry.json`.
"""

_ENVIRONMENT = {
    "OLLAMA_CONTEXT_LENGTH": "8192",
    "OLLAMA_FLASH_ATTENTION": "1",
    "OLLAMA_KEEP_ALIVE": "-1",
    "OLLAMA_MAX_LOADED_MODELS": "1",
    "OLLAMA_NUM_PARALLEL": "1",
}

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
    },
    "fabrics": {
        "rails": {
            "shape": "pair",
            "cables": [
                {
                    "rails": [
                        {
                            "rail": 102,
                            "ends": [
                                {
                                    "spark": "vspark1",
                                    "interface": "enp1s0f1np1",
                                    "address": "192.168.102.10/24",
                                    "mtu": 9000,
                                },
                                {
                                    "spark": "vspark2",
                                    "interface": "enp1s0f1np1",
                                    "address": "192.168.102.11/24",
                                    "mtu": 9000,
                                },
                            ],
                        },
                        {
                            "rail": 103,
                            "ends": [
                                {
                                    "spark": "vspark1",
                                    "interface": "enP2p1s0f1np1",
                                    "address": "192.168.103.10/24",
                                    "mtu": 9000,
                                },
                                {
                                    "spark": "vspark2",
                                    "interface": "enP2p1s0f1np1",
                                    "address": "192.168.103.11/24",
                                    "mtu": 9000,
                                },
                            ],
                        },
                    ],
                },
            ],
        }
    },
    "deployments": {
        "small": {
            "spark": "vspark1",
            "ollama": {
                "listen": "0.0.0.0:11434",
                "environment": _ENVIRONMENT,
                "models": [
                    {
                        "name": "qwen3:0.6b",
                        "digest": "sha256:0d4487143f29b56ec5db606c3590291a0684a843ae26524f2f2cf9c44a400fbc",
                        "size_bytes": 1049043,
                        "pull": True,
                    },
                ],
                "residents": [{"model": "qwen3:0.6b", "context": 8192, "keep_alive": "forever"}],
            },
        },
        "smaller": {
            "spark": "vspark2",
            "ollama": {
                "listen": "127.0.0.1:11434",
                "environment": _ENVIRONMENT,
                "models": [
                    {
                        "name": "llama3.2:1b",
                        "digest": "sha256:183158338c53b6402fde2e074d2530455eedb550979fe8b8bba5f03345230ae7",
                        "size_bytes": 1573328,
                        "pull": True,
                    },
                ],
                "residents": [{"model": "llama3.2:1b", "context": 8192, "keep_alive": "forever"}],
                "evict_undeclared": True,
            },
        },
    },
}
