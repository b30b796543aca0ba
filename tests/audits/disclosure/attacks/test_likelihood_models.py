"""Which maskings make values likely in a way that is known."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from policy_engine import terms
from policy_engine.audits.disclosure.attacks.assignment import assignment_linkage
from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.attacks.transparency import (
    LIKELIHOOD_MODELS,
    column_likelihoods,
    likelihood_linkage,
)
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.settings import DEFAULTS
from policy_engine.kernels.microaggregation import aggregate
from policy_engine.methods.masking import masking_class

WITHOUT = {
    "pixelation": "no attack compares images",
}


@pytest.mark.parametrize("notation", terms.maskings())
def test_a_masking_has_a_model_of_its_likelihood_or_a_reason_for_none(notation):
    is_modelled = issubclass(masking_class(notation), tuple(LIKELIHOOD_MODELS))
    assert is_modelled != (notation in WITHOUT)


@pytest.mark.parametrize("masking", ["noise", "correlated-noise"])
def test_a_column_without_values_says_nothing(masking):
    nothing, pay = pa.nulls(4, pa.float64()), [0.0, 10.0, 20.0, 30.0]
    table = pa.table({"nothing": nothing, "pay": pay})
    method = masking_class(masking)(name="nothing", sdShare=1)
    columns = known_columns(table, table, ["nothing", "pay"], None, {})
    columns = (replace(columns[0], masking=method), columns[1])
    files = TwoFiles(columns, np.arange(4), 4, is_published=True)
    assert likelihood_linkage(files).tolist() == [1, 1, 1, 1]


def shuffled_files(given, values, shuffled, **others):
    """Return files of a column that was shuffled given another one, which is released as it is."""
    before, after = pa.table({"x": given, "y": values}), pa.table({"x": given, "y": shuffled})
    x, y = known_columns(before, after, ["x", "y"], None, {})
    y = replace(y, masking=masking_class("shuffling")(name="y", given=("x",)))
    return TwoFiles((x, y), np.arange(len(given)), len(given), is_published=True, **others)


def test_shuffled_values_are_linked_by_the_columns_given_and_not_by_their_own():
    # Who has the n-th x gets the n-th y or the one beside it, whatever the own y is.
    given = [10.0, 20, 30, 40, 50, 60]
    files = shuffled_files(given, [5.0, 1, 3, 2, 6, 4], [1.0, 2, 3, 4, 5, 6])
    [*_, drawn] = column_likelihoods(files)
    assert np.corrcoef(drawn.known, given)[0, 1] ** 2 > 0.95
    alone = replace(files, columns=files.columns[1:])
    own = files.columns[1].known_numbers()
    assert np.corrcoef(column_likelihoods(alone)[0].known, own)[0, 1] == pytest.approx(1)


def test_persons_get_records_together_by_how_each_column_was_masked():
    # By distance the two columns with much noise outvote the one with little.
    before = pa.table({"x": [0.0, 10], "y": [0.0, 10], "z": [0.0, 10]})
    after = pa.table({"x": [10.0, 0], "y": [10.0, 0], "z": [0.0, 10]})
    noisy, shares = masking_class("noise"), {"x": 1, "y": 1, "z": 0.1}
    columns = tuple(
        replace(one, masking=noisy(name=one.name, sdShare=shares[one.name]))
        for one in known_columns(before, after, list(shares), None, {})
    )
    files = TwoFiles(columns, np.arange(2), 2)
    assert assignment_linkage(files, DEFAULTS).tolist() == [0, 0]
    files = replace(files, is_published=True)
    assert assignment_linkage(files, DEFAULTS).tolist() == [1, 1]


def averaged_files(before, after, **parameters):
    """Return files of columns that were microaggregated, but `cap`, which has noise."""
    tables = [pa.table(part) for part in (before, after)]
    columns = known_columns(*tables, list(before), None, {})
    noisy, averaged = masking_class("noise"), masking_class("microaggregation")
    columns = tuple(
        replace(
            one,
            masking=noisy(name="cap", sdShare=1)
            if one.name == "cap"
            else averaged(name=one.name, **parameters),
        )
        for one in columns
    )
    rows = len(tables[0])
    return TwoFiles(columns, np.arange(rows), rows, is_published=True)


def test_a_column_by_itself_is_linked_within_its_groups():
    # 4 is nearer to 2 than to 8, and yet of the second group.
    before = {"pay": [1.0, 2, 3, 4, 9, 11, None]}
    after = {"pay": [2.0, 2, 2, 8, 8, 8, None]}
    files = averaged_files(before, after, groupSize=3)
    assert likelihood_linkage(files) == pytest.approx([1 / 3] * 6 + [1])


def test_groups_count_beside_noise_as_much_as_they_are_narrow():
    # Groups are within 1 of their means, the noise is as wide as the column.
    x = np.repeat([0.0, 100, 200, 300], 3) + np.tile([-1.0, 0, 1], 4)
    means = {name: np.repeat([0.0, 100, 200, 300], 3) for name in "xy"}
    draws = np.random.default_rng(1)
    cap = draws.normal(size=12)
    noisy = cap + draws.normal(size=12)
    files = averaged_files(
        {"x": x, "y": x, "cap": cap}, means | {"cap": noisy}, groupSize=3, together="all"
    )
    nearest = np.abs(cap[:, None] - noisy).reshape(12, 4, 3)[np.arange(12), np.arange(12) // 3]
    assert likelihood_linkage(files).tolist() == (nearest.argmin(1) == np.arange(12) % 3).tolist()


@pytest.mark.parametrize("size", [3, 10])
@pytest.mark.parametrize("together", ["", "all"])
def test_who_knows_of_groups_finds_more_than_by_distance(size, together):
    draws = np.random.default_rng(3)
    table = np.exp(draws.normal(size=(200, 2)) @ [[1, 0.5], [0, 1]])
    parts = [table] if together else [table[:, :1], table[:, 1:]]
    words = draws.integers(0, 2**64, 200, dtype=np.uint64)
    means = np.column_stack([aggregate(part, size, words) for part in parts])
    cap = draws.normal(size=200)
    before = {"x": table[:, 0], "y": table[:, 1], "cap": cap}
    after = {"x": means[:, 0], "y": means[:, 1], "cap": cap + draws.normal(size=200)}
    files = averaged_files(before, after, groupSize=size, together=together)
    assert likelihood_linkage(files).mean() > distance_linkage(files).mean()
