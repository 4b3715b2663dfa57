"""The model: what a lab should be, what was seen of it, and what to do. Pure: no I/O, no pyinfra."""
