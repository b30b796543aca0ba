import json

import pytest
from policy_texts import (
    COUNT,
    DAY,
    RULE,
    constraint,
    constraint_problems,
    ex,
    odrl,
    permission,
    permission_problems,
    problems,
    read,
    text,
)

from policy_engine.errors import PolicyError
from policy_engine.policy import Constraint, LogicalConstraint, Value, read_policy

OPERATORS = ["eq", "neq", "gt", "gteq", "lt", "lteq", "isA", "hasPart", "isPartOf"]
SETS = ["isAllOf", "isAnyOf", "isNoneOf"]


# -- constraints (ODRL Information Model 2.2, section 2.5.1) -----------------------------------


def test_constraint_is_read_in_full():
    found = constraint(
        uid="ex:c", unit="ex:times", status=3, rightOperand={"@value": "5", "@type": "xsd:integer"}
    )
    assert (found.left_operand, found.operator) == (odrl("count"), odrl("lt"))
    assert found.right_operands == (Value(5),)
    assert (found.unit, found.status, found.uid) == (ex("times"), Value(3), ex("c"))
    assert found.place.pointer == "/@graph/0/permission/constraint"


@pytest.mark.parametrize("operator", [*OPERATORS, *SETS])
def test_every_operator_is_read_by_its_name_and_its_iri(operator):
    operand = {"leftOperand": "recipient", "rightOperand": "x"}
    assert constraint(**operand, operator=operator).operator == odrl(operator)
    assert constraint(**operand, operator={"@id": odrl(operator)}).operator == odrl(operator)


def test_misprinted_neg_of_the_published_context_is_neq():
    assert constraint(operator="odrl:neg").operator == odrl("neq")


@pytest.mark.parametrize("operator", OPERATORS)
def test_other_operators_take_one_right_operand(operator):
    assert constraint_problems(operator=operator, rightOperand=[1, 2])[0][0] == "P007"


def test_right_operand_may_stand_elsewhere():
    bare = {"leftOperand": "count", "operator": "lt", "rightOperandReference": "ex:limit"}
    [found] = permission(constraint=bare).constraints
    assert (found.right_operands, found.references) == ((), (ex("limit"),))
    several = {**bare, "operator": "isAnyOf", "rightOperandReference": ["ex:a", "ex:b"]}
    assert permission(constraint=several).constraints[0].references == (ex("a"), ex("b"))


@pytest.mark.parametrize(
    ("reference", "code", "pointer"),
    [("limit", "L006", ""), (5, "P007", ""), (["ex:a", "ex:b"], "P007", "/0")],
)
def test_reference_to_a_right_operand_is_one_absolute_iri(reference, code, pointer):
    bare = {"leftOperand": "count", "operator": "lt", "rightOperandReference": reference}
    found = permission_problems(constraint=bare)
    assert found == [(code, f"/constraint/rightOperandReference{pointer}")]


def test_right_operand_stands_here_or_elsewhere_not_both():
    found = constraint_problems(rightOperandReference="ex:limit")
    assert found == [("P007", "/rightOperandReference")]


@pytest.mark.parametrize("key", ["leftOperand", "operator", "rightOperand"])
def test_constraint_has_each_of_its_parts_once(key):
    bare = {name: value for name, value in COUNT.items() if name != key}
    assert permission_problems(constraint=bare) == [("P004", "/constraint")]
    if key != "rightOperand":
        twice = constraint_problems(**{key: ["count", "percentage"]})
        assert twice[0] == ("P004", f"/{key}/1")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"leftOperand": "cuont"}, ("P005", "/leftOperand")),
        ({"leftOperand": "mosaicrown:k"}, ("P005", "/leftOperand")),
        ({"leftOperand": "odrl:read"}, ("P005", "/leftOperand")),
        ({"leftOperand": 5}, ("P007", "/leftOperand")),
        ({"operator": "=="}, ("P005", "/operator")),
        ({"operator": "ex:near"}, ("P005", "/operator")),
        ({"unit": ["ex:a", "ex:b"]}, ("P007", "/unit/0")),
        ({"unit": "hours"}, ("L006", "/unit")),
        ({"status": {"@id": "ex:s"}}, ("P007", "/status")),
        ({"status": [1, 2]}, ("P007", "/status/0")),
        ({"dataType": ["xsd:integer", "xsd:string"]}, ("P007", "/dataType/0")),
        ({"@type": "Permission"}, ("P007", "/@type")),
        ({"uid": "c"}, ("L006", "/uid")),
        ({"target": "ex:T"}, ("P006", "/target")),
        ({"ex:only": 1}, ("P005", "/ex:only")),
    ],
)
def test_constraint_that_is_not_well_formed_is_refused_once(keys, expected):
    assert constraint_problems(**keys) == [expected]


