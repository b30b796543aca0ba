"""Generative models that an audit asks, and those that it fits itself."""
