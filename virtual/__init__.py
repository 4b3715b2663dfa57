"""Virtual Sparks: QEMU machines that stand in for real ones, for the demo and the end-to-end tests.

They have a real kernel, systemd, NetworkManager with netplan, ssh and soft-RoCE devices, named as on
a real Spark. They have no GPU, and their Ollama is a stand-in.
"""
