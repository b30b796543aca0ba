import pytest
from pydantic import ValidationError

from policy_engine.kernels.estimates import Estimate, NotApplicable, clopper_pearson
from policy_engine.methods.audits.record_linkage import DEFAULT_ATTACKS, RecordLinkage
from policy_engine.methods.disclosure import DisclosureBound, DisclosureMeasurement

BOUND = DisclosureBound(measure="linked", asked=0.05)


def measured(low, high, bound=BOUND):
    reached = Estimate(value=(low + high) / 2, low=low, high=high)
    return DisclosureMeasurement(
        attack="distance-linkage", bound=bound, records=100, baseline=0.01, reached=reached
    )


def test_a_bound_is_told_in_words():
    assert str(BOUND) == "linked at most 0.05"


@pytest.mark.parametrize(
    ("sense", "high", "holds"),
    [
        ("at most", 0.049, True),
        ("at most", 0.05, True),
        ("at most", 0.051, False),
        ("below", 0.049, True),
        ("below", 0.05, False),
    ],
)
def test_a_bound_holds_where_the_end_of_the_interval_does(sense, high, holds):
    bound = DisclosureBound(measure="linked", asked=0.05, sense=sense)
    assert measured(0.0, high, bound).holds == holds


@pytest.mark.parametrize("asked", [-0.1, 0, 1, 1.5])
def test_a_bound_that_none_keeps_or_all_keep_is_none(asked):
    with pytest.raises(ValidationError):
        DisclosureBound(measure="linked", asked=asked)


@pytest.mark.parametrize("asked", [0.3, 0.05, 0.01, 0.001])
def test_so_many_records_without_a_link_show_that_a_bound_holds_and_one_fewer_does_not(asked):
    fewest = DisclosureBound(measure="linked", asked=asked).fewest_records
    assert clopper_pearson(0, fewest).high <= asked < clopper_pearson(0, fewest - 1).high


def test_figures_have_a_decimal_more_than_the_bound_and_three_at_least():
    assert [DisclosureBound(measure="linked", asked=one).decimals for one in (0.3, 0.002)] == [3, 4]


def test_an_attack_that_does_not_apply_breaks_no_bound():
    reached = NotApplicable(reason="no column was masked by rank swapping")
    one = measured(0.0, 0.9)
    assert not one.holds
    assert one.model_copy(update={"reached": reached}).holds


def test_an_interval_that_is_not_of_a_share_is_refused():
    with pytest.raises(ValidationError, match="from 0 to 1"):
        measured(0.5, 1.5)


def test_all_attacks_are_made_unless_some_are_named_and_something_is_known():
    assert RecordLinkage(bound=BOUND, known=("age",)).attacks == DEFAULT_ATTACKS
    with pytest.raises(ValidationError):
        RecordLinkage(bound=BOUND, known=())
