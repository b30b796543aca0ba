"""Figures of how the service does, for operators."""
