"""Cells are priced in lots as they are together: the sketches of all lots are all that it takes."""

import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.data.cells import write_range, write_set, write_value
from policy_engine.engines.generalizations import losses
from policy_engine.engines.generalizations.sketches import holds_sets, members, sketch
from policy_engine.errors import CertificateError
from policy_engine.methods.columns import QuasiIdentifier

numbers = st.one_of(
    st.integers(-99, 10**18).map(str),
    st.sampled_from(["1.5", "-0.25", "1e3", "12345678901234567.5", "7.25"]),
)
dates = st.dates().map(str)
stamps = st.datetimes().map(lambda one: one.isoformat(" "))
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
parts = {
    "range": [numbers, dates, stamps, st.sampled_from(["1e400", "nan", "3", "-1"])],
    "interval": [st.integers(0, 999).map(str)],
    "calendar": [st.sampled_from(["2020", "2020-Q2", "2021-03", "2021-03-04", "*", "2019-12-31"])],
    "set": [words],
    "prefix": [st.sampled_from(["123", "12*", "1**", "***"])],
}


def order(text):
    try:
        return (float(text), "")
    except ValueError:
        return (0.0, text)


def cells_of(kind, value):
    if kind in ("range", "interval"):
        pairs = st.tuples(value, value).map(lambda two: write_range(*sorted(two, key=order)))
        one = st.one_of(
            value.map(write_value), pairs, st.just("*") if kind == "interval" else pairs
        )
    elif kind == "set":
        some = st.lists(value, min_size=1, max_size=3, unique=True)
        one = st.one_of(some.map(write_set), st.just("*"))
    else:
        one = value
    return st.one_of(one, st.none(), one.map(lambda cell: f"{cell} or missing"))


def priced(asked, texts):
    try:
        return losses("x", texts, asked, wildcard=False)
    except CertificateError:
        return None


def in_lots(asked, lots):
    """Return what the cells of each lot cost, told of the others by sketches alone."""
    try:
        told = list({text: 0 for lot in lots for text in sketch(asked, lot)})
        told = sketch(asked, told)
        if holds_sets(asked, told):
            told += [one for lot in lots for one in members(asked, lot)]
        found = [losses("x", [*lot, *told], asked, wildcard=False)[: len(lot)] for lot in lots]
    except CertificateError:
        return None
    return np.concatenate(found)


@pytest.mark.one_in(10)
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", parts)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_cells_cost_in_lots_what_they_cost_together(kind, named, data):
    asked = QuasiIdentifier(name="x", generalization=kind if named else None)
    cells = st.lists(cells_of(kind, data.draw(st.sampled_from(parts[kind]))), min_size=1)
    lots = data.draw(st.lists(cells, min_size=1, max_size=4))
    together = priced(asked, [text for lot in lots for text in lot])
    apart = in_lots(asked, lots)
    assert (together is None) == (apart is None)
    if together is not None:
        assert together.tolist() == apart.tolist()


def test_a_sketch_is_a_few_cells():
    texts = [write_range(str(n), f"{n + 3}.5") for n in range(5_000)]
    assert len(sketch(QuasiIdentifier(name="x"), texts)) < 10