def test_types_that_a_constraint_may_have_are_told_in_order():
    with pytest.raises(PolicyError, match="is of type 'Constraint' or 'LogicalConstraint'"):
        read_policy(text(permission(constraint={**COUNT, "@type": "Permission"})))


def test_left_operand_of_ones_own_is_an_iri_of_the_profile():
    assert constraint(leftOperand="ex:T/sex").left_operand == ex("T/sex")


def test_several_constraints_are_read_in_their_order():
    found = permission(constraint=[COUNT, DAY]).constraints
    assert [one.left_operand for one in found] == [odrl("count"), odrl("dateTime")]


@pytest.mark.parametrize("value", ["x", 5, {"@value": "x"}, {"rdfs:label": "on weekdays"}, {}])
def test_constraint_that_is_none_is_refused_once(value):
    assert [code for code, _ in permission_problems(constraint=value)] == ["P007"]


# -- logical constraints (section 2.5.2) -------------------------------------------------------


@pytest.mark.parametrize("operator", ["and", "or", "xone", "andSequence"])
def test_logical_constraint_joins_its_operands_in_their_order(operator):
    [found] = permission(constraint={"uid": "ex:both", operator: [DAY, COUNT]}).constraints
    assert isinstance(found, LogicalConstraint)
    assert (found.operator, found.uid) == (odrl(operator), ex("both"))
    assert [one.left_operand for one in found.operands] == [odrl("dateTime"), odrl("count")]


def test_logical_constraints_may_be_nested():
    inner = {"or": [COUNT, {"xone": [DAY, COUNT]}]}
    [found] = permission(constraint={"and": [DAY, inner]}).constraints
    leaves = [one.left_operand for one in found.constraints()]
    assert leaves == [odrl("dateTime"), odrl("count"), odrl("dateTime"), odrl("count")]
    assert isinstance(found.operands[0], Constraint)


def test_sequence_is_an_ordered_list():
    assert permission(constraint={"odrl:andSequence": {"@list": [DAY, COUNT]}}).constraints
    found = permission_problems(constraint={"odrl:andSequence": [DAY, COUNT]})
    assert found == [("P014", "/constraint/odrl:andSequence/0")]


@pytest.mark.parametrize(
    ("constraint", "pointer"),
    [
        ({"and": [COUNT]}, "/and/0"),
        ({"and": COUNT}, "/and"),
        ({"and": [COUNT, DAY], "or": [COUNT, DAY]}, ""),
        ({"and": [COUNT, DAY], "leftOperand": "count"}, "/leftOperand"),
        ({"and": [COUNT, DAY], "unit": "ex:u"}, "/unit"),
    ],
)
def test_logical_constraint_that_is_not_well_formed_is_refused_once(constraint, pointer):
    assert permission_problems(constraint=constraint) == [("P014", f"/constraint{pointer}")]


@pytest.mark.parametrize("operator", ["and", "or", "odrl:xone"])
@pytest.mark.parametrize("again", ["ex:c", "HTTP://e.org/c"])
def test_logical_constraint_that_names_an_operand_twice_is_refused(operator, again):
    operands = [{"uid": "ex:c", **COUNT}, {"uid": again}, DAY]
    found = permission_problems(constraint={operator: operands})
    assert found == [("P014", f"/constraint/{operator}/1")]


@pytest.mark.parametrize("operator", ["odrl:andSequence", "odrl:xone"])
def test_ordered_list_may_name_an_operand_again(operator):
    operands = {"@list": [{"uid": "ex:c", **COUNT}, DAY, {"uid": "ex:c"}]}
    [found] = permission(constraint={operator: operands}).constraints
    assert found.operands[0] == found.operands[2]


