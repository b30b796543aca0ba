"""Checks of results before they leave: arrays of cells, populations and totals."""
