import math

import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from measuring import DISEASE, holding, taken
from pydantic import ValidationError

from policy_engine import terms
from policy_engine.kernels.bounds import Diversity
from policy_engine.methods import describe_allowed, is_text, parameters, privacy_model_class
from policy_engine.methods.columns import QuasiIdentifier, Sensitive
from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.privacy_model import Bound, Measurement, PrivacyModel, merge_bounds
from policy_engine.methods.privacy_models.k_anonymity import KAnonymity
from policy_engine.methods.privacy_models.l_diversity import LDiversity
from policy_engine.methods.recoding import RecodingOptions

BOUNDS = {
    "l-diversity": [{"l": l} for l in (2, 3)],  # noqa: E741
    "entropy-l-diversity": [{"l": l} for l in (1.5, 2, 2.5, 3)],  # noqa: E741
    "recursive-l-diversity": [{"c": c, "l": l} for c in (0.5, 1, 1.5, 3) for l in (2, 3)],  # noqa: E741
    "t-closeness": [{"t": t} for t in (0.1, 0.25, 1 / 3, 0.5, 0.75)],
    "alpha-k-anonymity": [{"alpha": alpha} for alpha in (0.25, 0.5, 2 / 3, 0.75)],
    "beta-likeness": [{"beta": beta} for beta in (0.25, 0.5, 1, 3)],
    "enhanced-beta-likeness": [{"beta": beta} for beta in (0.25, 0.5, 1, 3)],
    "delta-disclosure": [{"delta": delta} for delta in (0.2, 0.5, math.log(2), 1)],
}
TREE = {"any": None, "ab": "any", "a": "ab", "b": "ab", "c": "any", "d": "any"}
VALUES = st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=1, max_size=6)
CLASSES = st.lists(VALUES, min_size=1, max_size=4)
DISTANCES = ("variational", "ordered", "hierarchical")
COLUMNS = [Sensitive(name="disease", distance=distance) for distance in DISTANCES]


@st.composite
def asked(draw):
    """Draw a method that is about values, a column, and its taxonomy if it has one."""
    notation = draw(st.sampled_from(sorted(BOUNDS)))
    column = draw(st.sampled_from(COLUMNS if notation == "t-closeness" else COLUMNS[:1]))
    method = privacy_model_class(notation)(k=5, **draw(st.sampled_from(BOUNDS[notation])))
    tree = TREE if column.distance == "hierarchical" else None
    return method, {"column": column, "tree": tree}


def persons_of(classes):
    """Draw a person for each row of each class."""
    rows = [st.lists(st.integers(0, 4), min_size=len(one), max_size=len(one)) for one in classes]
    return st.none() | st.tuples(*rows).map(list)


def found(**given):
    return [
        (one.code, one.parameter) for one in parameter_findings(KAnonymity, given, "k-anonymity")
    ]


@settings(max_examples=examples(100), deadline=None)  # compiles first
@given(st.data(), asked(), CLASSES)
def test_the_partitioner_takes_exactly_the_classes_that_are_measured_to_hold(data, one, classes):
    method, given = one
    given["persons"] = data.draw(persons_of(classes))
    assert taken(method, *classes, **given) == holding(method, *classes, **given)


@settings(max_examples=examples(100))
@given(asked(), VALUES, VALUES, CLASSES)
def test_two_classes_that_hold_hold_as_one_where_the_method_says_so(one, first, second, rest):
    method, given = one
    if method.is_kept_by_union and all(holding(method, first, second, *rest, **given)[:2]):
        assert holding(method, first + second, *rest, **given)[0]


def test_every_method_about_values_has_bounds_to_try():
    about = {name for name in terms.privacy_models() if privacy_model_class(name).is_about_values}
    assert about == set(BOUNDS)


def test_method_class_is_found_by_its_notation():
    assert privacy_model_class("k-anonymity") is KAnonymity
    assert privacy_model_class("l-diversity") is LDiversity
    with pytest.raises(KeyError):
        privacy_model_class("x-secrecy")


def test_findings_are_none_where_all_is_well():
    assert found(k=2) == []


def test_findings_name_each_parameter_that_is_wrong():
    assert found() == [("M002", "k")]
    assert found(k=1) == [("M003", "k")]
    assert found(k=1, t=0.1) == [("M003", "k"), ("M004", "t")]


