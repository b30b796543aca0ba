"""A release against its original: what it lost, and what it is still good for."""
