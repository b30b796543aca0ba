import json

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.membership.releases import (
    CoveredValues,
    describe_features,
    fit_for_release,
    fit_on_release,
    leaves_of,
    mask_like_release,
)
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.errors import AuditError

NONE = CoveredValues({}, {})
RELEASE = pa.table(
    {
        "age": ["[20 - 40]", "[20 - 40]", "[50 - 70]", "[50 - 70]"] * 2,
        "city": ["{Oslo, Rome}", "{Oslo, Rome}", "Bern", "Bern"] * 2,
        "ill": ["no", "yes", "no", "yes"] * 2,
    }
)


def features(fitted, table, covered=NONE):
    return fitted.records(table, "a table", covered.leaves).features.tolist()


def test_ranges_are_numbers_fitted_on_their_ends_and_encoded_as_their_middles():
    fitted = fit_on_release(RELEASE.select(["age", "ill"]), "ill", NONE)
    [age] = describe_features(fitted)["columns"]
    assert (age["kind"], age["mean"]) == ("number", 45.0)  # of 20, 40, 50 and 70
    assert age["deviation"] == pytest.approx(np.std([20, 40, 50, 70]))
    low, _, high, _ = np.array(features(fitted, RELEASE))[:4, 0] * age["deviation"] + 45
    assert (low, high) == (pytest.approx(30), pytest.approx(60))


def test_a_set_is_equal_shares_and_an_original_record_one_of_them():
    fitted = fit_on_release(RELEASE.select(["city", "ill"]), "ill", NONE)
    assert describe_features(fitted)["columns"][0]["values"] == ("Bern", "Oslo", "Rome")
    assert features(fitted, RELEASE)[0] == [0, 0.5, 0.5]
    original = pa.table({"city": ["Rome", "Kiev"], "ill": ["no", "yes"]})
    rome, kiev = features(fitted, original)
    assert rome == [0, 0, 1]
    assert kiev == pytest.approx([1 / 3] * 3)  # in no cell: it says nothing


def test_ranges_in_two_columns_are_read_as_one():
    ends = pa.table(
        {"age_low": ["20", "50"] * 4, "age_high": ["40", "70"] * 4, "ill": [*"abababab"]}
    )
    [age] = describe_features(fit_on_release(ends, "ill", NONE))["columns"]
    assert (age["name"], age["mean"]) == ("age", 45.0)


def test_a_label_of_a_taxonomy_stands_for_its_leaves():
    taxonomy = Taxonomy(("all", "North", "Oslo", "Bergen", "South", "Rome"), (-1, 0, 1, 1, 0, 4))
    leaves = leaves_of({"cities": taxonomy}, {"city": "cities"})
    assert leaves["city"]["North"] == ("Oslo", "Bergen")
    assert leaves["city"]["all"] == ("Oslo", "Bergen", "Rome")
    covered = CoveredValues(leaves, {})
    table = pa.table({"city": ["North", "North", "Rome", "Rome"] * 2, "ill": [*"abababab"]})
    fitted = fit_on_release(table, "ill", covered)
    assert describe_features(fitted)["columns"][0]["values"] == ("Bergen", "Oslo", "Rome")
    assert features(fitted, table, covered)[0] == [0.5, 0.5, 0]


def test_originals_are_masked_as_far_as_the_release_is():
    release = pa.table({"zip": ["471**", "47***", "20121"]})
    original = pa.table({"zip": ["47123", "47999", "20121", "33333"]})
    shown = mask_like_release(original, release, CoveredValues({}, {"zip": "*"}))
    assert shown.column("zip").to_pylist() == ["471**", "47***", "20121", "33333"]


def test_missing_cells_are_a_category_of_their_own():
    cells = ["Rome or missing", "Rome or missing", "", "Oslo"] * 2
    table = pa.table({"city": cells, "ill": [*"abababab"]})
    fitted = fit_on_release(table, "ill", NONE)
    rows = features(fitted, table)
    assert rows[0] == [0, 0.5, 0.5]
    assert rows[2] == [0, 0, 1]
    assert rows[3] == [1, 0, 0]


def test_of_one_person_nothing_is_told():
    """Forty diseases, ten of which one person has, and ten salaries of one person each."""
    diseases = [f"common {n % 30}" for n in range(600)] + [f"rare {n}" for n in range(10)]
    salaries = [30_000 + 500 * (n % 40) for n in range(600)]
    salaries += [51_237 + 1_111 * n for n in range(10)]
    table = pa.table({"disease": diseases, "salary": salaries, "ill": ["no", "yes"] * 305})
    told = json.dumps(describe_features(fit_for_release(table, "ill", 10)))
    assert "common 29" in told
    assert "rare" not in told
    assert not [salary for salary in salaries[600:] if str(salary) in told]
    [_, salary] = json.loads(told)["columns"]
    counts = np.bincount(np.searchsorted(salary["edges"], salaries, side="right"))
    assert len(counts) == len(salary["levels"]) > 10
    assert counts.min() >= 10


def test_one_record_does_not_show_in_a_column_of_bits():
    bits = [0, 1] * 30
    told = [
        describe_features(
            fit_for_release(pa.table({"x": [*bits[:-1], last], "ill": bits}), "ill", 10)
        )
        for last in (1, 0, 2, 0.5, 1e9)
    ]
    assert all(one == told[0] for one in told)
    assert told[0]["columns"] == [{"name": "x", "kind": "bits", "width": 1}]


def test_a_class_of_few_records_is_refused():
    table = pa.table({"x": [1, 2] * 15, "ill": ["no"] * 21 + ["yes"] * 9})
    with pytest.raises(AuditError, match=r"A001 The class 'yes' has only 9 of the records"):
        fit_for_release(table, "ill", 10)
