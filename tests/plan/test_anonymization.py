import numpy as np
import pytest
from pydantic import ValidationError

from policy_engine.kernels.bounds import Ancestry, ClassConstraint, Diversity
from policy_engine.kernels.grouping import Groups
from policy_engine.methods import Bound, privacy_model_class
from policy_engine.methods.columns import Columns, QuasiIdentifier, Sensitive
from policy_engine.methods.privacy_models.k_anonymity import KAnonymity
from policy_engine.methods.privacy_models.t_closeness import TCloseness
from policy_engine.methods.recoding import RecodingOptions
from policy_engine.methods.sanitisations.masking import Masking
from policy_engine.plan.anonymization import Anonymization

PARAMETERS = {
    "k-anonymity": {},
    "l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 1.5},
    "t-closeness": {"t": 0.5},
    "delta-disclosure": {"delta": 1},
}
TREE = Ancestry(np.array([-1, 0, 0]), np.array([1, 0, 0]), np.array([1, 2]))


def asked(*notations, sensitive=("disease",), unit="", suppression=0.0):
    kept = tuple(Sensitive(name=one) if isinstance(one, str) else one for one in sensitive)
    columns = {"quasi-identifier": (QuasiIdentifier(name="age"),), "privacyUnit": unit}
    return Anonymization(
        columns=Columns(**columns, sensitive=kept),
        methods={name: privacy_model_class(name)(k=3, **PARAMETERS[name]) for name in notations},
        recoding=RecodingOptions(algorithm="full-domain", max_suppression=suppression),
    )


def test_there_is_a_quasi_identifier_where_there_is_a_privacy_model():
    with pytest.raises(ValidationError, match="a privacy model needs quasi-identifiers"):
        Anonymization(columns=Columns(), methods={"k-anonymity": KAnonymity(k=2)})


@pytest.mark.parametrize(
    "columns",
    [
        {"quasi-identifier": (QuasiIdentifier(name="age"),)},
        {"sensitive": (Sensitive(name="age"),)},
    ],
)
def test_without_a_privacy_model_there_are_no_columns_that_classes_need(columns):
    with pytest.raises(ValidationError, match="classes are formed for privacy models alone"):
        Anonymization(columns=Columns(**columns), methods={"masking": Masking()})


def test_masking_alone_bounds_nothing_and_beside_a_model_nothing_more():
    alone = Anonymization(columns=Columns(), methods={"masking": {}})
    assert (alone.models, alone.bounds(), alone.k) == ((), (), 1)
    assert alone.measure(groups([0, 0]), {}) == []
    both = asked("k-anonymity").model_copy(
        update={"methods": {"masking": Masking(), "k-anonymity": KAnonymity(k=3)}}
    )
    assert (len(both.models), both.bounds()) == (1, (Bound("k", "", 3),))


def groups(class_of, persons=None, **sensitive):
    codes = {name: np.array(column, dtype=np.int32) for name, column in sensitive.items()}
    who = None if persons is None else np.array(persons)
    return Groups(np.array(class_of), max(class_of) + 1, codes, {}, persons=who)


def test_k_is_a_bound_on_rows_and_the_first():
    assert asked("k-anonymity").bounds() == (Bound("k", "", 3),)


def test_every_method_is_about_every_sensitive_column_by_itself():
    both = asked("k-anonymity", "l-diversity", "t-closeness", sensitive=("disease", "income"))
    assert [(bound.name, bound.column) for bound in both.bounds()] == [
        ("k", ""),
        ("l", "disease"),
        ("t", "disease"),
        ("l", "income"),
        ("t", "income"),
    ]
    assert [method.notation for method, _ in both.models_about("income")] == [
        "l-diversity",
        "t-closeness",
    ]


def test_the_constraint_holds_the_bounds_of_all_methods_on_each_column():
    ordered = Sensitive(name="income", distance="ordered")
    both = asked("l-diversity", "t-closeness", sensitive=("disease", ordered))
    assert both.constraint({}) == ClassConstraint(
        3, (Diversity(distinct=2, t=0.5), Diversity(distinct=2, t=0.5, distance="ordered"))
    )


