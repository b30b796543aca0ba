"""Entries that are each bound to the one before, so that every change of what was kept is seen."""
