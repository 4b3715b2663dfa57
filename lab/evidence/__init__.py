"""Evidence on disk: kept once, never changed, and looked up by exactly what it is of."""
