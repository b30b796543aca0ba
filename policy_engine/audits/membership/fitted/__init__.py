"""Attacks on models that are already fitted."""
