"""What the Sparks of `inventories/sparks.py` should be. Plain values; `fleet/roster.py` says what each key means."""

_OLLAMA = {
    "listen": "0.0.0.0:11434",
    "environment": {
        "OLLAMA_CONTEXT_LENGTH": "32768",
        "OLLAMA_FLASH_ATTENTION": "1",
        "OLLAMA_KEEP_ALIVE": "-1",
        "OLLAMA_MAX_LOADED_MODELS": "1",
        "OLLAMA_NUM_PARALLEL": "1",
    },
    "models": [],
    "residents": [],
}

roster = {
    "sparks": {
        "srv5": {"enrolled": True},
        "srv6": {"enrolled": True},
        "srv7": {"enrolled": False},
        "srv8": {"enrolled": False},
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
                                    "spark": "srv5",
                                    "interface": "enp1s0f0np0",
                                    "address": "192.168.102.10/24",
                                    "mtu": 9000,
                                },
                                {
                                    "spark": "srv6",
                                    "interface": "enp1s0f0np0",
                                    "address": "192.168.102.11/24",
                                    "mtu": 9000,
                                },
                            ],
                        },
                        {
                            "rail": 103,
                            "ends": [
                                {
                                    "spark": "srv5",
                                    "interface": "enP2p1s0f0np0",
                                    "address": "192.168.103.10/24",
                                    "mtu": 9000,
                                },
                                {
                                    "spark": "srv6",
                                    "interface": "enP2p1s0f0np0",
                                    "address": "192.168.103.11/24",
                                    "mtu": 9000,
                                },
                            ],
                        },
                    ],
                },
                {
                    "rails": [
                        {
                            "rail": 100,
                            "ends": [
                                {
                                    "spark": "srv7",
                                    "interface": "enp1s0f0np0",
                                    "address": "192.168.100.10/24",
                                    "mtu": 9000,
                                },
                                {
                                    "spark": "srv8",
                                    "interface": "enp1s0f0np0",
                                    "address": "192.168.100.11/24",
                                    "mtu": 9000,
                                },
                            ],
                        },
                        {
                            "rail": 101,
                            "ends": [
                                {
                                    "spark": "srv7",
                                    "interface": "enP2p1s0f0np0",
                                    "address": "192.168.101.10/24",
                                    "mtu": 9000,
                                },
                                {
                                    "spark": "srv8",
                                    "interface": "enP2p1s0f0np0",
                                    "address": "192.168.101.11/24",
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
        "general": {"spark": "srv5", "ollama": _OLLAMA},
        "coding": {"spark": "srv6", "ollama": _OLLAMA},
    },
}
