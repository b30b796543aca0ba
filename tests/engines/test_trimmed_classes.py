"""Rows that are left out of Mondrian's classes, on every engine."""

import numpy as np
import pyarrow as pa
import pytest
from applying import applied, asking, measured, refused, rows_of
from building import DATASET, column
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine import apply_policy, certify_output, explore_policy
from policy_engine.data.cells import read_cell
from policy_engine.engines import local, trimming
from policy_engine.engines.trimming import choose

ASKED = {"method": "k-anonymity", "k": 3, "quasi": ["age", "pay"]}
ONE_OUTLIER = {
    "age": [20, 21, 22, 30, 31, 32, 40, 41, 42, 43],
    "pay": [10, 20, 30, 10, 20, 30, 10, 20, 30, 9000],
    "row": list(range(10)),
}
LEFT = {"age": ONE_OUTLIER["age"][:9], "pay": ONE_OUTLIER["pay"][:9], "row": list(range(9))}


def skewed(rows=400, seed=5):
    """Return rows with long tails, ties and missing values."""
    random = np.random.default_rng(seed)
    pay = np.round(random.pareto(0.7, rows) * 100)
    return pa.table(
        {
            "age": random.integers(18, 90, rows),
            "pay": pa.array(pay, mask=np.arange(rows) % 41 == 3),
            "job": random.choice(list("aaaabbbbccd"), rows),
            "ill": random.choice(["flu", "cold", "cough"], rows),
            "row": range(rows),
        }
    )


def test_one_outlier_is_left_out_and_the_others_are_as_without_it():
    release = applied(ONE_OUTLIER, maxSuppression=0.1, insensitive=["row"], **ASKED)
    assert rows_of(release) == rows_of(applied(LEFT, insensitive=["row"], **ASKED))
    record = release.record
    assert (record.suppressed, record.input.rows, release.certificate.rows_out) == (1, 10, 9)
    # Without suppression, cells of pay hide all of what is left, but in the outlier's own class.
    assert record.gain.suppressing < record.gain.without
    loss = record.utility.global_certainty_penalty
    assert record.gain.suppressing == pytest.approx(loss, abs=1e-6)


def test_no_row_is_left_out_where_none_may_be():
    kept = applied(ONE_OUTLIER, insensitive=["row"], **ASKED)
    for share in (0, 0.09):
        release = applied(ONE_OUTLIER, maxSuppression=share, insensitive=["row"], **ASKED)
        assert rows_of(release) == rows_of(kept)
        assert (release.record.suppressed, release.record.gain) == (0, None)


def test_rows_that_are_spread_evenly_stay():
    table = {"age": list(range(64)), "pay": list(range(64))}
    release = applied(table, maxSuppression=0.3, **ASKED)
    assert release.record.suppressed == 0


def test_the_gain_is_in_the_record_and_not_in_the_certificate():
    release = applied(ONE_OUTLIER, maxSuppression=0.1, **ASKED)
    assert "gain" in release.record.to_json()
    certificate = release.certificate.model_dump_json()
    assert "suppressing" not in certificate
    assert '"suppressed"' not in certificate


def test_a_table_that_is_too_small_is_refused_and_never_made_so(tmp_path):
    assert refused(ONE_OUTLIER, tmp_path, maxSuppression=0.9, **{**ASKED, "k": 11}) == ["R002"]
    release = applied(ONE_OUTLIER, maxSuppression=0.9, **{**ASKED, "k": 10})
    assert release.table.num_rows == 10


def test_values_stay_diverse_without_the_rows_left_out():
    table = {**ONE_OUTLIER, "ill": [*["flu"] * 9, "cold"]}
    diverse = {"method": "l-diversity", "l": 2, "sensitive": ["ill"]}
    release = applied(table, maxSuppression=0.5, **{**ASKED, **diverse})
    assert "cold" in release.table["ill"].to_pylist()
    assert measured(release)["l", "ill"] == 2


def test_persons_are_counted_of_the_rows_that_are_left():
    table = {**ONE_OUTLIER, "who": list("aaabbbcccd")}
    release = applied(table, maxSuppression=0.1, privacyUnit="who", **ASKED)
    assert release.record.suppressed == 1
    assert measured(release)["k", ""] == 3


