"""Maskings: each a function of one value that every cell of a column is put through."""
