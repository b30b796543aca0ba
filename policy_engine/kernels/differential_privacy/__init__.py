"""Differential privacy: mechanisms on integers, and how much noise they need.

Neighbours are what the caller says: whatever differs by one unit. Mechanisms are drawn from the
operating system's randomness; everything else is exact, or rounded towards more noise.
"""
