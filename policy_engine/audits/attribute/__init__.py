"""Attribute inference: what a model gives away about a column of those it was trained on."""
