"""Data: where it is, in which format, with which columns, and what its values mean."""
