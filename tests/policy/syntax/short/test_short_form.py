"""The short form against the JSON-LD that it stands for."""

import json
from pathlib import Path

import pytest

from policy_engine.errors import PolicyError
from policy_engine.policy import read_policy
from policy_engine.policy.canonical import digest_of
from policy_engine.policy.syntax.short import compile_words, read_short

POLICIES = Path(__file__).parents[4] / "policies"
CUSTOMER = """\
policy: http://example.com/policy/customer
rule: http://example.com/policy/customer/marketing
target: http://example.com/Customer
assignee: http://org/user
purpose: marketing
output: http://example/anonCustomer
method: l-diversity
k: 10
l: 3
identifier: [CustomerID, FirstName, LastName]
quasi-identifier: [ZIP, BirthDate, TransactionTime]
sensitive: [Amount, StoreCategory]
"""
HEAD = "policy: http://ex.com/p\ntarget: http://ex.com/T\n"


def rule_of(text):
    return read_short(HEAD + text).value["permission"][0]


def refinements(text):
    listed = rule_of(text)["action"]["refinement"]
    return [(one["leftOperand"], one["operator"], one["rightOperand"]) for one in listed]


def problems(text):
    with pytest.raises(PolicyError) as error:
        read_short(text)
    return [(one.code, one.place.line, one.place.column) for one in error.value.problems]


def test_twelve_lines_are_the_policy_of_the_worked_example():
    written = read_policy((POLICIES / "customer.jsonld").read_text())
    assert digest_of(read_policy(CUSTOMER, syntax="yaml")) == digest_of(written)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k: 5", ("mosaicrown:k", "eq", 5)),
        ("method: [l-diversity, t-closeness]", ("mosaicrown:method", "isAllOf", None)),
        ("epsilon: 0.5", ("pe:epsilon", "lteq", 0.5)),
        ("action: pe:membershipInference\nauc: {lteq: 0.6}", ("pe:auc", "lteq", 0.6)),
        ("mechanism: laplace", ("pe:mechanism", "isAnyOf", "laplace")),
        ("privacyUnit: id", ("pe:privacyUnit", "eq", "http://ex.com/T/id")),
        ("sensitive: a b/c", ("mosaicrown:sensitive", "isAllOf", "http://ex.com/T/a%20b%2Fc")),
        ("pe:t: 0.3", ("pe:t", "eq", 0.3)),
    ],
)
def test_parameter_has_the_operator_of_the_vocabulary(text, expected):
    [(left, operator, right)] = refinements(text)
    assert (left, operator) == expected[:2]
    assert expected[2] in (None, right)


def test_columns_have_settings_or_one_word():
    text = "quasi-identifier:\n  ZIP: prefix\n  born: {generalization: calendar, weight: 4}\n  sex:"
    [(_, _, right)] = refinements(text)
    zip_code = {"@id": "http://ex.com/T/ZIP", "pe:generalization": "prefix"}
    born = {"@id": "http://ex.com/T/born", "pe:generalization": "calendar", "pe:weight": 4}
    assert right == [zip_code, born, "http://ex.com/T/sex"]


def test_columns_may_look_like_numbers_and_words():
    [(_, _, right)] = refinements("sensitive: [1, no, true, 2.50, 2030-01-01]")
    names = [name.rpartition("/")[2] for name in right]
    assert names == ["1", "no", "true", "2.50", "2030-01-01"]


def test_rule_is_narrowed_to_columns_and_rows():
    rule = rule_of("action: read\ncolumns: [a, b]\nrows: {age: {gteq: 18}, sex: F}")
    assert rule["target"] == ["http://ex.com/T/a", "http://ex.com/T/b"]
    conditions = [(one["leftOperand"], one["operator"]) for one in rule["constraint"]]
    assert conditions == [("http://ex.com/T/age", "gteq"), ("http://ex.com/T/sex", "eq")]


def test_columns_of_a_model_are_those_of_the_data_that_it_was_made_of():
    text = """\
policy: http://ex.com/p
permission:
  - {target: http://ex.com/T, output: http://ex.com/A, k: 5, sensitive: pay}
  - {target: http://ex.com/A, output: http://ex.com/M, action: train, label: pay}
"""
    train = read_short(text).value["permission"][1]["action"]["refinement"]
    assert train[0]["rightOperand"] == "http://ex.com/T/pay"


