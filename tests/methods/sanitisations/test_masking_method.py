from measuring import refused

from policy_engine.methods import PrivacyModel
from policy_engine.methods.sanitisations.masking import Masking


def test_masking_needs_a_masked_column_or_a_sample_and_nothing_else():
    [lacking] = Masking.lacking(["insensitive"])
    assert (lacking.code, lacking.parameter) == ("M002", "masked")
    assert "'masked', 'sampleShare' or 'sampleSize'" in lacking.message
    for reason in ("masked", "sampleShare", "sampleSize"):
        assert [*Masking.lacking(["insensitive", reason])] == []


def test_masking_has_no_parameters_and_bounds_nothing():
    assert refused(Masking, k=2) == [("M004", "k")]
    assert not issubclass(Masking, PrivacyModel)
    assert Masking().model_dump() == {}
