"""Attacks on what is about to be released, to show what would leak."""
