import pytest
from attacked import NOISY, attacked, bounded, by, known
from building import OUTPUT, column, refinement

from policy_engine.errors import PlanError
from policy_engine.methods.audits.record_linkage import DEFAULT_ATTACKS, RecordLinkage
from policy_engine.methods.disclosure import DisclosureBound
from policy_engine.plan.disclosure import Disclosure
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy

SWAPPED = column("age", masking="rank-swapping", p=0.1)
CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["age", "city"], "sensitive": ["disease"]}
IMAGE = column("face", masking="pixelation", blockSize=2, height=4, width=4)


def method(*refinements, **parts):
    [one] = make_plan(read_policy(attacked(*refinements, **parts))).disclosures
    return one.method


def refused(*refinements, engine="local", **parts):
    with pytest.raises(PlanError) as caught:
        make_plan(read_policy(attacked(*refinements, **parts)), engine=engine)
    return [one.code for one in caught.value.problems]


def test_what_is_asked_for_is_a_step_of_the_plan_before_it_is_published():
    plan = make_plan(read_policy(attacked(bounded(0.05, "lt"))))
    assert [step.step for step in plan.steps][-2:] == ["disclosure", "publish"]
    bound = DisclosureBound(measure="linked", asked=0.05, sense="below")
    asked = RecordLinkage(bound=bound, known=("pay",), attacks=DEFAULT_ATTACKS)
    [step] = plan.disclosures
    assert step.model_dump() == {
        "step": "disclosure",
        **Disclosure(duty="http://x.org/attack", asset=OUTPUT, method=asked).model_dump(),
    }
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_an_audit_names_its_method_or_is_called_by_it():
    named = refinement("mosaicrown:method", "record-linkage")
    by_method = attacked(bounded(0.1), named, action="pe:audit")
    assert make_plan(read_policy(by_method)).disclosures[0].method == method(bounded(0.1))


def test_all_columns_that_are_changed_are_known_unless_some_are_named():
    assert method(bounded(0.1), **CLASSES).known == ("age", "city")
    both = {"method": ["masking", "k-anonymity"], "k": 2, "quasi": ["age"], "masked": NOISY}
    assert method(bounded(0.1), **both).known == ("age", "pay")
    assert method(bounded(0.1), known("disease", "age"), **CLASSES).known == ("disease", "age")
    assert method(bounded(0.1), known("city", table=OUTPUT), **CLASSES).known == ("city",)


def test_what_no_attack_reads_is_not_known():
    parts = {"method": "masking", "masked": [*NOISY, IMAGE]}
    assert method(bounded(0.1), **parts).known == ("pay",)
    assert refused(bounded(0.1), known("face"), **parts) == ["M013"]
    assert refused(bounded(0.1), method="masking", masked=[IMAGE]) == ["M013"]


def test_attacks_are_named_by_notation_or_by_iri():
    assert method(bounded(0.1), by("distance-linkage")).attacks == ("distance-linkage",)
    iri = refinement("pe:attack", {"@id": "pe:likelihood-linkage"})
    assert method(bounded(0.1), iri).attacks == ("likelihood-linkage",)


def test_the_intersection_of_ranks_is_asked_for_where_some_are_swapped():
    intersection = by("intersection-linkage")
    assert refused(bounded(0.1), intersection) == ["M013"]
    both = {"method": "masking", "masked": [*NOISY, SWAPPED]}
    assert method(bounded(0.1), intersection, **both).attacks == ("intersection-linkage",)
    assert refused(bounded(0.1), intersection, known("pay"), **both) == ["M013"]


def test_everything_that_is_wrong_is_told_at_once():
    found = refused(bounded(2), known("name", "salary"), by("distance", "distance-linkage"))
    assert found == ["M011", "M013", "M013", "M013"]


def test_another_engine_is_refused_with_the_reason():
    with pytest.raises(PlanError, match=r"M009 .* one process has all of them") as caught:
        make_plan(read_policy(attacked(bounded(0.1))), engine="spark")
    assert "run it on the local engine" in str(caught.value)


def test_a_plan_that_knows_columns_it_does_not_read_is_none():
    plan = make_plan(read_policy(attacked(bounded(0.1))))
    text = plan.model_dump_json().replace('"known":["pay"]', '"known":["salary"]')
    with pytest.raises(ValueError, match="columns are known that are not read"):
        Plan.model_validate_json(text)


def test_a_plan_for_other_steps_has_no_attack():
    plan = make_plan(read_policy(attacked(bounded(0.1))))
    assert plan.without_audits().disclosures == ()
