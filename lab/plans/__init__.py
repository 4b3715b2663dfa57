"""`sparks plan`, `show` and `observe`: plans made here, kept as files, and read."""
