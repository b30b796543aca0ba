from dataclasses import replace

from building import people_policy

from policy_engine.methods.privacy_models.l_diversity import LDiversity
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy


def test_a_plan_names_every_column_once(catalog):
    plan = make_plan(read_policy(people_policy()), catalog)
    assert plan.read.columns == plan.publish.columns == ("age", "city", "disease")
    assert plan.drop.identifiers == ("name",)
    assert plan.drop.unmentioned == ("phone",)


def test_a_plan_comes_back_from_its_json(catalog):
    plan = make_plan(read_policy(people_policy()), catalog)
    again = Plan.model_validate_json(plan.model_dump_json())
    assert again == plan
    assert again.digest == plan.digest
    assert type(again.anonymize.methods["l-diversity"]) is LDiversity


def test_a_plan_holds_the_digest_of_its_policy():
    read = read_policy(people_policy())
    assert make_plan(read).policy_digest == read.digest
    other = replace(read, digest="0" * 64)
    assert make_plan(other).digest != make_plan(read).digest
