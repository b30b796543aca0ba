"""Membership inference: whether a model tells which records it was trained on."""
