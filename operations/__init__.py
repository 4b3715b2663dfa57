"""Acting: each operation reads, asks `fleet` for its step, and then is done, refuses or acts."""