@pytest.mark.parametrize("operator", ["odrl:andSequence", "odrl:xone", "and"])
@pytest.mark.parametrize(
    "operands",
    [[{"@list": [COUNT, DAY]}, COUNT], [{"@list": [DAY]}, {"@list": [COUNT]}]],
)
def test_list_among_the_operands_of_a_logical_constraint_is_refused_at_its_place(
    operator, operands
):
    [first, *_] = permission_problems(constraint={operator: operands})
    assert first == ("P014", f"/constraint/{operator}/0")


def test_bad_operand_of_a_logical_constraint_is_told_alone():
    bad = {**COUNT, "operator": "=="}
    found = permission_problems(constraint={"and": [bad, "ex:nowhere"]})
    assert found == [("P005", "/constraint/and/0/operator"), ("P007", "/constraint/and/1")]


# -- by name (JSON-LD 1.1, section 4.8) --------------------------------------------------------


@pytest.mark.parametrize("name", ["ex:c", "_:b0"])
@pytest.mark.parametrize("form", [lambda name: name, lambda name: {"@id": name}])
def test_constraint_may_stand_elsewhere_under_its_name(name, form):
    found = permission({"uid": name, **COUNT}, constraint=form(name)).constraints
    assert [one.left_operand for one in found] == [odrl("count")]
    assert found[0].place.pointer == "/@graph/1"
    assert found[0].uid == ("" if name == "_:b0" else ex("c"))


def test_constraint_is_read_wherever_it_is_referenced():
    rules = [{**RULE, "constraint": "ex:c"}, {**RULE, "constraint": [DAY, "ex:c"]}]
    one, two = read({"uid": "ex:c", **COUNT}, permission=rules).permissions
    assert one.constraints[0] == two.constraints[1]
    assert (len(one.constraints), len(two.constraints)) == (1, 2)


def test_operands_may_stand_elsewhere():
    nodes = [{"uid": "_:a", **COUNT}, {"uid": "_:b", **DAY}]
    [found] = permission(*nodes, constraint={"or": ["_:a", "_:b"]}).constraints
    assert len(found.operands) == 2


def test_reference_to_nothing_is_refused():
    assert permission_problems(constraint="ex:nowhere") == [("P007", "/constraint")]
    only_described = {"uid": "ex:c", "rdfs:label": "a constraint"}
    assert permission_problems(only_described, constraint="ex:c") == [("P007", "/constraint")]


def test_reference_to_what_is_no_constraint_is_refused_once():
    alice = {"uid": "ex:alice", "belongsTo": "ex:staff"}
    assert problems(alice, permission={**RULE, "constraint": "ex:alice"}) == [("P007", "/@graph/1")]


def test_constraint_that_nothing_refers_to_is_refused():
    assert problems({"uid": "ex:c", **COUNT}, permission=RULE) == [("P006", "/@graph/1")]


def test_two_constraints_with_one_name_are_refused():
    rules = [{**RULE, "constraint": {"uid": "ex:c", **one}} for one in (COUNT, DAY)]
    assert problems(permission=rules) == [("P007", "/permission/1/constraint")]


def test_circles_of_constraints_end():
    circle = [{"uid": "ex:a", "and": ["ex:b", "ex:c"]}, {"uid": "ex:b", "or": ["ex:a", "ex:c"]}]
    found = problems(*circle, {"uid": "ex:c", **COUNT}, permission={**RULE, "constraint": "ex:a"})
    assert found == [("P014", "/@graph/1")]


# -- refinements (sections 2.5.4 to 2.5.6) -----------------------------------------------------


def test_action_is_refined_by_constraints():
    action = {"rdf:value": {"@id": "odrl:print"}, "refinement": [COUNT, {"or": [DAY, COUNT]}]}
    [found] = permission(action=action).actions
    assert (found.iri, len(found.refinements)) == (odrl("print"), 2)
    assert isinstance(found.refinements[1], LogicalConstraint)


def test_refined_action_may_stand_elsewhere():
    node = {"uid": "_:few", "rdf:value": {"@id": "odrl:print"}, "refinement": "_:c"}
    [found] = permission(node, {"uid": "_:c", **COUNT}, action="_:few").actions
    assert (found.iri, len(found.refinements)) == (odrl("print"), 1)