def test_a_release_is_certified_again_beside_its_data(tmp_path):
    asked = {**ASKED, "maxSuppression": 0.1, "insensitive": ["row"]}
    release = applied(ONE_OUTLIER, tmp_path / "out", **asked)
    again = certify_output(release.path, asking(**asked), data={DATASET: pa.table(ONE_OUTLIER)})
    assert again.measurements == release.certificate.measurements


def test_columns_are_masked_once_rows_are_left_out():
    coded = column("row", masking="top-coding", tail=3, replacement="mean")
    asked = {**ASKED, "masked": [coded], "maxSuppression": 0.1}
    made, alone = (applied(table, **asked) for table in (ONE_OUTLIER, LEFT))
    assert (made.record.suppressed, alone.record.suppressed) == (1, 0)
    assert made.table["row"].to_pylist() == alone.table["row"].to_pylist()
    assert made.record.gain is not None


def test_other_limits_are_explored():
    table = {DATASET: pa.table(ONE_OUTLIER)}
    found = explore_policy(asking(**ASKED), table, {"maxSuppression": [0, 0.1]})
    assert [run.outcome.suppressed for run in found] == [0, 1]


def test_grids_and_permuted_values_leave_no_row_out(tmp_path):
    grid = {**ASKED, "dimensionality": "single", "maxSuppression": 0.1}
    assert refused(ONE_OUTLIER, tmp_path, **grid) == ["M003"]
    permuted = {**ASKED, "method": "probabilistic-k-anonymity", "maxSuppression": 0.1}
    assert refused(ONE_OUTLIER, tmp_path, **permuted) == ["M003"]


OPTIONS = [{}, {"score": "span"}, {"partitioning": "relaxed"}, {"missing": "wildcard"}]


@settings(deadline=None, max_examples=examples(10, times=20))
@given(
    st.integers(0, 2**32),
    st.integers(8, 80),
    st.sampled_from([0.02, 0.1, 0.4]),
    st.sampled_from([*OPTIONS, {"polish": True}]),
    st.sampled_from([{}, {"method": "l-diversity", "l": 2, "sensitive": ["ill"]}]),
)
def test_at_most_so_many_rows_are_left_out_and_never_for_a_loss(seed, rows, share, options, model):
    table = skewed(rows, seed)
    asked = {**ASKED, "quasi": ["age", "pay", "job"], "insensitive": ["row"], **options, **model}
    if model and len(set(table["ill"].to_pylist())) < 2:
        return
    release = applied(table, maxSuppression=share, **asked)
    record, gain = release.record, release.record.gain
    assert record.suppressed == rows - release.table.num_rows <= share * rows
    assert (gain is None) == (record.suppressed == 0)
    assert gain is None or gain.suppressing <= gain.without
    assert all(one.holds for one in release.certificate.measurements)
    order = np.random.default_rng(seed).permutation(rows)
    shuffled = applied(table.take(order), maxSuppression=share, **asked)
    assert shuffled.table.equals(release.table)
    if not record.suppressed:
        assert rows_of(release) == rows_of(applied(table, **asked))


def test_every_row_that_is_left_is_in_its_cells():
    table, limit = skewed(), 0.05
    asked = {**ASKED, "quasi": ["age", "pay", "job"], "insensitive": ["row"]}
    release = applied(table, maxSuppression=limit, **asked)
    assert 0 < release.record.suppressed <= limit * 400
    pay = table["pay"].to_pylist()
    for cell, row in zip(*(release.table[n].to_pylist() for n in ("pay", "row")), strict=True):
        value, read = pay[row], read_cell(cell)
        if value is None:
            assert read.may_be_missing
        else:
            assert float(read.values[0]) <= value <= float(read.values[-1])


def test_a_time_limit_ends_the_trials(monkeypatch):
    asked, over = asking(maxSuppression=0.1, **ASKED), []
    monkeypatch.setattr(local, "deadline", lambda _: lambda: bool(over))
    monkeypatch.setattr(trimming, "choose", lambda *given: over.append(1) or choose(*given))
    release = apply_policy(asked, {DATASET: pa.table(ONE_OUTLIER)}, time_limit=1)
    assert release.record.suppressed == 0
    assert str(release.certificate.ended) == (
        "leaving rows out ended after 1 s, 1 set of rows that was not tried"
    )
