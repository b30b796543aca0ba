import pytest
from building import OUTPUT, anonymize, column, permission, policy
from hypothesis import given as given_any
from hypothesis import strategies as st

from policy_engine.errors import PlanError, PolicyError
from policy_engine.methods.columns import QuasiIdentifier, Sensitive
from policy_engine.methods.privacy_models.k_anonymity import KAnonymity
from policy_engine.methods.privacy_models.l_diversity import LDiversity
from policy_engine.methods.privacy_models.t_closeness import TCloseness
from policy_engine.methods.recoding import RecodingOptions
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.plan.reading_anonymization import transformations
from policy_engine.policy import read_policy
from policy_engine.policy.syntax.rdf import convert_text

PLAIN = {"method": "k-anonymity", "k": 2, "quasi": ["age", "city"]}


def written(**parameters):
    action = anonymize(**{**PLAIN, **parameters})
    return policy([permission(action=action, output=OUTPUT)])


def asked(**parameters):
    [found] = transformations(read_policy(written(**parameters)))
    return found.anonymization


def problems(**parameters):
    with pytest.raises((PolicyError, PlanError)) as caught:
        asked(**parameters)
    return caught.value.problems


def codes(**parameters):
    return [problem.code for problem in problems(**parameters)]


def test_one_method_is_asked_for_by_its_name_or_its_iri():
    for method in ("k-anonymity", {"@id": "pe:k-anonymity"}, ["k-anonymity"]):
        assert asked(method=method).methods == {"k-anonymity": KAnonymity(k=2)}


def test_several_methods_take_the_parameters_that_each_has():
    found = asked(
        method=["k-anonymity", "l-diversity", "t-closeness"], k=3, l=2, t=0.2, sensitive=["disease"]
    )
    assert found.methods == {
        "k-anonymity": KAnonymity(k=3),
        "l-diversity": LDiversity(k=3, l=2),
        "t-closeness": TCloseness(k=3, t=0.2),
    }


def test_one_l_is_that_of_every_method_that_has_one():
    both = asked(method=["l-diversity", "entropy-l-diversity"], l=2, sensitive=["disease"])
    assert [method.l for method in both.methods.values()] == [2, 2]


def test_columns_have_their_settings():
    quasi = ["age", column("city", generalization="prefix", mask="#", weight=2)]
    kept = [column("disease", distance="ordered")]
    columns = asked(method="t-closeness", t=0.2, quasi=quasi, sensitive=kept).columns
    city = QuasiIdentifier(name="city", generalization="prefix", mask="#", weight=2)
    assert columns.quasi_identifier == (QuasiIdentifier(name="age"), city)
    assert columns.sensitive == (Sensitive(name="disease", distance="ordered"),)


def test_a_column_without_settings_may_stand_as_an_object():
    assert asked(quasi=[column("age"), "city"]).columns == asked().columns


def test_roles_are_those_of_the_policy():
    columns = asked(
        identifier=["name"],
        pseudonymize=["card"],
        redact=["note"],
        insensitive=["row"],
        privacyUnit="person",
    ).columns
    assert columns.released == ("card", "note", "age", "city", "row")
    assert columns.dropped == ("name", "person")


def test_recoding_has_its_options():
    given = {"algorithm": "full-domain", "maxSuppression": 0.05, "loss": "height"}
    assert asked(**given).recoding == RecodingOptions(**given)
    assert asked().recoding == RecodingOptions()


@pytest.mark.parametrize(
    "t", [0.25, "0.25", ".25", "25e-2", {"@value": "0.25", "@type": "xsd:decimal"}]
)
def test_a_number_may_be_written_as_text_or_typed(t):
    assert asked(method="t-closeness", t=t, sensitive=["x"]).methods["t-closeness"].t == 0.25


@pytest.mark.parametrize("polish", [True, {"@value": "true", "@type": "xsd:boolean"}])
def test_a_truth_value_may_be_typed(polish):
    assert asked(polish=polish).recoding.polish is True


def test_digits_where_a_text_belongs_are_a_text():
    masked = column("age", generalization="prefix", mask="0")
    listed = column("city", generalization="taxonomy", taxonomy="2024")
    [age, city] = asked(quasi=[masked, listed]).columns.quasi_identifier
    assert (age.mask, city.taxonomy) == ("0", "2024")


@pytest.mark.parametrize(
    ("given", "name"), [("x.csv", "x.csv"), ({"@id": "http://x.org/T"}, "http://x.org/T")]
)
def test_a_taxonomy_is_named_by_its_iri_or_its_file(given, name):
    columns = asked(quasi=[column("age", generalization="taxonomy", taxonomy=given)]).columns
    assert columns.taxonomies == (name,)


def test_a_problem_of_a_setting_stands_where_its_value_does():
    quasi = ["age", column("city", weight=-1, generalization="round")]
    found = problems(quasi=quasi)
    at = "/permission/0/action/refinement/2/rightOperand/1"
    assert {(one.code, one.place.pointer) for one in found} == {
        ("M003", f"{at}/pe:weight"),
        ("M003", f"{at}/pe:generalization"),
    }
    assert all(one.message.startswith("'city': ") for one in found)


def test_a_setting_that_lacks_another_stands_where_it_is_given():
    [found] = problems(quasi=[column("age", generalization="taxonomy")])
    assert (found.code, found.place.pointer[-17:]) == ("M002", "pe:generalization")


def test_every_problem_is_told_at_once():
    found = codes(
        method=["l-diversity", "t-closeness"],
        k=1,
        t=2,
        alpha=0.5,
        score="widest",
        polish="perhaps",
        quasi=[column("age", weight=-1)],
        insensitive=["age"],
    )
    # k, t, score and polish are out of range and so is the weight; alpha is not a parameter; l and
    # the sensitive columns are missing; age has two roles.
    assert sorted(found) == [*["M002"] * 3, *["M003"] * 5, "M004", "M005"]


