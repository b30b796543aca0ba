import pytest
from pydantic import ValidationError

from policy_engine.methods.sampling import Sampling, sampling_conflicts


@pytest.mark.parametrize("given", [{}, {"share": 0.5, "size": 3}, {"share": 1.0}, {"size": 0}])
def test_a_sample_has_a_share_below_1_or_a_size(given):
    with pytest.raises(ValidationError):
        Sampling(**given)


def test_a_sample_is_told_in_words():
    assert str(Sampling(share=0.25)) == "0.25 of all"
    found = Sampling(size=2000, stratified_by=("age",), weight_column="w")
    assert str(found) == "2,000, stratified by age, weights in 'w'"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"sampleShare": 0.5, "weightColumn": "w"}, []),
        ({"sampleShare": 0.5, "sampleSize": 3}, [("M003", "sampleSize")]),
        ({"stratifiedBy": ("age",)}, [("M002", "sampleShare")]),
        ({"sampleSize": 3, "weightColumn": " "}, [("M003", "weightColumn")]),
    ],
)
def test_parameters_that_contradict_each_other_are_told(given, expected):
    assert [(one.code, one.parameter) for one in sampling_conflicts(given)] == expected
