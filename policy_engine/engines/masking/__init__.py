"""Columns as maskings publish them: value by value, or perturbed together with others."""
