"""What the text of a policy states: where it is wrong, told with its place, and what it says."""

import json

import pytest
from compliance_texts import PARTS, PREFIXES, constrained, limit, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyError, RequestError
from policy_engine.policy.syntax.limits import limits_with

EX = "http://example.com/"
LATER = limit("odrl:dateTime", "lt", '"2040-01-01"^^xsd:date')
TOP = PREFIXES.count("\n")
BROKEN = "A list needs one rdf:first and one rdf:rest at each node, and an end."


def problems(text):
    """Return code, sentence and place of all that is wrong, lines counted from the prefixes on."""
    with pytest.raises(PolicyError) as caught:
        compliance_report(text, request(), world())
    assert {one.place.pointer for one in caught.value.problems} == {""}
    return [
        (one.code, one.message, one.place.line - TOP, one.place.column)
        for one in caught.value.problems
    ]


def on_lines(*said):
    """Return a policy of which a line is each of what is said after its first."""
    return policy() + "".join(f"\n{one}" for one in said)


def two(parts, name):
    return f"Two {parts} have the uid '{EX}{name}'; the first is in line {TOP + 2}."


REFINES = f"odrl:refinement [ {LATER} ]"
WITH_UID = "[ odrl:uid :it ;"


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        # Parts of one name that are described apart.
        (
            (
                f":policy odrl:permission {WITH_UID} odrl:action odrl:use ] .",
                f":policy odrl:permission {WITH_UID} odrl:action odrl:read ] .",
            ),
            ("P008", two("rules", "it"), 3, 27),
        ),
        (
            (f":rule odrl:constraint {WITH_UID} {LATER} ],", f"  {WITH_UID} {LATER} ] ."),
            ("P007", two("constraints", "it"), 3, 5),
        ),
        (
            (
                f":rule odrl:constraint [ odrl:and ( {WITH_UID} {LATER} ]",
                f"  {WITH_UID} {LATER} ] ) ] .",
            ),
            ("P007", two("constraints", "it"), 3, 5),
        ),
        (
            (
                f":rule odrl:target {WITH_UID} odrl:source :ward ; {REFINES} ],",
                f"  {WITH_UID} odrl:source :ward ] .",
            ),
            ("P015", two("collections", "it"), 3, 5),
        ),
        (
            (
                f":rule odrl:action {WITH_UID} rdf:value odrl:use ; {REFINES} ],",
                f"  {WITH_UID} rdf:value odrl:read ] .",
            ),
            ("P006", two("actions", "it"), 3, 5),
        ),
        (
            (
                f":rule odrl:action {WITH_UID} rdf:value odrl:use ],",
                f"  {WITH_UID} rdf:value odrl:read ] .",
            ),
            ("P006", two("actions", "it"), 3, 5),
        ),
        (
            (
                f"{WITH_UID} odrl:permission [ odrl:action odrl:use ] ] .",
                f"  {WITH_UID} odrl:permission [ odrl:action odrl:read ] ] .",
            ),
            ("D002", two("policies", "it"), 3, 5),
        ),
        # Inverses of what is no node.
        (
            (":nurse :is :here .", ':nurse odrl:assigneeOf :rule, "rule" .'),
            ("P007", "odrl:assigneeOf takes an IRI. Given: 'rule'.", 3, 31),
        ),
        # Empty lists.
        (
            (f":rule {PARTS} ;", "  odrl:target () ."),
            ("P007", "odrl:target may not be an empty list.", 3, 15),
        ),
        (
            (f":rule {PARTS} ;", "  rdf:value () ."),
            ("P007", "rdf:value may not be an empty list.", 3, 13),
        ),
        # Lists that have no end.
        (
            (":rule odrl:constraint _:l .", f"_:l rdf:first [ {LATER} ] ; rdf:rest _:l ."),
            ("F001", BROKEN, 2, 23),
        ),
        (
            (":rule odrl:constraint _:l .", f"_:l rdf:first [ {LATER} ] ; rdf:rest :a, :b ."),
            ("F001", BROKEN, 2, 23),
        ),
        # What is not a language.
        (
            (":ward :name 'ward'@en-abcdefghi .",),
            ("F001", "'en-abcdefghi' is not a language tag such as 'en'.", 2, 13),
        ),
    ],
)
def test_what_is_wrong_with_a_policy_is_told_where_it_stands(said, problem):
    assert problems(on_lines(*said)) == [problem]


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ((":rule odrl:action", "  odrl:reed ."), (3, 3)),
        ((":rule odrl:duty :pay .", ":pay odrl:action odrl:read ;", "  odrl:duty :rule ."), (4, 3)),
        ((":rule odrl:constraint :limit .", f":limit {LATER}", "  , 5 ."), (4, 5)),
        (("[ odrl:uid :ward ;", "  odrl:partof :a ] ."), (3, 3)),
        ((":ward odrl:partOf :a ;", "  odrl:partof :b ."), (3, 3)),
    ],
)
def test_problem_stands_at_the_statement_that_it_is_of(said, place):
    [(_, _, *found)] = problems(on_lines(*said))
    assert tuple(found) == place


