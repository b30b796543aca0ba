from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.synthesisers.independent_marginals import IndependentMarginals


def test_it_has_no_settings():
    [finding] = parameter_findings(IndependentMarginals, {"leafSize": 5}, "independent-marginals")
    assert (finding.code, finding.parameter) == ("M004", "leafSize")
    assert str(IndependentMarginals()) == "independent-marginals"
