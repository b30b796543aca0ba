import pytest
from pydantic import ValidationError

from policy_engine.methods.output_checks.profile import (
    OutputProfile,
    PercentileStep,
    ladder_text,
    read_ladder,
)
from policy_engine.methods.output_checks.profiles import PROFILES


@pytest.mark.parametrize(
    ("share", "units"),
    [(0.5, 20), (0.25, 40), (0.3, 40), (0.1, 80), (0.05, 200), (0.01, 400), (0.001, None)],
)
def test_a_percentile_is_taken_of_as_many_units_as_its_ladder_says(share, units):
    """The steps of the Institut für Arbeitsmarkt- und Berufsforschung."""
    assert PROFILES["iab"].ladder_units(share) == units


def test_a_ladder_never_asks_less_of_a_rarer_tail():
    steps = (PercentileStep(share=0.5, units=40), PercentileStep(share=0.1, units=20))
    with pytest.raises(ValidationError, match="further out"):
        OutputProfile(notation="x", version="1", source="", min_units=5, percentile_ladder=steps)


def test_a_ladder_is_read_as_it_is_written():
    ladder = PROFILES["iab"].percentile_ladder
    assert read_ladder(ladder_text(ladder)) == ladder


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "such as"),
        (20, "such as"),
        ("0.5", "such as"),
        ("0.5:20:1", "such as"),
        ("0.6:20", "such as"),
        ("0.5:0", "such as"),
        ("nan:20", "such as"),
        ("0.1:80 0.5:20", "further out"),
        ("0.5:40 0.1:20", "further out"),
        (".5:20", "written as '0.5:20'"),
        ("0.5:20  0.1:40", "written as"),
    ],
)
def test_what_is_no_ladder_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        read_ladder(text)


def test_a_profile_knows_what_it_has_no_value_for():
    assert PROFILES["sacro"].has_dominance
    assert PROFILES["sacro"].has_percentiles
    assert not PROFILES["iab"].has_dominance
    assert not PROFILES["dwb-2015"].has_percentiles
