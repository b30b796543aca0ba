"""Several releases of the same persons: what they tell together, and what is kept of each."""
