"""Bounds that two classes can hold and break together, where both get the same cells."""

import random
from collections import defaultdict
from contextlib import suppress

import pytest
from applying import applied
from building import column
from dense import MEASURES, holds, worst

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.errors import DataError

TREE = "http://x.org/t"
NESTED = column("q", generalization="taxonomy", taxonomy={"@id": TREE})
WORDS = Taxonomy(("*", "f", "a", "b", "c", "d", "g", "e"), (-1, 0, 1, 1, 1, 1, 0, 6))


def broken(table, columns, asked):
    """Return the bounds that a release breaks, by the definitions alone."""
    release = applied(
        table, sensitive=["s"], insensitive=["row"], taxonomies={TREE: WORDS}, **asked
    )
    classes = defaultdict(list)
    for row in release.table.to_pylist():
        person = table[asked.get("privacyUnit", "row")][row["row"]]
        classes[tuple(row[name] for name in columns)].append((person, row["s"]))
    everyone = [pair for one in classes.values() for pair in one]
    return [
        one.bound
        for one in release.certificate.measurements
        if one.bound in MEASURES
        and not holds(
            one.bound,
            one.asked,
            worst(one.bound, classes.values(), everyone, {"distance": "variational", **asked}),
        )
    ]


def test_two_persons_who_are_in_two_classes_of_equal_cells_are_diverse_there_together():
    # Two classes of q 1 are possible in which 2 has v and 3 has u or w: as one, both have u.
    table = {
        "q": [1, 1, 1, 1, 1, 2],
        "s": ["u", "u", "v", "v", "w", "w"],
        "who": ["2", "3", "2", "2", "3", "0"],
        "row": list(range(6)),
    }
    asked = {"method": "l-diversity", "k": 2, "l": 2, "privacyUnit": "who"}
    assert broken(table, ["q"], {"quasi": ["q"], "partitioning": "relaxed", **asked}) == []


MODELS = [
    *({"method": "delta-disclosure", "k": 2, "delta": bound} for bound in (0.7, 1.1, 1.5, 2.2)),
    {"method": "l-diversity", "k": 2, "l": 2, "privacyUnit": "who"},
    {"method": "t-closeness", "k": 2, "t": 0.3, "privacyUnit": "who"},
    {"method": "alpha-k-anonymity", "k": 2, "alpha": 0.6, "privacyUnit": "who"},
]
OPTIONS = [
    {"partitioning": "relaxed"},
    {"partitioning": "relaxed", "polish": True},
    {"polish": True, "missing": "wildcard"},
    {"dimensionality": "single"},
    {"algorithm": "full-domain", "maxSuppression": 0.1},
]


def drawn(seed):
    """A table in which many rows are equal, and what is asked of it."""
    pick = random.Random(seed)
    rows = pick.choice([24, 60, 120])
    table = {
        "q": [pick.choice("abcde") for _ in range(rows)],
        "x": [pick.choice([1, 1, 1, 2]) for _ in range(rows)],
        "s": [pick.choice("uuvwz") for _ in range(rows)],
        "who": [str(pick.randint(0, rows // 2 + 2)) for _ in range(rows)],
        "row": list(range(rows)),
    }
    quasi = pick.choice([["x"], ["q"], ["q", "x"]])
    named = {"q": NESTED, "x": "x"}
    asked = pick.choice(OPTIONS) | pick.choice(MODELS)
    return table, quasi, {"quasi": [named[name] for name in quasi], **asked}


@pytest.mark.parametrize("seed", [5, 61, 251, 1010, 1102])
def test_classes_of_equal_cells_keep_as_one_what_each_keeps(seed):
    assert broken(*drawn(seed)) == []  # each of these breaks, if nothing is done about it


@pytest.mark.nightly
def test_classes_of_equal_cells_keep_as_one_what_each_keeps_in_many_tables():
    for seed in range(1_000):
        with suppress(DataError):  # a table that does not support what is asked
            assert broken(*drawn(seed)) == []
