import pytest
from pydantic import ValidationError

from policy_engine.methods import method_class
from policy_engine.methods.k_anonymity import KAnonymity
from policy_engine.methods.l_diversity import LDiversity
from policy_engine.methods.method import Measurement, Method, findings, parameters

GIVEN = {"k": 2, "quasi-identifier": ("age",)}


def found(**given):
    return [(one.code, one.parameter) for one in findings(KAnonymity, {**GIVEN, **given})]


def test_method_class_is_found_by_its_notation():
    assert method_class("k-anonymity") is KAnonymity
    assert method_class("l-diversity") is LDiversity
    with pytest.raises(KeyError):
        method_class("x-secrecy")


def test_findings_are_none_where_all_is_well():
    assert found(identifier=("name",), sensitive=("disease",), insensitive=("row",)) == []


def test_findings_name_each_parameter_that_is_wrong():
    assert found(k=1) == [("M003", "k")]
    assert found(t=0.1) == [("M004", "t")]
    assert found(**{"quasi-identifier": ()}) == [("M002", "quasi-identifier")]
    assert [one.parameter for one in findings(KAnonymity, {})] == ["quasi-identifier", "k"]


def test_findings_are_reported_all_at_once():
    wrong = found(k=0, t=1, sensitive=("age",))
    assert wrong == [("M005", "sensitive"), ("M003", "k"), ("M004", "t")]


def test_a_column_has_one_role():
    [finding] = findings(KAnonymity, {**GIVEN, "sensitive": ("age",)})
    assert finding.code == "M005"
    assert finding.message == (
        "'age' is both quasi-identifier and sensitive. A column has one role."
    )
    with pytest.raises(ValidationError, match="'age' is both"):
        KAnonymity(**GIVEN, sensitive=("age",))


def test_a_column_stands_once_in_its_role():
    [finding] = findings(KAnonymity, {**GIVEN, "identifier": ("name", "name", "id")})
    assert (finding.code, finding.parameter) == ("M005", "identifier")
    assert finding.message == "'name' stands 2 times under identifier."


def test_findings_say_what_was_given_and_what_is_allowed():
    [small] = findings(KAnonymity, {**GIVEN, "k": 1})
    [text] = findings(KAnonymity, {**GIVEN, "k": "two"})
    [unknown] = findings(KAnonymity, {**GIVEN, "kk": 1})
    assert small.message == "k is not allowed to be 1. Allowed is an integer from 2."
    assert text.message == "k is not allowed to be 'two'. Allowed is an integer from 2."
    assert unknown.message.startswith("k-anonymity has no parameter 'kk'. It has 'identifier', ")


def test_parameters_have_the_names_that_policies_use():
    assert set(parameters(LDiversity)) == {
        "identifier",
        "quasi-identifier",
        "sensitive",
        "insensitive",
        "k",
        "l",
    }


def test_a_method_cannot_be_changed_once_built():
    with pytest.raises(ValidationError):
        KAnonymity(**GIVEN).k = 1


def test_a_method_comes_back_from_its_json():
    method = LDiversity(l=2, sensitive=("disease",), **GIVEN)
    assert LDiversity.model_validate_json(method.model_dump_json(by_alias=True)) == method
    assert LDiversity.model_validate_json(method.model_dump_json()) == method


def test_a_method_says_what_it_guarantees():
    bare = Method(**{"quasi-identifier": ("age",)})
    for unsaid in (bare.constraint, bare.bounds, lambda: bare.per_class(None, None)):
        with pytest.raises(NotImplementedError):
            unsaid()


def test_a_measurement_holds_from_what_was_asked():
    assert Measurement(bound="k", asked=2, achieved=2).holds
    assert not Measurement(bound="k", asked=2, achieved=1).holds
