"""Tables of aggregates and budgets: read exactly as they are written, or not at all."""

import json
from decimal import Decimal

import pytest
from policy_texts import CONTEXT, RULE, ex, problems, read, text

from policy_engine.errors import PolicyError
from policy_engine.policy import read_drafts, read_policy
from policy_engine.policy.queries import Budget
from policy_engine.policy.syntax.rdf import convert_text

PE = "https://w3id.org/policy-engine/ns#"
SUM = {"pe:function": "sum", "pe:of": "ex:T/cost", "pe:lower": 0, "pe:upper": 14, "pe:grid": 0.1}
MEDIAN = {
    "pe:function": "quantile",
    "pe:of": "ex:T/cost",
    "pe:at": 0.5,
    "pe:candidates": [0, 14, 1],
}
UNITS = {"pe:function": "count-units"}
TABLE = {"uid": "ex:T/table", "pe:groupBy": ["ex:T/sex"], "pe:aggregate": [UNITS, SUM, MEDIAN]}
BUDGET = {"pe:over": "ex:T", "pe:epsilon": "10", "pe:delta": "1e-5", "pe:scope": "allAssignees"}


def table(**keys):
    """Return the one query of a policy, with other properties than usual."""
    [query] = read(permission=RULE, **{"pe:queries": {**TABLE, **keys}}).queries
    return query


def figure(**keys):
    """Return the one figure of a table."""
    [aggregate] = table(**{"pe:aggregate": [keys]}).aggregates
    return aggregate


def budget(**keys):
    [found] = read(permission=RULE, **{"pe:budget": {**BUDGET, **keys}}).budgets
    return found


def table_problems(*without, **keys):
    """Return code and place, within the query, of what is wrong with a table."""
    query = {key: one for key, one in {**TABLE, **keys}.items() if key not in without}
    found = problems(permission=RULE, **{"pe:queries": query})
    return [(code, pointer.removeprefix("/pe:queries")) for code, pointer in found]


def figure_problems(**keys):
    found = table_problems(**{"pe:aggregate": [keys]})
    return [(code, pointer.removeprefix("/pe:aggregate/0")) for code, pointer in found]


def budget_problems(*without, **keys):
    given = {key: one for key, one in {**BUDGET, **keys}.items() if key not in without}
    found = problems(permission=RULE, **{"pe:budget": given})
    return [(code, pointer.removeprefix("/pe:budget")) for code, pointer in found]


# -- what is read -------------------------------------------------------------------------------


def test_table_has_its_columns_and_figures_in_the_order_of_the_text():
    query = table(**{"pe:groupBy": ["ex:T/sex", "ex:T/age"], "pe:keys": {"@id": "ex:keys.csv"}})
    assert query.uid == ex("T/table")
    assert [one.iri for one in query.group_by] == [ex("T/sex"), ex("T/age")]
    assert query.keys == ex("keys.csv")
    assert [one.function for one in query.aggregates] == ["count-units", "sum", "quantile"]


def test_numbers_of_a_figure_are_exact():
    settings = figure(**SUM).settings
    assert {name: one.value for name, one in settings.items()} == {
        "lower": Decimal(0),
        "upper": Decimal(14),
        "grid": Decimal("0.1"),
    }
    assert all(isinstance(one.value, Decimal) for one in settings.values())


@pytest.mark.parametrize(
    "written",
    [
        0.5,
        "0.5",
        "5e-1",
        {"@value": "0.5", "@type": "http://www.w3.org/2001/XMLSchema#decimal"},
        {"@value": "5.0E-1", "@type": "http://www.w3.org/2001/XMLSchema#double"},
    ],
)
def test_a_number_is_the_same_however_it_is_written(written):
    assert figure(**{**MEDIAN, "pe:at": written}).settings["at"].value == Decimal("0.5")
    same = read(permission=RULE, **{"pe:queries": {**TABLE, "pe:aggregate": MEDIAN}})
    other = {**MEDIAN, "pe:at": written}
    assert read(permission=RULE, **{"pe:queries": {**TABLE, "pe:aggregate": other}}) == same


def test_a_number_with_more_digits_than_a_float_holds_keeps_them():
    digits = "0.1234567890123456789012345"
    whole = text(permission=RULE, **{"pe:budget": {**BUDGET, "pe:epsilon": "EPSILON"}})
    for written in (digits, f'"{digits}"'):
        [found] = read_policy(whole.replace('"EPSILON"', written)).budgets
        assert found.epsilon == Decimal(digits)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (UNITS, "count-units"),
        (SUM, "sum-cost"),
        (MEDIAN, "quantile-0.5-cost"),
        ({**MEDIAN, "pe:name": "median"}, "median"),
        ({**SUM, "pe:of": "ex:T/net%20cost"}, "sum-net cost"),
    ],
)
def test_a_figure_is_called_what_it_is_unless_it_has_a_name(given, name):
    assert figure(**given).column == name


