"""Taxonomies: the values of a column as the leaves of a tree of ever more general values."""

from policy_engine.data.taxonomy.formats import read_taxonomy
from policy_engine.data.taxonomy.tree import Taxonomy

__all__ = ["Taxonomy", "read_taxonomy"]
