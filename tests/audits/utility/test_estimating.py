"""Estimates from randomised tables, compared with the truth."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.utility.estimating import estimate_release
from policy_engine.engines.randomising.tables import randomise_table
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.randomisation import Randomisation

ROWS = 4_000
ORIGINAL = pa.table(
    {
        "sex": ["F"] * 1_000 + ["M"] * 2_000 + ["?"] * 1_000,
        "town": ["a"] * 3_000 + ["b"] * 1_000,
        "days": [2] * 2_000 + [8] * 1_000 + [99] * 1_000,
    }
)
ALL = [
    {"name": "sex", "randomiser": "k-ary-randomised-response", "categories": ("F", "M")},
    {"name": "town", "randomiser": "optimised-local-hashing", "categories": ("a", "b")},
    {"name": "days", "randomiser": "piecewise", "lower": 0.0, "upper": 14.0},
]


def asked(**other):
    return Randomisation(columns=ALL, epsilon=Decimal(9), **other)


def test_estimates_are_told_with_the_truth_and_intervals():
    estimates = estimate_release(randomise_table(ORIGINAL, asked(), None), asked(), ORIGINAL)
    sex, town, days = estimates.columns
    assert [figure.label for figure in sex.figures] == ["F", "M", "other"]
    assert [figure.truth for figure in sex.figures] == [0.25, 0.5, 0.25]
    assert [figure.truth for figure in town.figures] == [0.75, 0.25, 0.0]
    # (2 * 2 + 8 + 14) / 4: what is beyond the bound counts as it.
    assert [(figure.label, figure.truth) for figure in days.figures] == [("mean", 6.5)]
    assert (sex.epsilon, sex.answers, estimates.epsilon) == (3, ROWS, 9)
    for column in estimates.columns:
        for figure in column.figures:
            assert figure.low < figure.estimate < figure.high
            assert abs(figure.estimate - figure.truth) < 6 * figure.variance**0.5


def test_without_the_original_there_is_no_truth():
    estimates = estimate_release(randomise_table(ORIGINAL, asked(), None), asked())
    assert estimates.original is None
    assert estimates.columns[0].figures[0].truth is None
    assert estimates.columns[0].figures[0].is_covered is None


@pytest.mark.nightly
def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """60 runs of 7 figures, each covered with 95 %."""
    covered = []
    for compose in ("sum", "sample-one-attribute"):
        one = asked(compose=compose)
        for _ in range(30):
            made = estimate_release(randomise_table(ORIGINAL, one, None), one, ORIGINAL)
            covered += [figure.is_covered for column in made.columns for figure in column.figures]
    assert np.mean(covered) > 0.9


@pytest.mark.nightly
def test_intervals_cover_the_share_among_persons_whatever_record_is_drawn():
    """200 persons, of whom the half have F and M, and the others F alone, many times: .75 of F. At
    an epsilon of 9 hardly anything but the draw of records varies."""
    one = asked(unit="who", dataset="http://x.org/Visits").model_copy(
        update={"columns": asked().columns[:1]}
    )
    persons = np.repeat(np.arange(200), 10)
    sex = np.where((persons < 100) & (np.arange(2_000) % 10 == 0), "M", "F")
    table = pa.table({"who": persons, "sex": sex})
    made = [
        estimate_release(randomise_table(table, one, bytes(31) + bytes([key])), one, table)
        for key in range(60)
    ]
    figures = [release.columns[0].figures[0] for release in made]
    assert [figure.truth for figure in figures] == pytest.approx([0.75] * 60)
    assert np.mean([figure.is_covered for figure in figures]) > 0.9


def test_images_and_columns_without_answers_are_not_estimated():
    face = {"name": "face", "randomiser": "private-pixelation", "blockSize": 1}
    face |= {"pixelsChanged": 1, "height": 1, "width": 1}
    one = Randomisation(columns=[face, ALL[0]], epsilon=Decimal(1))
    table = pa.table({"face": [[1]], "sex": pa.nulls(1, pa.string())})
    made = estimate_release(table, one)
    assert all(isinstance(column, NotApplicable) for column in made.columns)


def test_a_table_without_the_columns_is_refused():
    with pytest.raises(DataError, match="C005"):
        estimate_release(pa.table({"sex": ["F"]}), asked())
