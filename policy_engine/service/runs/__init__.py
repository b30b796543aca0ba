"""Runs: what takes long, each in a process of its own, followed to its end whatever is killed."""