def test_rules_share_what_the_policy_says_of_all():
    text = """\
policy: http://ex.com/p
target: http://ex.com/T
assignee: http://ex.com/A
permission: {action: read}
prohibition:
  - {action: read, columns: [name], assignee: http://ex.com/B}
"""
    value = read_short(text).value
    assert value["permission"][0]["assignee"] == "http://ex.com/A"
    assert value["prohibition"][0]["assignee"] == "http://ex.com/B"
    assert value["prohibition"][0]["target"] == ["http://ex.com/T/name"]


def test_namespace_completes_names_but_not_purposes():
    text = "namespace: http://ex.com/\npolicy: p\ntarget: T\naction: read\npurpose: markting"
    value = read_short(text).value
    rule = value["permission"][0]
    assert (value["uid"], rule["target"]) == ("http://ex.com/p", "http://ex.com/T")
    assert rule["purpose"] == "markting"  # which no purpose is: the reader refuses it


def test_what_has_no_word_is_json_ld():
    constraint = "constraint:\n  - or:\n    - {leftOperand: count, operator: lt, rightOperand: 3}"
    value = read_short(f"{HEAD}action: read\n{constraint}\ndct:title: Title").value
    assert value["dct:title"] == "Title"
    assert value["permission"][0]["constraint"][0]["or"][0]["rightOperand"] == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kk: 5", [("P005", 3, 1)]),
        ("k: 5\nidentifer: [a]", [("P005", 4, 1)]),
        ("action: reed", [("P005", 3, 9)]),
        ("quasi-identifier: {a: {weigth: 3}}", [("P005", 3, 24)]),
        ("identifier: {a: {weight: 3}}", [("P005", 3, 18)]),
        ("identifier: {a: 3}", [("P007", 3, 17)]),
        ("quasi-identifier: [[a]]", [("P007", 3, 20)]),
        ("constraint: {datetime: {lt: 3}}", [("P005", 3, 14)]),
        ("constraint: 3", [("P007", 3, 13)]),
        ("rows: [a]", [("P007", 3, 7)]),
        ("namespace: ex", [("P007", 3, 12)]),
        ("prefixes: ex", [("P007", 3, 11)]),
        ("permission: [3]", [("P007", 3, 14)]),
        ("permission: {action: read}\nk: 5", [("P005", 4, 1)]),
        ("action: [read, use]\nk: 5", [("P007", 3, 9)]),
        ("k: 5\nk: 6", [("J002", 4, 1)]),
    ],
)
def test_what_is_not_understood_is_refused_at_its_place(text, expected):
    assert problems(HEAD + text) == expected


def test_problem_of_the_reader_stands_where_it_was_written():
    text = CUSTOMER.replace("marketing\n", "marketting\n").replace("http://org/user", "user")
    with pytest.raises(PolicyError) as error:
        read_policy(text, syntax="yaml")
    places = [(one.code, one.place.line, one.place.pointer) for one in error.value.problems]
    assert ("L006", 5, "/purpose") in places
    assert ("L006", 4, "/assignee") in places


def test_fix_puts_the_right_word_in_the_place_of_the_wrong_one():
    text = CUSTOMER.replace("identifier: [C", "identifer: [C")
    with pytest.raises(PolicyError) as error:
        read_short(text)
    fix = error.value.problems[0].fix
    line = text.splitlines()[fix.start.line - 1]
    mended = line[: fix.start.column - 1] + fix.text + line[fix.end.column - 1 :]
    assert mended == "identifier: [CustomerID, FirstName, LastName]"


def test_columns_are_not_taken_for_words_of_python():
    words = {"policy": "http://ex.com/p", "target": "http://ex.com/T"}
    document = compile_words({**words, "sensitive": {"quasi_identifier": None}})
    [refinement] = document["permission"][0]["action"]["refinement"]
    assert refinement["rightOperand"] == ["http://ex.com/T/quasi_identifier"]


def test_a_word_of_python_is_given_once():
    with pytest.raises(PolicyError, match="J002"):
        compile_words(
            {"policy": "http://ex.com/p", "quasi_identifier": "a", "quasi-identifier": "b"}
        )


def test_words_of_python_are_those_of_the_text():
    words = {"policy": "http://ex.com/p", "target": "http://ex.com/T", "k": 5}
    document = compile_words({**words, "quasi_identifier": {"a_b": "prefix"}})
    text = HEAD + "k: 5\nquasi-identifier: {a_b: prefix}"
    assert json.dumps(document) == json.dumps(read_short(text).value)