def test_keys_of_a_column_are_in_the_order_of_the_text():
    query = table(**{"pe:groupBy": [{"@id": "ex:T/sex", "pe:keys": ["F", "M"]}, "ex:T/age"]})
    assert [[key.value for key in one.keys] for one in query.group_by] == [["F", "M"], []]


def test_the_keys_of_a_column_are_its_own_wherever_it_is_described():
    column = {"uid": "ex:T/sex", "pe:keys": {"@list": ["F", "M"]}}
    described = {**TABLE, "pe:groupBy": [{"@id": "ex:T/sex", "pe:keys": ["F", "M"]}]}
    both = [described, {**TABLE, "uid": "ex:T/other"}]
    first, other = read(permission=RULE, **{"pe:queries": both}).queries
    assert first.group_by[0].keys == other.group_by[0].keys != ()
    apart = {"@context": CONTEXT, "@graph": json.loads(text(column))["@graph"]}
    apart["@graph"][0] |= {"permission": RULE, "pe:queries": TABLE}
    [query] = read_policy(json.dumps(apart)).queries
    assert query.group_by == first.group_by


def test_budget_has_exact_numbers_and_a_scope():
    assert budget() == Budget(ex("T"), Decimal(10), Decimal("1e-5"), "allAssignees")
    [found] = read(
        permission=RULE, **{"pe:budget": {one: BUDGET[one] for one in BUDGET if one != "pe:delta"}}
    ).budgets
    assert found.delta == 0


def test_budget_is_renewed_within_its_lifetime():
    found = budget(**{"pe:renewal": "P1Y", "pe:lifetimeEpsilon": 30, "pe:lifetimeDelta": "0.00005"})
    assert (found.renewal, found.lifetime_epsilon) == ("P1Y", Decimal(30))
    assert found.lifetime_delta == Decimal("5e-5")


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"pe:group": ["ex:T/sex"]}, ("P005", "/pe:group")),
        ({"pe:groupBy": ["sex"]}, ("L006", "/pe:groupBy/0")),
        ({"pe:groupBy": [5]}, ("P007", "/pe:groupBy/0")),
        ({"pe:groupBy": ["ex:T/sex", "ex:T/sex"]}, ("P023", "/pe:groupBy/1")),
        ({"pe:keys": "ex:keys.csv"}, ("P007", "/pe:keys")),
        ({"pe:keys": "http://e.org/keys.csv"}, ("P007", "/pe:keys")),
        ({"pe:keys": 5}, ("P007", "/pe:keys")),
        ({"pe:aggregate": [UNITS, UNITS]}, ("P023", "/pe:aggregate/1")),
        ({"pe:aggregate": ["count"]}, ("P007", "/pe:aggregate/0")),
        ({"@type": "Asset"}, ("P007", "/@type")),
        ({"uid": "table"}, ("L006", "/uid")),
        ({"uid": "_:table"}, ("P023", "")),
    ],
)
def test_a_table_with_a_mistake_is_refused(keys, expected):
    assert table_problems(**keys) == [expected]


@pytest.mark.parametrize("part", ["uid", "pe:aggregate"])
def test_a_table_without_a_part_that_it_needs_is_refused(part):
    assert table_problems(part) == [("P023", "")]


def test_keys_are_in_a_file_or_beside_columns_and_of_columns():
    keys = {"pe:keys": {"@id": "ex:keys.csv"}}
    column = {"@id": "ex:T/sex", "pe:keys": ["F"]}
    assert table_problems(**keys, **{"pe:groupBy": [column]}) == [("P023", "/pe:keys")]
    assert table_problems("pe:groupBy", **keys) == [("P023", "/pe:keys")]
    twice = {"@id": "ex:T/sex", "pe:keys": ["F", "F"]}
    assert table_problems(**{"pe:groupBy": [twice]}) == [("P023", "/pe:groupBy/0/pe:keys/1")]


