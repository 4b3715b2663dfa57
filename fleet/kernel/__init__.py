"""The kernel of a Spark: what runs, what is installed, what the next boot starts, and what a policy asks of them."""