def test_the_constraint_of_k_anonymity_leaves_sensitive_values_as_they_are():
    assert asked("k-anonymity").constraint({}) == ClassConstraint(3, (Diversity(),))


def test_the_constraint_has_the_taxonomy_of_a_column():
    column = Sensitive(name="disease", distance="hierarchical", taxonomy="x.csv")
    [found] = asked("t-closeness", sensitive=(column,)).constraint({"disease": TREE}).diversity
    assert found.ancestry is TREE


def test_measure_finds_the_worst_class_of_every_bound():
    table = groups([0, 0, 0, 1, 1, 1, 1], disease=[0, 1, 2, 0, 0, 1, -1])
    found = asked("k-anonymity", "l-diversity").measure(table, {})
    assert [(one.bound, one.achieved, one.worst) for one in found] == [("k", 3, 0), ("l", 2, 1)]
    assert all(one.holds for one in found)


def test_measure_tells_what_does_not_hold():
    table = groups([0, 0, 0, 1, 1], disease=[0, 1, 2, 0, 0])
    found = asked("k-anonymity", "l-diversity").measure(table, {})
    assert [(one.achieved, one.holds) for one in found] == [(2, False), (1, False)]


def test_measure_counts_persons_where_there_is_a_unit_of_privacy():
    table = groups([0, 0, 0, 0], persons=[7, 7, 8, 9], disease=[0, 1, 0, 1])
    found = asked("k-anonymity", "l-diversity", unit="person").measure(table, {})
    assert [one.achieved for one in found] == [3, 2]


def test_measure_takes_the_taxonomy_of_a_column():
    column = Sensitive(name="disease", distance="hierarchical", taxonomy="x.csv")
    table = groups([0, 0, 0, 1, 1, 1], disease=[0, 0, 0, 1, 1, 1])
    found = asked("t-closeness", sensitive=(column,)).measure(table, {"disease": TREE})
    assert [one.achieved for one in found] == [3, 0.5]


def test_hold_by_class_tells_the_classes_that_keep_every_bound_on_a_column():
    table = groups([0, 0, 1, 1, 2, 2], disease=[0, 1, 0, 0, 0, 1])
    found = asked("l-diversity", "entropy-l-diversity").hold_by_class(
        table.histogram("disease"), "disease", {}
    )
    assert found.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("notations", "options", "monotonic"),
    [
        (["k-anonymity"], {"unit": "person", "suppression": 0.1}, True),
        (["k-anonymity", "l-diversity"], {"suppression": 0.1}, True),
        (["l-diversity", "entropy-l-diversity", "t-closeness"], {}, True),
        (["entropy-l-diversity"], {"suppression": 0.1}, False),
        (["t-closeness"], {"suppression": 0.1}, False),
        (["l-diversity"], {"unit": "person"}, False),
        (["delta-disclosure"], {}, False),
    ],
)
def test_suppression_grows_with_detail_where_classes_that_hold_hold_as_one(
    notations, options, monotonic
):
    assert asked(*notations, **options).is_monotonic is monotonic


def test_two_classes_of_the_same_persons_may_be_diverse_apart_and_not_as_one():
    # In each class one of persons 0 and 1 has flu (0), the other a cold (1); in both, both have.
    apart = groups([0, 0, 1, 1], persons=[0, 1, 0, 1], disease=[0, 1, 1, 0])
    together = groups([0, 0, 0, 0], persons=[0, 1, 0, 1], disease=[0, 1, 1, 0])
    method = asked("l-diversity", unit="person")
    assert [method.measure(one, {})[1].achieved for one in (apart, together)] == [2, 1]


def test_an_anonymization_comes_back_from_its_json():
    one = asked(*PARAMETERS, unit="person")
    again = Anonymization.model_validate_json(one.model_dump_json())
    assert again == one
    assert isinstance(again.methods["t-closeness"], TCloseness)


def test_an_anonymization_asks_for_a_method():
    with pytest.raises(ValidationError):
        asked()
