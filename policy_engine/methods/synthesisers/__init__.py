"""The generators of synthetic rows, one file per generator."""