def test_a_set_that_has_no_order_is_refused_where_there_is_one():
    candidates = {"@context": CONTEXT, f"{PE}candidates": [0, 14, 1]}
    query = {**TABLE, "pe:aggregate": {**MEDIAN, **candidates}}
    query["pe:aggregate"].pop("pe:candidates")
    query["pe:aggregate"].pop("@context")
    found = problems(permission=RULE, **{"pe:queries": query})
    assert found == [("P007", f"/pe:queries/pe:aggregate/{PE.replace('/', '~1')}candidates")]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"pe:of": "ex:T/cost"}, ("P023", "")),
        ({"pe:function": "median"}, ("P005", "/pe:function")),
        ({"pe:function": 5}, ("P005", "/pe:function")),
        ({**UNITS, "pe:of": "ex:T/cost"}, ("P005", "/pe:of")),
        ({**SUM, "pe:k": 3}, ("P005", "/pe:k")),
        ({**SUM, "pe:lower": 14}, ("P023", "/pe:upper")),
        ({**SUM, "pe:lower": True}, ("P007", "/pe:lower")),
        ({**SUM, "pe:lower": "low"}, ("P007", "/pe:lower")),
        ({**SUM, "pe:lower": [1, 2]}, ("P007", "/pe:lower")),
        ({**SUM, "pe:grid": 0}, ("P007", "/pe:grid")),
        ({**SUM, "pe:share": 1.5}, ("P007", "/pe:share")),
        ({**SUM, "pe:of": "cost"}, ("L006", "/pe:of")),
        ({**SUM, "pe:name": ""}, ("P007", "/pe:name")),
        ({**MEDIAN, "pe:at": 1}, ("P007", "/pe:at")),
        ({**MEDIAN, "pe:candidates": [0, 14]}, ("P007", "/pe:candidates")),
        ({**MEDIAN, "pe:candidates": [14, 0, 1]}, ("P007", "/pe:candidates")),
        ({**MEDIAN, "pe:candidates": [0, 14, 4]}, ("P023", "/pe:candidates/0")),
        ({**MEDIAN, "pe:candidates": ["a", "b", "c"]}, ("P007", "/pe:candidates")),
    ],
)
def test_a_figure_with_a_mistake_is_refused(keys, expected):
    assert figure_problems(**keys) == [expected]


def test_what_a_function_needs_has_to_be_there():
    for function, missing in (("sum", 1), ("quantile", 2), ("top-k", 2)):
        assert figure_problems(**{"pe:function": function}) == [("P023", "")] * missing


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"pe:epsilons": 1}, ("P005", "/pe:epsilons")),
        ({"pe:epsilon": 0}, ("P007", "/pe:epsilon")),
        ({"pe:epsilon": -1}, ("P007", "/pe:epsilon")),
        ({"pe:epsilon": "INF"}, ("P007", "/pe:epsilon")),
        ({"pe:epsilon": "1e500"}, ("P007", "/pe:epsilon")),
        ({"pe:epsilon": "1e40"}, ("P007", "/pe:epsilon")),
        ({"pe:epsilon": "1e-10"}, ("P007", "/pe:epsilon")),
        ({"pe:epsilon": f"1.{'0' * 100}1"}, ("P007", "/pe:epsilon")),
        ({"pe:delta": "1e-31"}, ("P007", "/pe:delta")),
        ({"pe:delta": "1e-4"}, ("P007", "/pe:delta")),
        ({"pe:delta": -0.00001}, ("P007", "/pe:delta")),
        ({"pe:over": "T"}, ("L006", "/pe:over")),
        ({"pe:scope": "everybody"}, ("P005", "/pe:scope")),
        ({"pe:renewal": "P1Y"}, ("P023", "/pe:renewal")),
        ({"pe:lifetimeEpsilon": 30}, ("P023", "/pe:lifetimeEpsilon")),
    ],
)
def test_a_budget_with_a_mistake_is_refused(keys, expected):
    found = budget_problems(**keys)
    assert expected in found
    assert {code for code, _ in found} == {expected[0]}


@pytest.mark.parametrize("renewal", ["1 year", "-P1Y", "P0D", 5, {"@id": "ex:year"}])
def test_a_renewal_is_a_duration_above_zero(renewal):
    lifetime = {"pe:lifetimeEpsilon": 30, "pe:lifetimeDelta": "5e-5"}
    assert budget_problems(**lifetime, **{"pe:renewal": renewal}) == [("P007", "/pe:renewal")]


@pytest.mark.parametrize(("epsilon", "delta"), [("1e-9", "1e-30"), ("1e9", "0"), (1, "0.00009")])
def test_epsilons_and_deltas_that_a_ledger_can_add_up_are_read(epsilon, delta):
    found = budget(**{"pe:epsilon": epsilon, "pe:delta": delta})
    assert (found.epsilon, found.delta) == (Decimal(epsilon), Decimal(delta))


