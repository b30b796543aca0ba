"""Randomisers: each draws an answer for the value of a single record, by public probabilities."""
