"""The figures of a sample, as rows of it can be released."""

import pytest
from applying import asking
from certifying import certified

from policy_engine.certificate.consistency import contradictions
from policy_engine.engines.samples import SampleFigures
from policy_engine.policy import read_policy

KEPT = {"method": "masking", "insensitive": ["id", "sex"]}
SIZED = {**KEPT, "sampleSize": 20}
DRAWN = {**KEPT, "sampleShare": 0.2}
STRATIFIED = {**DRAWN, "stratifiedBy": ["sex"]}
CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["id"], "insensitive": ["sex"]}
HIDDEN = {"method": "k-anonymity", "k": 2, "quasi": ["sex"], "sampleShare": 0.2}
HIDDEN |= {"stratifiedBy": ["sex"]}
PERSONS = {**SIZED, "privacyUnit": "person"}
SUPPRESSING = {**CLASSES, "algorithm": "full-domain", "maxSuppression": 0.1, "sampleSize": 20}
FIGURES = {"units": "rows", "sampled": 20, "rows": 20, "share": 0.2, "strata": 1}


def told_of(parts, rows_out=20, **figures):
    """Return what is told of a release with a sample: 20 rows of 100, but for what is changed.

    What is told of rows that are all released is left out, but for what is about a sample.
    """
    made = certified(read_policy(asking(**parts)), rows_out=rows_out)
    sample = SampleFigures(**{**FIGURES, **figures})
    before = {*contradictions(made)} - {UNTOLD}
    sampled = made.model_copy(update={"sample": sample})
    return [one for one in contradictions(sampled) if one not in before]


UNTOLD = "It does not say how many rows were sampled."
OTHER = "It has a sample that its plan does not ask for."
MORE = "It tells more of its sample than the output shows."


def test_a_sample_is_told_where_one_was_drawn():
    made = certified(read_policy(asking(**SIZED)), rows_out=20)
    assert [*contradictions(made)] == [UNTOLD]
    assert told_of(CLASSES) == [OTHER]
    assert told_of(SIZED, units="persons") == [OTHER]


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({}, []),
        ({"share": 1.0}, []),
        ({"sampled": None}, [UNTOLD]),
        ({"share": None}, [UNTOLD]),
        ({"strata": None}, [UNTOLD]),
        ({"sampled": 19}, ["20 rows are not of a sample of 19 rows (20 rows)."]),
        ({"sampled": 21}, ["20 rows are not of a sample of 21 rows (20 rows)."]),
        ({"rows": 21}, ["20 rows are not of a sample of 20 rows (21 rows)."]),
        ({"rows": None}, ["20 rows are not of a sample of 20 rows (None rows)."]),
        ({"strata": 21}, ["20 rows are not of a sample of 20 rows (20 rows)."]),
        ({"strata": 2}, ["20 rows are not a sample with the share 0.2, in 2 strata."]),
        ({"share": 0.21}, ["20 rows are not a sample with the share 0.21, in 1 strata."]),
        ({"share": 20 / 95}, []),
    ],
    ids=str,
)
def test_a_sample_of_a_size_has_as_many_rows(figures, told):
    assert told_of(SIZED, **figures) == told


def test_a_size_is_that_which_is_asked_for():
    nineteen = {"sampled": 19, "rows": 19, "share": 0.19}
    told = "19 rows are not of a sample of 19 rows (19 rows)."
    assert told_of(SIZED, 19, **nineteen) == [told]
    assert told_of(DRAWN, 19, **nineteen) == []


@pytest.mark.parametrize(
    ("sampled", "rows", "told"),
    [
        (20, 20, []),
        (20, 30, []),
        (20, 19, ["19 rows are not of a sample of 20 persons (19 rows)."]),
    ],
)
def test_persons_have_a_row_or_more(sampled, rows, told):
    figures = {"units": "persons", "sampled": sampled, "rows": rows}
    assert told_of(PERSONS, rows, **figures) == told


@pytest.mark.parametrize(
    ("sampled", "total", "strata", "is_possible"),
    [
        (20, 100, 2, True),
        (21, 100, 2, True),  # each of two strata gives half a row more
        (22, 100, 2, False),
        (18, 100, 2, False),
        (22, 100, 4, True),
        (20, 100, 20, True),
    ],
)
def test_every_stratum_gives_its_share_to_half_a_row(sampled, total, strata, is_possible):
    share = sampled / total
    figures = {"sampled": sampled, "rows": sampled, "share": share, "strata": strata}
    told = f"{sampled} rows are not a sample with the share {share:g}, in {strata} strata."
    assert told_of(STRATIFIED, sampled, **figures) == ([] if is_possible else [told])


@pytest.mark.parametrize(("sampled", "is_possible"), [(20, True), (35, True), (100, False)])
def test_a_share_that_is_drawn_is_one_that_chance_gives(sampled, is_possible):
    figures = {"sampled": sampled, "rows": sampled, "share": sampled / 100}
    told = f"{sampled} rows are not a sample with the share {sampled / 100:g}, in 1 strata."
    assert told_of(DRAWN, sampled, **figures) == ([] if is_possible else [told])


def test_strata_are_counted_where_they_are_shown():
    assert told_of(HIDDEN, strata=None) == []
    assert told_of(HIDDEN, strata=1) == [MORE]
    told = "20 rows are not a sample with the share 0.01."
    assert told_of(HIDDEN, strata=None, share=0.01) == [told]


def test_of_a_sample_with_suppressed_rows_nothing_is_told_but_its_units():
    hidden = dict.fromkeys(["sampled", "rows", "share", "strata"])
    assert told_of(SUPPRESSING, 19, **hidden) == []
    for name in hidden:
        assert told_of(SUPPRESSING, 19, **{**hidden, name: FIGURES[name]}) == [MORE]