@pytest.mark.parametrize(
    ("k", "given"), [(1, "1"), ("two", "'two'"), (True, "true"), (-math.inf, "infinite")]
)
def test_findings_say_what_was_given_and_what_is_allowed(k, given):
    [wrong] = parameter_findings(KAnonymity, {"k": k}, "k-anonymity")
    assert wrong.message == f"k is not allowed to be {given}. Allowed is an integer from 2."


def test_a_number_that_no_table_reaches_is_refused():
    [wrong] = parameter_findings(KAnonymity, {"k": 10**399}, "k-anonymity")
    words = "An integer has more than 300 digits, but no table has so many rows."
    assert wrong == ("M003", "k", words)


def test_findings_name_the_parameters_that_there_are():
    [unknown] = parameter_findings(KAnonymity, {"k": 2, "kk": 1}, "k-anonymity")
    assert unknown.message == "k-anonymity has no parameter 'kk'. It has 'k'."


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        (LDiversity, "k", "an integer from 2"),
        (privacy_model_class("t-closeness"), "t", "a number above 0 and up to 1"),
        (privacy_model_class("alpha-k-anonymity"), "alpha", "a number above 0 and below 1"),
        (QuasiIdentifier, "weight", "a number from 0 to 1000"),
        (QuasiIdentifier, "precision", "a number above 0"),
        (QuasiIdentifier, "mask", "a text of one character"),
        (QuasiIdentifier, "taxonomy", "a text"),
        (QuasiIdentifier, "order", "'lexicographic' or 'frequency'"),
        (RecodingOptions, "maxSuppression", "a number from 0 to below 1"),
        (RecodingOptions, "polish", "true or false"),
    ],
)
def test_what_is_allowed_is_said_in_words(kind, name, words):
    assert describe_allowed(parameters(kind)[name]) == words


def test_a_text_is_no_choice_and_no_number():
    texts = {name for name, field in parameters(QuasiIdentifier).items() if is_text(field)}
    assert texts == {"name", "taxonomy", "mask"}


def test_a_method_cannot_be_changed_once_built():
    with pytest.raises(ValidationError):
        KAnonymity(k=2).k = 1


@pytest.mark.parametrize("notation", sorted(BOUNDS))
def test_a_method_comes_back_from_its_json(notation):
    method = privacy_model_class(notation)(k=5, **BOUNDS[notation][0])
    assert type(method).model_validate_json(method.model_dump_json()) == method


def test_a_method_without_a_guarantee_has_none_to_tell():
    bare = PrivacyModel(k=2)
    for unsaid in (
        lambda: bare.bound(DISEASE),
        lambda: bare.diversity(DISEASE),
        lambda: bare.figures(None, DISEASE, None),
    ):
        with pytest.raises(AttributeError):
            unsaid()


def test_the_bounds_of_several_methods_are_one_for_the_partitioner():
    assert merge_bounds([{"distinct": 3}, {"t": 0.2, "distance": "ordered"}]) == Diversity(
        distinct=3, t=0.2, distance="ordered"
    )
    assert merge_bounds([]) == Diversity()


@pytest.mark.parametrize(
    ("sense", "kept"),
    [
        ("at least", [False, True, True, True]),
        ("at most", [True, True, True, False]),
        ("below", [True, False, False, False]),
    ],
)
def test_a_bound_holds_as_its_sense_says_and_rounding_does_not_count(sense, kept):
    bound = Bound("x", "", 2, sense)
    figures = [1.9, 2 - 1e-12, 2.0 + 1e-12, 2.1]
    if sense == "below":
        figures[1] = 2.0
    assert [bound.holds(figure) for figure in figures] == kept
    assert bound.hold_by_class(np.array(figures)).tolist() == kept


@pytest.mark.parametrize(("sense", "worst"), [("at least", 1), ("at most", 2), ("below", 2)])
def test_a_measurement_is_that_of_the_worst_class(sense, worst):
    figures = np.array([2.0, 1.0, 3.0])
    measured = Measurement.of(Bound("x", "disease", 2, sense), figures)
    assert (measured.achieved, measured.worst) == (figures[worst], worst)
    assert (measured.column, measured.holds) == ("disease", False)
