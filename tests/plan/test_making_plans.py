import json

import pytest
from building import DATASET, OUTPUT, PEOPLE, anonymize, column, people_policy, permission, policy

from policy_engine import terms
from policy_engine.data.catalog import make_catalog
from policy_engine.data.taxonomy import read_taxonomy
from policy_engine.errors import DataError, PlanError, join_names
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.policy import read_policy


def test_without_data_a_plan_is_unbound():
    plan = make_plan(read_policy(people_policy()))
    assert (plan.read.location, plan.read.format) == ("", "")


def test_a_missing_column_is_named_with_its_neighbours(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE.replace("disease", "diseases").replace("age", "Age"))
    with pytest.raises(DataError) as caught:
        make_plan(read_policy(people_policy()), make_catalog({DATASET: path}))
    assert [problem.code for problem in caught.value.problems] == ["C005", "C005"]
    assert "Did you mean 'diseases'?" in str(caught.value)


def test_columns_that_the_data_lacks_have_their_places_in_the_policy(tmp_path):
    path, text = tmp_path / "people.csv", json.dumps(json.loads(people_policy()), indent=1)
    path.write_text(PEOPLE.replace("age", "Age"))
    with pytest.raises(DataError, match=r"policy\.jsonld:\d+:\d+: C005 .*'age'") as caught:
        make_plan(read_policy(text, source="policy.jsonld"), make_catalog({DATASET: path}))
    [problem] = caught.value.problems
    assert f"{DATASET}/age" in text.splitlines()[problem.place.line - 1]


def test_data_without_any_of_the_columns_is_wrong_itself(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"people\.csv: C005 .* has none of the columns"):
        make_plan(read_policy(people_policy()), make_catalog({DATASET: path}))


def test_a_column_that_the_data_lacks_counts_in_every_rule(catalog):
    ban = permission(action="read", assignee=None, target=f"{DATASET}/nmae")
    read = read_policy(people_policy(prohibition=[ban], conflict="perm"))
    make_plan(read)
    with pytest.raises(DataError, match=r"C005.*'nmae'.*Did you mean 'name'"):
        make_plan(read, catalog)


def plan_of(catalog=None, engine="local", **parameters):
    action = anonymize(**{"method": "k-anonymity", "k": 2, "quasi": ["age"], **parameters})
    read = read_policy(policy([permission(action=action, output=OUTPUT)]))
    return make_plan(read, catalog, engine=engine)


def test_the_unit_of_privacy_is_read_and_not_published(catalog):
    plan = plan_of(catalog, privacyUnit="name", insensitive=["city"])
    assert plan.read.columns == ("age", "city", "name")
    assert plan.drop.identifiers == ("name",)
    assert plan.publish.columns == ("age", "city")


def test_identifiers_that_are_treated_are_published(catalog):
    plan = plan_of(catalog, pseudonymize=["name"], redact=["phone"])
    assert plan.publish.columns == ("name", "age", "phone")
    assert plan.drop.unmentioned == ("city", "disease")


def test_a_unit_of_privacy_that_the_data_lack_is_missed(catalog):
    with pytest.raises(DataError, match="C005"):
        plan_of(catalog, privacyUnit="person")


def test_a_plan_holds_the_digest_of_each_taxonomy(tmp_path):
    people = tmp_path / "people.csv"
    people.write_text(PEOPLE)
    cities = read_taxonomy(b"Rome;Italy;*\nOslo;Norway;*\nBern;Switzerland;*\n", "cities.csv")
    quasi = [column("city", generalization="taxonomy", taxonomy="http://x.org/cities")]
    found = make_catalog({DATASET: people}, taxonomies={"http://x.org/cities": cities})
    digests = plan_of(found, quasi=quasi).anonymize.taxonomies
    assert digests == {"http://x.org/cities": cities.digest}
    assert plan_of(quasi=quasi).anonymize.taxonomies == {}
    with pytest.raises(DataError, match="C012"):
        plan_of(make_catalog({DATASET: people}), quasi=quasi)


def lacked(**parameters):
    """Return the problems of a plan for the Spark engine."""
    with pytest.raises(PlanError) as caught:
        plan_of(engine="spark", **parameters)
    assert {problem.code for problem in caught.value.problems} == {"M009"}
    return caught.value.problems


def test_a_plan_for_an_engine_without_the_algorithm_says_what_it_has():
    [problem] = lacked(algorithm="full-domain")
    assert str(problem) == (
        "M009 The spark engine has no algorithm 'full-domain'. It has 'mondrian', "
        "'microaggregation', 'local-suppression' and 'accuracy-guided'. Give algorithm "
        "'mondrian', or run it on the local engine."
    )
    assert plan_of(engine="local", algorithm="full-domain").engine == "local"


def test_all_that_an_engine_lacks_is_told_at_once_where_it_stands():
    found = lacked(loss="height", algorithm="full-domain", maxSuppression=0.1)
    hints = [problem.hint.split(",")[0] for problem in found]
    assert hints == ["Leave loss out", "Give algorithm 'mondrian'"]
    lines = [problem.place.line for problem in found]
    assert 0 < lines[0] < lines[1]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("dimensionality", "single", "no dimensionality 'single'. It has 'multi'."),
        ("polish", True, "no polish true. It has false."),
    ],
)
def test_an_option_that_an_engine_lacks_is_refused_beside_its_algorithm(option, value, message):
    [problem] = lacked(**{option: value})
    assert problem.message == f"The spark engine has {message}"
    assert problem.hint.startswith(f"Give {option} ")


def test_what_both_engines_have_is_planned_for_either():
    defaults = {"algorithm": "mondrian", "dimensionality": "multi", "polish": False}
    others = {"partitioning": "relaxed", "score": "span", "missing": "wildcard"}
    plan = plan_of(engine="spark", **defaults, **others)
    assert plan.engine == "spark"
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_a_method_that_an_engine_lacks_is_refused(monkeypatch):
    known = dict(terms.methods())
    facts = {**known["k-anonymity"].facts, "engine": ["local"]}
    known["k-anonymity"] = known["k-anonymity"]._replace(facts=facts)
    monkeypatch.setattr(terms, "methods", lambda: known)
    [problem] = lacked()
    others = [name for name, term in known.items() if "spark" in term.texts("engine")]
    assert "k-anonymity" not in others
    assert problem.message == (
        f"The spark engine has no method 'k-anonymity'. It has {join_names(others)}."
    )
    assert problem.hint == "Ask for another method, or run it on the local engine."
    assert problem.place.line
