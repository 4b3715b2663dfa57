"""Outcomes, in order: ordinary pyinfra deploys."""
