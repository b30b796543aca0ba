"""What a model answers is checked, and matched to the labels of the data."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine import FittedModel, audit_membership
from policy_engine.audits.membership.fitted.answers import AnswerReading, ask_model
from policy_engine.audits.membership.fitted.model import ModelDescription
from policy_engine.audits.membership.fitted.questions import read_questions
from policy_engine.audits.membership.fitted.target import align
from policy_engine.errors import AuditError, PolicyEngineError

FEATURES = np.zeros((4, 2))
LABELS = ("0", "1", "1", "0")


def said(answer, about=None, labels=LABELS, **reading):
    about = about or ModelDescription("Python", "a function")
    return ask_model(lambda _: answer, about, FEATURES, labels, AnswerReading(**reading))


def output(values):
    return {"output": np.array(values, dtype=float)}


def test_probabilities_become_their_logarithms():
    found = said(output([[0.25, 0.75]] * 4))
    np.testing.assert_allclose(found.logits, np.log([[0.25, 0.75]] * 4), rtol=1e-6)
    assert found.classes == ("0", "1")


def test_numbers_that_are_no_shares_are_logits():
    found = said(output([[-3, 5]] * 4))
    np.testing.assert_array_equal(found.logits, [[-3, 5]] * 4)


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_one_number_a_record_is_of_class_1_of_two(shape):
    shares = said(output(np.full(shape, 0.75)))
    np.testing.assert_allclose(shares.logits, np.log([[0.25, 0.75]] * 4), rtol=1e-6)
    logits = said(output(np.full(shape, -2.0)))
    np.testing.assert_array_equal(logits.logits, [[0, -2]] * 4)


def test_logits_that_look_like_shares_are_named():
    with pytest.raises(AuditError, match=r"A004 .*do not sum to 1.* say so: outputs='logits'"):
        said(output([[0.5, 0.9]] * 4))
    found = said(output([[0.5, 0.9]] * 4), outputs="logits")
    np.testing.assert_allclose(found.logits, [[0.5, 0.9]] * 4)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"probabilities": np.full((4, 2), 0.7)}, "do not sum to 1"),
        ({"probabilities": np.full((4, 2), np.nan)}, "missing"),
        (output([[1, np.nan]] * 4), "missing or infinite"),
        (output([[1, np.inf]] * 4), "missing or infinite"),
        (output([[1, 1e31]] * 4), "further than 1e.30 from 0"),
        (output(np.zeros((4, 2, 2))), "shape"),
        (output(np.zeros((3, 2))), "Asked about 4 records"),
        (output(1.0), "Asked about 4 records"),
        ({"output": np.array([["a", "b"]] * 4)}, "shape"),
    ],
    ids=["sum", "nan", "nan-logit", "infinite", "large", "wide", "few", "scalar", "texts"],
)
def test_nonsense_is_refused(answer, words):
    with pytest.raises(AuditError, match=f"A004 .*{words}"):
        said(answer)


def test_classes_are_those_of_the_model_then_those_named():
    about = ModelDescription("Python", "a model", classes=("yes", "no"))
    labels = ("no", "yes", "no", "no")
    assert said(output([[1, 0]] * 4), about, labels).classes == ("yes", "no")
    assert said(output([[1, 0]] * 4), labels=labels, classes=("no", "yes")).classes == ("no", "yes")
    with pytest.raises(AuditError, match=r"A002 .*does not name its 2 classes"):
        said(output([[1, 0]] * 4), labels=labels)
    with pytest.raises(AuditError, match=r"A004 .*3 classes are named"):
        said(output([[1, 0]] * 4), classes=("a", "b", "c"))


def test_labels_without_0_may_be_counted_from_1_and_need_names():
    thirds = output([[0.2, 0.3, 0.5]] * 4)
    with pytest.raises(AuditError, match=r"A002 .*no label is 0"):
        said(thirds, labels=("1", "2", "1", "1"))
    assert said(thirds, labels=("1", "2", "0", "1")).classes == ("0", "1", "2")
    named = said(thirds, labels=("1", "2", "1", "1"), classes=("1", "2", "3"))
    assert named.classes == ("1", "2", "3")


def test_labels_alone_need_no_order():
    found = said({"labels": np.array(["b", "a", "b", "b"])}, labels=("b", "b", "a", "b"))
    assert found.logits.argmax(axis=1).tolist() == [1, 0, 1, 1]
    assert "confidences" not in found.gives
    with pytest.raises(AuditError, match=r"A002 None of the model.s labels"):
        said({"labels": np.array(["c"] * 4)})


def records(**columns):
    return pa.table({"age": [1.5, 2.5, 3.5, 4.5], "member": [1, 0, 1, 0], **columns})


USUAL = {"label": "ill", "members": "member"}


def answered(features):
    return np.full((len(features), 2), 0.5)


def test_a_label_that_is_no_class_is_refused_without_being_quoted():
    table = records(ill=["0", "1", "secret", "0"])
    fitted = FittedModel(answered, classes=("0", "1"))
    with pytest.raises(AuditError, match="A002") as error:
        audit_membership(table, "ill", fitted=fitted, members="member")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        ({"members": "was"}, "A011", "There is no 'was'"),
        ({"label": "sick"}, "A002", "no column 'sick'"),
        ({"features": ("aeg",)}, "A003", r"Did you mean 'age'\?"),
    ],
)
def test_columns_that_are_not_there_are_named(how, code, words):
    fitted = FittedModel(answered, features=how.pop("features", ()))
    with pytest.raises(PolicyEngineError, match=f"{code} .*{words}"):
        audit_membership(records(ill=[0, 1, 0, 1]), fitted=fitted, **USUAL | how)


def test_a_model_that_takes_other_features_is_refused():
    from sklearn.naive_bayes import GaussianNB

    model = GaussianNB().fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(AuditError, match=r"A003 The model takes 2 features. The records have 1."):
        audit_membership(records(ill=[0, 1, 0, 1]), "ill", fitted=model, members="member")
    named = GaussianNB().fit(pa.table({"age": [0, 1], "size": [1, 0]}).to_pandas(), [0, 1])
    with pytest.raises(AuditError, match=r"A003 The model takes a column 'size'"):
        audit_membership(records(ill=[0, 1, 0, 1]), "ill", fitted=named, members="member")


def test_columns_of_other_names_are_not_taken_by_their_places():
    given, model = (
        pa.table({"pay": [1], "age": [2]}),
        ModelDescription("", "", features=("Age", "Pay")),
    )
    with pytest.raises(AuditError, match=r"A003 .*'Age' and 'Pay'.* The data has 'pay' and 'age'"):
        align(given, model)
    assert align(given, ModelDescription("", "", width=2)) is given


def test_numbers_of_17_digits_are_numbers_and_codes_are_texts(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(
        "wide,zip,id,y,m\n0.12345678901234567,01234,12345678901234567890,a,1\n"
        "-1.2345678901234567e-5,00012,12345678901234567891,b,0\n"
    )
    found = read_questions(path, "y", "m")
    assert [str(one) for one in found.features.schema.types] == ["double", "string", "string"]
    assert found.features["wide"].to_pylist() == [0.12345678901234567, -1.2345678901234567e-5]


def test_neither_labels_nor_members_are_compared_as_columns():
    found = read_questions(records(ill=["a", "b", "a", "b"]), "ill", "member")
    assert [*found.columns] == ["age"]


def test_members_and_others_are_both_needed():
    with pytest.raises(AuditError, match=r"A011 It is not stated which records"):
        audit_membership((FEATURES, [0, 1, 0, 1]), fitted=answered)
    with pytest.raises(AuditError, match=r"A011 It is not stated which records"):
        audit_membership(records(ill=[0, 1, 0, 1]), "ill", fitted=answered)
    with pytest.raises(AuditError, match=r"A011 All 4 records are members"):
        audit_membership((FEATURES, [0, 1, 0, 1], [1, 1, 1, 1]), fitted=answered)