@pytest.mark.parametrize(("name", "value"), [("Epsilon", "1e10"), ("Delta", "1e-40")])
def test_a_lifetime_is_what_a_ledger_can_add_up(name, value):
    keys = {"pe:renewal": "P1Y", "pe:lifetimeEpsilon": 10, "pe:lifetimeDelta": "1e-5"}
    keys[f"pe:lifetime{name}"] = value
    assert budget_problems(**keys) == [("P007", f"/pe:lifetime{name}")]


def test_a_lifetime_has_no_less_than_each_time():
    keys = {"pe:renewal": "P1Y", "pe:lifetimeEpsilon": 9, "pe:lifetimeDelta": "1e-5"}
    assert budget_problems(**keys) == [("P023", "/pe:lifetimeEpsilon")]


@pytest.mark.parametrize("part", ["pe:over", "pe:epsilon", "pe:scope"])
def test_a_budget_without_a_part_that_it_needs_is_refused(part):
    assert budget_problems(part) == [("P023", "")]


def test_two_tables_of_one_uid_and_two_budgets_of_one_dataset_are_refused():
    twice = {"pe:queries": [TABLE, {**TABLE, "pe:aggregate": UNITS}]}
    assert problems(permission=RULE, **twice) == [("P023", "/pe:queries/1")]
    twice = {"pe:budget": [BUDGET, {**BUDGET, "pe:over": "http://e.org/%54"}]}
    assert problems(permission=RULE, **twice) == [("P023", "/pe:budget/1")]


def test_without_a_profile_queries_are_not_of_the_language():
    context = [CONTEXT[0], {"pe": PE, "ex": "http://e.org/"}]
    plain = {"@type": "Set", "uid": "ex:p", "permission": RULE, "@context": context}
    full = {"uid": "ex:t", "pe:aggregate": UNITS}
    with pytest.raises(PolicyError) as caught:
        read_policy(json.dumps({**plain, "pe:queries": full}))
    assert [one.code for one in caught.value.problems] == ["P009"]


# -- with others --------------------------------------------------------------------------------


def test_a_child_has_the_tables_and_the_budgets_of_its_parents():
    [parent] = read_drafts(
        text(uid="ex:parent", permission=RULE, **{"pe:queries": TABLE, "pe:budget": BUDGET})
    )
    own = {**TABLE, "uid": "ex:T/own"}
    child = text(inheritFrom="ex:parent", permission=RULE, **{"pe:queries": own})
    found = read_policy(child, parents=[parent])
    assert [one.uid for one in found.queries] == [ex("T/own"), ex("T/table")]
    assert found.budgets == parent.budgets
    changed = {**TABLE, "pe:aggregate": UNITS}
    other = text(inheritFrom="ex:parent", permission=RULE, **{"pe:queries": changed})
    with pytest.raises(PolicyError) as caught:
        read_policy(other, parents=[parent])
    assert [one.code for one in caught.value.problems] == ["P023"]


@pytest.mark.parametrize("syntax", ["turtle", "n-triples", "rdf-xml"])
def test_tables_and_budgets_mean_the_same_in_every_syntax(syntax):
    column = {"@id": "ex:T/sex", "pe:keys": ["M", "F"]}
    top = {"pe:function": "top-k", "pe:of": "ex:T/ward", "pe:k": 2, "pe:candidates": ["b", "a"]}
    query = {**TABLE, "pe:groupBy": ["ex:T/b", column], "pe:aggregate": [MEDIAN, SUM, top]}
    whole = text(permission=RULE, **{"pe:queries": query, "pe:budget": BUDGET})
    told = read_policy(whole)
    other = convert_text(whole, "json-ld", syntax)
    again = read_policy(other, syntax=syntax)
    assert (again.queries, again.budgets) == (told.queries, told.budgets)
    assert again.digest == told.digest
    back = convert_text(other, syntax, "json-ld")
    assert read_policy(back).digest == told.digest


def test_an_unordered_set_of_turtle_is_refused_where_there_is_an_order():
    whole = text(permission=RULE, **{"pe:queries": {**TABLE, "pe:aggregate": MEDIAN}})
    turtle = convert_text(whole, "json-ld", "turtle").replace("( 0 14 1 )", "0, 14, 1")
    with pytest.raises(PolicyError) as caught:
        read_policy(turtle, syntax="turtle")
    assert [one.code for one in caught.value.problems] == ["P007"]


def test_a_table_described_twice_is_refused_where_both_would_be_one():
    whole = text(permission=RULE, **{"pe:queries": [TABLE, {**TABLE, "pe:aggregate": UNITS}]})
    with pytest.raises(PolicyError) as caught:
        convert_text(whole, "json-ld", "turtle")
    assert [one.code for one in caught.value.problems] == ["P023"]
