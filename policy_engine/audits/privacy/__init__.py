"""Differential privacy: what is proved, what is shown, and what it costs in accuracy."""
