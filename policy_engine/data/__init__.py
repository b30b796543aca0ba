"""Data as it lies: where, in which format, with which columns, and what its values mean."""