def test_many_problems_are_cut_short():
    wrong = ", ".join(f'"r{number}"' for number in range(150))
    assert len(problems(policy(more=f":nurse odrl:assigneeOf {wrong} ."))) == 100
    lists = " ".join(f":rule odrl:constraint _:l{n} . _:l{n} rdf:first 1 ." for n in range(150))
    assert len(problems(policy(more=lists))) == 100


# -- what is said -----------------------------------------------------------------------------


def report(text, request_text=None, world_text=None, **options):
    [found] = compliance_report(
        text, request_text or request(), world_text or world(), **options
    ).policies
    return found


def active(text, *given):
    return [one.active for one in report(text, *given).rules]


def test_duty_of_a_policy_is_an_obligation():
    more = ":policy odrl:duty :inform . :inform odrl:action odrl:inform ."
    found = report(policy(more=more))
    assert [one.rule for one in found.duties] == [f"{EX}inform"]
    assert [one.conditions for one in found.rules] == [()]


def test_policy_of_a_duty_alone_is_one_of_an_obligation():
    text = f"{PREFIXES}:policy a odrl:Set ; odrl:duty :inform . :inform odrl:action odrl:inform ."
    assert [one.rule for one in report(text).duties] == [f"{EX}inform"]


def test_duty_of_a_permission_stays_one():
    more = ":rule odrl:duty :inform . :inform odrl:action odrl:inform ."
    found = report(policy(more=more))
    assert found.duties == ()
    assert [one.rule for one in found.rules[0].conditions] == [f"{EX}inform"]


def test_inverse_says_what_the_property_says():
    parts = "odrl:action odrl:read"
    said = ":nurse odrl:assigneeOf :rule . :ward odrl:hasPolicy :policy ."
    assert active(policy(parts, more=said)) == [True]
    assert active(policy(parts, more=said), request(party=":cook")) == [False]
    assert active(policy(parts, more=said), request(target=":bed")) == [False]
    listed = ":nurse odrl:assigneeOf ( :rule ) ."
    assert active(policy(parts, more=listed), request(party=":cook")) == [False]


def test_node_that_says_but_its_name_is_the_one_of_that_name():
    text = policy(more=":policy odrl:permission [ odrl:uid :rule ; a odrl:Permission ] .")
    assert [one.rule for one in report(text).rules] == [f"{EX}rule"]
    assert active(text, request(party=":cook")) == [False]


AGAIN = f"odrl:xone names each constraint once. Given twice: '{EX}a'."
A_LIST = "odrl:xone takes constraints, or one ordered list of them. Given: a list among others."


@pytest.mark.parametrize(
    ("operands", "message", "column"),
    [
        (":a, :a", AGAIN, 22),
        (":a, [ odrl:uid :a ]", AGAIN, 22),
        (":a ; odrl:xone :a", AGAIN, 33),
        ("( :a ), :a", A_LIST, 18),
        ("( :a ), ( :a )", A_LIST, 18),
        (":a ; <HTTP://www.w3.org/ns/odrl/2/xone> :a", AGAIN, 58),
    ],
)
def test_operands_are_one_list_or_constraints_each_named_once(operands, message, column):
    said = (":rule odrl:constraint :limit .", f":limit odrl:xone {operands} .", f":a {LATER} .")
    assert problems(on_lines(*said))[:1] == [("P014", message, 3, column)]


@pytest.mark.parametrize(
    ("right", "told", "is_active"),
    [
        ("( :home :ward )", ":home", True),
        ("( :home :ward )", ":ward", True),
        ("( :home :ward )", ":street", False),
        (":home, :ward", ":ward", True),
        ('( "a"@en "b" )', '"b"', True),
    ],
)
def test_list_of_values_is_its_members(right, told, is_active):
    context = f"; sotw:context [ odrl:leftOperand odrl:spatial ; odrl:rightOperand {told} ]"
    text = constrained(limit("odrl:spatial", "isAnyOf", right))
    assert active(text, request(told=context)) == [is_active]


