"""Ollama on a Spark: its settings, its unit, its models, what is loaded, and what is due."""
