"""The files of a released model, and what is found in them that should not be there."""

import json
import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.files.auditing import TrainingInputs, audit_files
from policy_engine.audits.membership.learners import learner_of
from policy_engine.audits.membership.learners.scikit import _MODULES
from policy_engine.audits.membership.records import FittedFeatures
from policy_engine.audits.membership.released.estimators import _STRIPPERS
from policy_engine.audits.membership.released.files import write_estimator
from policy_engine.audits.membership.releases import describe_features, fit_for_release
from policy_engine.errors import AuditError
from policy_engine.methods.audits.classifier import Estimator, Network
from policy_engine.plan.training import FileBounds

ROWS = 400
SEED = 987_654_321


def people():
    """Return people of whom ten each have a disease and a salary that nobody else has."""
    draw = np.random.default_rng(7)
    age = draw.integers(20, 80, ROWS)
    diseases = [f"common {n % 8}" for n in range(ROWS - 10)]
    diseases += [f"rare{letter}disease" for letter in "ABCDEFGHIJ"]
    salary = np.round(20_000 + 400 * age + draw.normal(0, 4_000, ROWS))
    salary[-10:] = 91_237 + 1_111 * np.arange(10)
    income = np.where((salary > 40_000) ^ (draw.random(ROWS) < 0.2), "high", "low")
    columns = {"age": age, "disease": diseases, "salary": salary.astype(int), "income": income}
    return pa.table(columns)


PEOPLE = people()


def architecture(name):
    small = {"n_estimators": 5, "max_iter": 20}
    known = getattr(import_module(f"sklearn.{_MODULES[name]}"), name)().get_params()
    given = {key: value for key, value in small.items() if key in known}
    return Estimator(name=name, parameters=given).with_smallest_leaf(10)


def learnt(what, fitted):
    records = fitted.records(PEOPLE, "people")
    return TrainingInputs((PEOPLE,), records, records, what)


def write_text(folder, what, encoding):
    (folder / "architecture.json").write_text(what.model_dump_json())
    (folder / "encoding.json").write_text(json.dumps(encoding))


def released(folder, what, ending="skops"):
    """Write a model as a release does, and return what it learnt from."""
    fitted = fit_for_release(PEOPLE, "income", 10)
    given = learnt(what, fitted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = learner_of(what, 10).train(given.records, [np.arange(ROWS)], [SEED])
    models.save(folder / f"model.{ending}")
    write_text(folder, what, describe_features(fitted))
    return given


def as_it_is(folder, what):
    """Write a model as it was fitted, on features of single values, with all that it keeps."""
    fitted = FittedFeatures.of(PEOPLE, "income")
    given = learnt(what, fitted)
    kind = getattr(import_module(f"sklearn.{_MODULES[what.name]}"), what.name)
    model = kind(**what.parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=SEED)
    write_estimator(model.fit(given.records.features, given.records.labels), folder / "model.skops")
    write_text(folder, what, describe_features(fitted))
    return given


@pytest.mark.one_in(10)
@pytest.mark.parametrize("name", sorted(_STRIPPERS))
def test_a_released_model_gives_nothing_away(tmp_path, name):
    given = released(tmp_path, architecture(name))
    found = audit_files(tmp_path, given, FileBounds())
    assert found.holds, list(found.shortcomings())
    assert (found.smallest_leaf, found.rare_values, found.broken) == (10, 0, ())
    whole = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [n for n in range(10) if str(91_237 + 1_111 * n).encode() in whole]


def test_a_tree_as_it_is_names_persons_in_its_leaves_and_its_encoding(tmp_path):
    what = Estimator(name="DecisionTreeClassifier")
    found = audit_files(tmp_path, as_it_is(tmp_path, what), FileBounds())
    assert found.smallest_leaf == 1
    assert found.rare_values >= 10  # the diseases of one person each
    assert "The model's files hold counts of records." in found.broken
    assert "The model's files hold a seed, or a generator of random numbers." in found.broken


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("GaussianNB", "exact figures"),
        ("BernoulliNB", "counts"),
        ("HistGradientBoostingClassifier", "counts"),
        ("GradientBoostingClassifier", "counts"),
        ("RandomForestClassifier", "counts"),
    ],
)
def test_what_a_model_keeps_as_it_is_is_found(tmp_path, name, holds):
    found = audit_files(tmp_path, as_it_is(tmp_path, architecture(name)), FileBounds())
    assert any(holds in sentence for sentence in found.broken), found.broken


