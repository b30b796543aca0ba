"""What the tests of reading share: the problems of a text, and a tree as nested lists."""

import pytest

from policy_engine.data.taxonomy import read_taxonomy
from policy_engine.errors import DataError


def problems_of(text, name):
    with pytest.raises(DataError) as error:
        read_taxonomy(text if isinstance(text, bytes) else text.encode(), name)
    assert error.value.source == name
    return error.value.problems


def codes_of(text, name):
    return [problem.code for problem in problems_of(text, name)]


def outline(tree, node=0):
    """Return a tree as `label` or `(label, child, child ...)`."""
    inner = [outline(tree, child) for child, up in enumerate(tree.parents) if up == node]
    return (tree.labels[node], *inner) if inner else tree.labels[node]
