"""Distances of records from many samples, and the features of images they are taken in."""