def test_an_edge_that_a_single_salary_moved_is_found(tmp_path):
    given = released(tmp_path, architecture("GaussianNB"))
    encoding = json.loads((tmp_path / "encoding.json").read_text())
    [about] = [one for one in encoding["columns"] if one["name"] == "salary"]
    about["edges"][3] -= 1e-7
    (tmp_path / "encoding.json").write_text(json.dumps(encoding))
    assert audit_files(tmp_path, given, FileBounds()).rare_values == 1


def test_exact_means_in_the_encoding_are_found(tmp_path):
    given = released(tmp_path, architecture("LogisticRegression"))
    encoding = json.loads((tmp_path / "encoding.json").read_text())
    salary = np.array(PEOPLE.column("salary"))
    [about] = [one for one in encoding["columns"] if one["name"] == "salary"]
    about["edges"][0] = 91_237
    about["mean"] = float(given.records.features.astype(float).mean(axis=0)[0])
    (tmp_path / "encoding.json").write_text(json.dumps(encoding))
    found = audit_files(tmp_path, given, FileBounds())
    assert (salary == 91_237).sum() == 1
    assert found.rare_values == 2  # and the edge below which few are left
    assert "exact figures" in " ".join(found.broken)


@pytest.mark.parametrize("column", ["disease", "income"])
def test_a_text_that_is_common_in_another_column_is_rare_where_it_is_told_of_its_own(
    tmp_path, column
):
    # "high" is a frequent income, and the disease of one person; "common 1" the other way round.
    rare, last = {"disease": ("high", 0), "income": ("common 1", -1)}[column]
    values = PEOPLE.column(column).to_pylist()
    values[last] = rare
    place = PEOPLE.column_names.index(column)
    table = PEOPLE.set_column(place, column, pa.array(values))
    given = replace(released(tmp_path, architecture("GaussianNB")), tables=(table,))
    assert audit_files(tmp_path, given, FileBounds()).rare_values == 0
    encoding = json.loads((tmp_path / "encoding.json").read_text())
    [disease] = [one for one in encoding["columns"] if one["name"] == "disease"]
    {"disease": disease["values"], "income": encoding["classes"]}[column].append(rare)
    (tmp_path / "encoding.json").write_text(json.dumps(encoding))
    assert audit_files(tmp_path, given, FileBounds()).rare_values == 1


@pytest.mark.parametrize("where", ["a text", "a word of a text", "a key"])
def test_a_memorised_text_is_found_wherever_it_stands(tmp_path, where):
    given = released(tmp_path, architecture("GaussianNB"))
    told = {"a text": ["rareAdisease"], "a key": {"rareAdisease": 1}}
    document = told.get(where, ["it was rareAdisease again"])
    (tmp_path / "architecture.json").write_text(json.dumps(document))
    assert audit_files(tmp_path, given, FileBounds()).rare_values == 1


def test_files_that_nobody_asked_for_are_found(tmp_path):
    given = released(tmp_path, architecture("GaussianNB"))
    (tmp_path / ".more.json").write_text("{}")
    [sentence] = audit_files(tmp_path, given, FileBounds()).broken
    assert sentence == "The model's folder holds 1 files more or less than it should."
    (tmp_path / "more.bin").write_bytes(b"\0")
    with pytest.raises(AuditError, match=r"A017 The file 'more\.bin' of the model"):
        audit_files(tmp_path, given, FileBounds())


def test_a_pickle_is_looked_into_and_refused_unless_it_is_allowed(tmp_path):
    given = released(tmp_path, architecture("GaussianNB"), "joblib")
    assert audit_files(tmp_path, given, FileBounds(), allow_pickle=True).holds
    assert not audit_files(tmp_path, given, FileBounds()).holds


@pytest.mark.nightly
def test_a_network_is_looked_into(tmp_path):
    given = released(tmp_path, Network(epochs=1), "keras")
    found = audit_files(tmp_path, given, FileBounds())
    assert found.holds, list(found.shortcomings())


def test_a_stricter_bound_finds_smaller_groups(tmp_path):
    given = released(tmp_path, architecture("DecisionTreeClassifier"))
    found = audit_files(tmp_path, given, FileBounds(smallest_leaf=40))
    assert 10 <= found.smallest_leaf < 40
    assert not found.holds
    assert "smallestLeaf at least 40 is required" in next(found.shortcomings())


def test_bounds_of_several_audits_hold_together():
    asked = FileBounds(smallest_leaf=20, rare_values=3)
    assert FileBounds(smallest_leaf=50).replace_bounds(asked) == FileBounds(
        smallest_leaf=50, rare_values=3
    )
    assert FileBounds().replace_bounds(asked, FileBounds()).rare_values == 0
    assert FileBounds().replace_bounds() == FileBounds()
