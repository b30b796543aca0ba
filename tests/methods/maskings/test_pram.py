import numpy as np
import pytest
from masked import categories
from pydantic import ValidationError

from policy_engine.methods.maskings.pram import Pram
from policy_engine.methods.perturbation import ColumnFacts

LABELS = ["a", "b", "c", "d"]
CODES = np.repeat([0, 1, 2, 3], [10_000, 6000, 3000, 1000])


def test_a_category_stays_with_the_probability_that_is_asked_for():
    masking, rows = Pram(name="job", keep=0.7), categories(CODES, LABELS)
    made = masking.perturb(rows)
    assert np.mean(made[:, 0] == CODES) == pytest.approx(0.7, abs=0.01)
    tally = masking.tally(rows.values, made, rows.facts)
    assert tally["broken"].tolist() == [0]
    assert tally["transitions"].sum() == len(CODES)
    [figures] = masking.paired_figures(tally, rows.facts)
    assert figures["largestDeviation"] < 5


def test_the_invariant_variant_keeps_the_frequencies():
    masking, rows = Pram(name="job", keep=0.7, variant="invariant"), categories(CODES, LABELS)
    made = np.bincount(masking.perturb(rows)[:, 0], minlength=4)
    assert np.abs(made - np.bincount(CODES)).max() / len(CODES) < 0.01


@pytest.mark.parametrize("variant", ["plain", "invariant"])
def test_the_rows_of_the_matrix_are_probabilities(variant):
    matrix = Pram(name="job", keep=0.7, variant=variant).matrix(categories(CODES, LABELS).facts)
    assert matrix.shape == (4, 4)
    assert matrix.min() > 0
    assert matrix.sum(axis=1) == pytest.approx(np.ones(4))


def test_a_deviation_from_the_matrix_is_told_in_standard_deviations():
    masking, facts = (
        Pram(name="job", keep=0.5),
        categories(np.repeat([0, 1], 100), ["a", "b"]).facts,
    )
    stays = {"broken": np.zeros(1), "transitions": np.array([[100, 0], [50, 50]])}
    assert masking.paired_figures(stays, facts) == [
        {"largestDeviation": pytest.approx(10), "transitions": 200, "moved": 50}
    ]


def test_categories_that_the_input_lacks_break_it():
    before = categories(CODES, LABELS).facts
    after = ColumnFacts(5, labels=before.labels, counts=np.array([1, 1, 1, 0, 2]))
    assert Pram(name="job", keep=0.7).count_unlike(before, after) == 2


@pytest.mark.parametrize("keep", [0, 1, 70, float("nan"), True])
def test_a_probability_that_is_none_is_refused(keep):
    with pytest.raises(ValidationError):
        Pram(name="job", keep=keep)


@pytest.mark.parametrize(("moved", "broken"), [(200, 0), (150, 0), (0, 2000), (1000, 2000)])
def test_transitions_that_cannot_be_random_break_the_masking(moved, broken):
    # Of 1000 rows each, 200 are expected to move, with a standard deviation of 12.6.
    masking, codes = Pram(name="job", keep=0.8), np.arange(2000) % 2
    facts = categories(codes, ["a", "b"]).facts
    after = np.where(np.arange(2000) // 2 < moved, 1 - codes, codes)
    tally = masking.tally(codes[:, None], after[:, None], facts)
    assert masking.count_broken(tally, facts).tolist() == [broken]
