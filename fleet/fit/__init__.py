"""What fits into a Spark's memory: what is asked for, what is free by which instrument, and what would make it fit."""