def test_list_of_rules_parties_and_constraints_is_its_members():
    more = (
        ":policy odrl:permission ( :a :b ) . :a odrl:action odrl:sell . :b odrl:action odrl:use ."
    )
    assert active(policy(more=more)) == [True, False, True]
    assert active(policy("odrl:assignee ( :cook :nurse )")) == [True]
    past = limit("odrl:dateTime", "lt", '"2020-01-01"^^xsd:date')
    for operands, is_active in (("( :a :a2 )", True), ("( :a :b )", False)):
        said = f":a {LATER} . :{operands[6:-2]} {past if 'b' in operands else LATER} ."
        assert active(constrained(f"odrl:and {operands}", more=said)) == [is_active]


def test_list_that_is_said_of_two_is_whole_for_both():
    of_both = (
        ":policy odrl:permission :other . :other odrl:assignee _:l . :rule odrl:assignee _:l ."
    )
    cells = "_:l rdf:first :nurse ; rdf:rest _:m . _:m rdf:first :cook ; rdf:rest () ."
    for party, is_active in ((":nurse", True), (":cook", True), (":guest", False)):
        text = policy("odrl:action odrl:read", more=f"{of_both} {cells}")
        assert active(text, request(party=party)) == [is_active] * 2


def test_one_that_stands_twice_in_a_list_is_two_of_which_exactly_one_may_hold():
    said = f":a {LATER} ."
    for operator, is_active in (("xone", False), ("andSequence", True)):
        assert active(constrained(f"odrl:{operator} ( :a :a )", more=said)) == [is_active]


def test_order_of_a_list_counts_where_one_comes_after_another():
    orders = {}
    for operands in (":a, :b", ":b, :a"):
        said = f":a {LATER} . :b {limit('odrl:spatial', 'eq', ':home')} ."
        [premise] = report(constrained(f"odrl:or {operands}", more=said)).rules[0].premises[3:]
        orders[operands] = [one.constraint.removeprefix(EX) for one in premise.premises]
    assert orders == {":a, :b": ["a", "b"], ":b, :a": ["b", "a"]}


def test_file_of_a_language_that_is_none_is_told(tmp_path):
    file = tmp_path / "policy.ttl"
    file.write_text(policy(more=":ward :name 'ward'@en-abcdefghi ."))
    with pytest.raises(PolicyError) as caught:
        compliance_report(file, request(), world())
    assert caught.value.source == str(file)


# -- texts ------------------------------------------------------------------------------------


def in_json(**said):
    return json.dumps({"@context": f"{EX}mine", **said})


def test_contexts_are_those_of_all_three_texts():
    odrl, sotw = "http://www.w3.org/ns/odrl/2/", "https://w3id.org/force/sotw#"
    names = {name: {"@id": odrl + name, "@type": "@id"} for name in ("permission", "action")}
    names["now"] = {
        "@id": f"{sotw}currentTime",
        "@type": "http://www.w3.org/2001/XMLSchema#dateTime",
    }
    contexts = {f"{EX}mine": {"@context": names}}
    rule = in_json(permission={"@id": f"{EX}rule", "action": f"{odrl}read"})
    asked = in_json(**{"@type": f"{odrl}Request", "permission": {"action": f"{odrl}read"}})
    told = in_json(**{"@id": f"{EX}world", "now": "2031-05-06T07:08:09Z"})
    found = compliance_report(rule, asked, told, contexts)
    assert not found.by_clock
    assert [one.active for one in found.policies[0].rules] == [True]


@pytest.mark.parametrize(
    ("large", "kind"), [(0, PolicyError), (1, RequestError), (2, RequestError)]
)
def test_limits_are_those_of_all_three_texts(large, kind):
    texts = [policy(), request(), world()]
    most = max(map(len, texts))
    assert compliance_report(*texts, limits=limits_with({"bytes": most}))
    texts[large] += f"# {'a' * most}"
    with pytest.raises(kind) as caught:
        compliance_report(*texts, limits=limits_with({"bytes": most}))
    assert [one.code for one in caught.value.problems] == ["J003"]


def test_limits_are_those_of_vocabularies_too(tmp_path):
    vocabulary = tmp_path / "vocabulary.ttl"
    vocabulary.write_text(f"{PREFIXES}:look a skos:Concept . {'#' * 3_000}")
    given = {"vocabularies": [vocabulary], "limits": limits_with({"bytes": 2_500})}
    with pytest.raises(PolicyError) as caught:
        compliance_report(policy(), request(), world(), **given)
    assert [one.code for one in caught.value.problems] == ["J003"]


def test_bound_on_constraints_is_that_of_the_policy():
    with pytest.raises(PolicyError) as caught:
        report(constrained(LATER), limits=limits_with({"constraints": 0}))
    assert [one.code for one in caught.value.problems] == ["J003"]