def test_what_two_methods_say_of_one_parameter_is_told_once():
    assert codes(method=["k-anonymity", "l-diversity"], k=1, l=2, sensitive=["x"]) == ["M003"]


def test_a_parameter_that_no_method_has_names_the_methods_that_have_it():
    [found] = problems(t=0.2)
    assert found.message == "k-anonymity has no parameter 't'. It belongs to 't-closeness'."
    [found] = problems(method=["k-anonymity", "t-closeness"], t=0.2, c=1, sensitive=["x"])
    assert found.message == (
        "k-anonymity and t-closeness have no parameter 'c'. It belongs to 'recursive-l-diversity'."
    )


def test_nothing_follows_from_a_column_that_is_none_of_the_target():
    action = anonymize(method="l-diversity", k=2, l=2, quasi=["age"])
    outside = {"@id": "http://y.org/Others/disease", "pe:distance": "ordered"}
    operand = {"leftOperand": "mosaicrown:sensitive", "operator": "isAllOf"}
    action["refinement"].append({**operand, "rightOperand": [outside]})
    with pytest.raises(PlanError) as caught:
        transformations(read_policy(policy([permission(action=action, output=OUTPUT)])))
    assert [problem.code for problem in caught.value.problems] == ["M006"]


def test_a_compact_name_with_a_blank_is_told_how_to_be_written():
    [found] = problems(sensitive=["x"], method="l-diversity", l=2, quasi=["ex:People/birth date"])
    assert found.code == "M006"
    assert "a blank are written as %2F, %3F, %23 and %20" in found.hint


@pytest.mark.parametrize("settings", [{"weight": []}, {"weight": [1, 2]}, {"weight": {"x": 1}}])
def test_a_setting_has_one_value(settings):
    assert set(codes(quasi=[column("age", **settings)])) & {"P007", "L002"}


def test_nothing_is_said_of_a_taxonomy_here():
    given = {"@id": "http://x.org/T", "skos:broader": "http://x.org/U"}
    assert codes(quasi=[column("age", generalization="taxonomy", taxonomy=given)]) == ["P005"]


def test_a_description_of_a_column_is_let_be():
    described = {**column("age", weight=2), "http://purl.org/dc/terms/title": "Years"}
    assert asked(quasi=[described]).columns.quasi_identifier[0].weight == 2


TEXTS = "1 0.5 NaN INF 1e999 x l strict single prefix taxonomy mondrian full-domain wildcard span"
GIVEN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 20),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.sampled_from(TEXTS.split()),
)
VALUES = ("k", "l", "c", "t", "alpha", "beta", "delta")
OPTIONS = ("algorithm", "partitioning", "dimensionality", "score", "polish", "maxSuppression")
OPTIONS += ("loss", "missing")
SETTINGS = ("generalization", "weight", "order", "taxonomy", "unlisted", "mask", "fanout")
METHODS = ("k-anonymity", "l-diversity", "recursive-l-diversity", "t-closeness", "beta-likeness")


@given_any(
    st.lists(st.sampled_from(METHODS), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from([*VALUES, *OPTIONS]), GIVEN, max_size=4),
    st.dictionaries(st.sampled_from([*SETTINGS, "precision"]), GIVEN, max_size=3),
    st.dictionaries(st.sampled_from(["distance", "taxonomy"]), GIVEN, max_size=2),
)
def test_whatever_is_given_is_refused_or_comes_back_from_the_plan(methods, values, quasi, kept):
    given = {"quasi": [column("age", **quasi)], "sensitive": [column("disease", **kept)]}
    text = written(method=methods, **values, **given)
    problems = ()
    try:
        plan = make_plan(read_policy(text))
        assert Plan.model_validate_json(plan.model_dump_json()) == plan
    except (PolicyError, PlanError) as error:
        problems = error.problems
    assert all(problem.place.line for problem in problems)


def masked(text, syntax="json-ld"):
    [found] = transformations(read_policy(text, syntax=syntax))
    return [one.threshold for one in found.maskings]


LONG = [
    "99999999.9999999999",
    "0.3333333333333333333",
    "1000000000000.00001",
    "0.00009999999999999999999999",
    "0.1234567890123456",
    "1e-99999999999999999999",
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", LONG)
def test_a_number_of_a_masking_is_refused_where_a_float_has_not_all_its_digits(number):
    text = written(masked=[column("pay", masking="top-coding", threshold=7.25)])
    assert masked(text) == masked(convert_text(text, "json-ld", "turtle"), "turtle") == [7.25]
    decimal, double = (f"http://www.w3.org/2001/XMLSchema#{kind}" for kind in ("decimal", "double"))
    spelled = [number, f'"{number}"', f'{{"@value": "{number}", "@type": "{double}"}}']
    if "e" not in number:
        spelled.append(f'{{"@value": "{number}", "@type": "{decimal}"}}')
    for value in spelled:
        long = text.replace("7.25", value)
        for syntax in ("json-ld", "turtle"):
            one = convert_text(long, "json-ld", syntax)
            with pytest.raises(PlanError, match=r"M003 .*threshold is not allowed to be"):
                masked(one, syntax)


def test_bounds_may_be_written_as_text_or_typed():
    typed = {"@value": "2", "@type": "xsd:integer"}
    for k in (2, "2", 2.0, typed):
        action = anonymize(method="k-anonymity", k=k, quasi=["age"])
        plan = make_plan(read_policy(policy([permission(action=action, output=OUTPUT)])))
        assert plan.anonymize.k == 2
