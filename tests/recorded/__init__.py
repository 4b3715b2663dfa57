"""Observations of virtual Sparks, made by `sparks observe`, and what a plan from each says: see README.md here."""
