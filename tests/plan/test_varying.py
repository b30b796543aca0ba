import pytest
from applying import asking
from building import column

from policy_engine.errors import PlanError
from policy_engine.plan.making import make_plan
from policy_engine.plan.varying import check_settings, part_of, varied_plan
from policy_engine.policy import read_policy

SWAPPED = [column(name, masking="rank-swapping", p=0.05) for name in ("age", "pay")]
NOISY = column("hours", masking="noise", sdShare=0.5)
GROUPED = [
    column(name, masking="microaggregation", groupSize=3, together="size")
    for name in ("height", "weight")
]


def plan_of(**parts):
    return make_plan(read_policy(asking(**parts)))


@pytest.fixture
def plan():
    masked = [*SWAPPED, NOISY, *GROUPED]
    both = ["masking", "k-anonymity"]
    return plan_of(method=both, k=2, quasi=["zip"], masked=masked, sampleShare=0.5)


def masked(plan):
    return {one.name: dict(one.parameters) for one in plan.mask.columns}


def test_a_parameter_of_one_column_is_set(plan):
    found = masked(varied_plan(plan, {"age:p": 0.2}))
    assert found == {**masked(plan), "age": {"p": 0.2}}


def test_a_parameter_of_all_columns_that_have_it_is_set(plan):
    found = masked(varied_plan(plan, {"p": 0.2}))
    assert (found["age"], found["pay"]) == ({"p": 0.2}, {"p": 0.2})


def test_columns_that_are_masked_together_stay_so(plan):
    varied = varied_plan(plan, {"height:groupSize": 5})
    assert {name for name, one in masked(varied).items() if one.get("groupSize") == 5} == {
        "height",
        "weight",
    }
    assert len(varied.mask.groups) == len(plan.mask.groups)


def test_a_name_of_its_own_is_that_of_the_models_first(plan):
    varied = varied_plan(plan, {"k": 5})
    assert varied.anonymize.k == 5
    assert masked(varied) == masked(plan)


def test_the_share_of_a_sample_is_set(plan):
    assert varied_plan(plan, {"sampleShare": 0.1}).sample.share == 0.1


def test_the_share_that_full_domain_suppresses_is_set():
    plan = plan_of(method="k-anonymity", k=2, quasi=["zip"], algorithm="full-domain")
    assert varied_plan(plan, {"maxSuppression": 0.1}).most_suppressed == 0.1
    with pytest.raises(PlanError, match="M003 maxSuppression is not allowed to be 2"):
        varied_plan(plan, {"maxSuppression": 2})


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("k", "classes"),
        ("sampleShare", "sample"),
        ("p", "masking"),
        ("hours:sdShare", "masking"),
        ("hours:varianceShare", None),
        ("hours:distribution", None),
        ("zip:p", None),
        ("t", None),
    ],
)
def test_it_is_known_what_has_a_parameter(plan, name, part):
    assert part_of(plan, name) == part


def test_a_sample_without_a_size_has_no_size_to_vary(plan):
    with pytest.raises(PlanError, match="M004 What the policy makes has no parameter 'sampleSize'"):
        check_settings(plan, [{"sampleSize": 10}])


def test_every_parameter_that_is_not_there_or_allowed_is_told(plan):
    with pytest.raises(PlanError) as told:
        check_settings(
            plan, [{"p": 2, "zip:x": 1}, {"p": 0.1, "sampleShare": 1}, {"height:groupSize": 1}]
        )
    found = [(one.code, one.message.partition(" is")[0]) for one in told.value.problems]
    assert [code for code, _ in found] == ["M004"] + ["M003"] * 5
    assert [message for _, message in found[1:]] == [
        "'age': p",
        "'pay': p",
        "sampleShare",
        "'height': groupSize",
        "'weight': groupSize",
    ]


def test_nothing_changes_without_a_setting(plan):
    assert varied_plan(plan, {}) == plan
