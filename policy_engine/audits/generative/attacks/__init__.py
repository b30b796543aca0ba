"""Attacks that score records: the higher, the rather a generator was fitted on them."""