@pytest.mark.parametrize("name", ["ex:look", "odrl:print"])
@pytest.mark.parametrize("more", [{}, {"refinement": COUNT}])
def test_action_that_has_a_value_has_no_name_that_a_request_could_ask_for(name, more):
    action = {"uid": name, "rdf:value": {"@id": "odrl:print"}, **more}
    look = {"uid": name, "includedIn": "use"}
    assert permission_problems(action=action) == [("P006", "/action/uid")]
    assert permission_problems(look, action=action) == [("P006", "/action/uid")]
    assert permission_problems(look, action, action=name) == [("P006", "/@graph/2")]
    assert permission_problems(action, look, action=name) == [("P006", "/@graph/1/uid")]


def test_refined_action_of_ones_own_says_what_it_is_included_in():
    action = {"rdf:value": {"@id": "ex:glance", "includedIn": "use"}, "refinement": COUNT}
    assert permission(action=action).actions[0].iri == ex("glance")
    bare = {"rdf:value": {"@id": "ex:glance"}, "refinement": COUNT}
    assert permission_problems(action=bare) == [("P016", "/action/rdf:value")]
    assert permission({"uid": "ex:glance", "includedIn": "use"}, action=bare).actions


@pytest.mark.parametrize("prop", ["target", "assignee", "assigner", "informedParty"])
def test_collection_is_refined_by_constraints(prop):
    found = permission(**{prop: {"source": "ex:all", "refinement": [COUNT, DAY]}})
    parts = [*found.targets, *found.assignees, *found.assigners]
    parts += [party for parties in found.functions.values() for party in parties]
    assert [len(part.refinements) for part in parts if part.iri == ex("all")] == [2]


@pytest.mark.parametrize("name", ["_:some", {"@id": "_:some"}])
def test_collection_may_stand_elsewhere(name):
    node = {"uid": "_:some", "source": "ex:all", "refinement": COUNT}
    [found] = permission(node, assignee=name).assignees
    assert (found.iri, len(found.refinements)) == (ex("all"), 1)


@pytest.mark.parametrize(
    ("collection", "expected"),
    [
        ({"refinement": COUNT}, ("P015", "")),
        ({"uid": "ex:all", "refinement": COUNT}, ("P015", "/uid")),
        ({"uid": "ex:all", "source": "ex:all", "refinement": COUNT}, ("P015", "/uid")),
        ({"source": ["ex:a", "ex:b"], "refinement": COUNT}, ("P015", "")),
        ({"source": "all", "refinement": COUNT}, ("L006", "/source")),
        (
            {"source": "ex:all", "refinement": {**COUNT, "operator": "=="}},
            ("P005", "/refinement/operator"),
        ),
        ({"source": "ex:all", "refinement": COUNT, "partOf": "ex:more"}, ("P006", "/partOf")),
        ({"source": "ex:all", "refinement": COUNT, "constraint": DAY}, ("P006", "/constraint")),
    ],
)
def test_collection_that_is_not_well_formed_is_refused_once(collection, expected):
    code, pointer = expected
    assert permission_problems(assignee=collection) == [(code, f"/assignee{pointer}")]


def test_parameters_of_anonymize_are_not_joined():
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": {"or": [COUNT, DAY]}}
    assert permission_problems(action=action) == [("P014", "/action/refinement")]


def test_a_term_without_its_prefix_is_answered_with_the_whole_name():
    [problem] = refused_parameters(["k"])
    assert problem.message == "'k' is not a known leftOperand."
    assert problem.hint == "Write 'mosaicrown:k'."
    assert problem.fix.text == '"mosaicrown:k"'


def test_what_is_known_is_listed_once_and_only_where_nothing_is_near():
    first, second, near = (one.message for one in refused_parameters(["x1", "x2", "pe:alhpa"]))
    assert "Known are 'mosaicrown:method', " in first
    assert second.startswith("'x2' is not a known leftOperand. See line ")
    assert "Known" not in near


def refused_parameters(names):
    parts = [{"leftOperand": one, "operator": "eq", "rightOperand": 2} for one in names]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": parts}
    whole = json.loads(text(permission={"target": "ex:T", "action": [action]}))
    with pytest.raises(PolicyError) as error:
        read_policy(json.dumps(whole, indent=1))
    return error.value.problems
