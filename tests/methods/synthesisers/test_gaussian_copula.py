from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.synthesisers.gaussian_copula import GaussianCopula


def test_it_has_no_settings():
    [finding] = parameter_findings(GaussianCopula, {"leafSize": 5}, "gaussian-copula")
    assert (finding.code, finding.parameter) == ("M004", "leafSize")
    assert str(GaussianCopula()) == "gaussian-copula"
