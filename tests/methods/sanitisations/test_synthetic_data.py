import pytest

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.sanitisations.synthetic_data import SyntheticData


def test_its_rows_are_asked_for():
    assert SyntheticData(syntheticRows=2_000).rows == 2_000
    assert SyntheticData.step == "synthesise"
    [finding] = parameter_findings(SyntheticData, {}, "synthetic-data")
    assert (finding.code, finding.parameter) == ("M002", "syntheticRows")


@pytest.mark.parametrize("rows", [0, 1.5, 10**9, True])
def test_they_are_a_whole_number(rows):
    [finding] = parameter_findings(SyntheticData, {"syntheticRows": rows}, "synthetic-data")
    assert finding.code == "M003"
