import pytest

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.synthesisers.sequential_trees import SequentialTrees


def test_a_leaf_has_five_rows_unless_others_are_asked_for():
    assert SequentialTrees().leaf == 5
    assert str(SequentialTrees(leaf=1000)) == "sequential-trees, at least 1,000 rows in a leaf"


@pytest.mark.parametrize("leaf", [0, 2.5, "five", 10**10])
def test_a_leaf_has_a_whole_number_of_rows(leaf):
    [finding] = parameter_findings(SequentialTrees, {"leafSize": leaf}, "sequential-trees")
    assert (finding.code, finding.parameter) == ("M003", "leafSize")
