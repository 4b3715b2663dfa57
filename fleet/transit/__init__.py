"""Transit: a Spark passes on what its neighbours in a ring send each other, since no cable joins opposite Sparks."""
