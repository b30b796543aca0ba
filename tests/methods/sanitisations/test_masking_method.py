from measuring import refused

from policy_engine.methods import PrivacyModel
from policy_engine.methods.sanitisations.masking import Masking


def test_masking_needs_a_masked_column_and_nothing_else():
    [lacking] = Masking.lacking(["insensitive"])
    assert (lacking.code, lacking.parameter) == ("M002", "masked")
    assert [*Masking.lacking(["insensitive", "masked"])] == []


def test_masking_has_no_parameters_and_bounds_nothing():
    assert refused(Masking, k=2) == [("M004", "k")]
    assert not issubclass(Masking, PrivacyModel)
    assert Masking().model_dump() == {}
