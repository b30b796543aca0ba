"""Synthetic tables of noisy counts: the model of a tree of columns, and rows drawn from it."""
