import json
from itertools import product

import numpy as np
import pytest
from building import DATASET, policy
from modelled import (
    anonymised,
    bound,
    file_names,
    of_raw,
    of_release,
    people_spelt_in_ways,
    people_table,
    repeated_people,
    train,
    training_table,
    use,
)

from policy_engine import apply_policy
from policy_engine.api.planning import plan_policy
from policy_engine.certificate.beside import load_certificate
from policy_engine.engines.engine import silent
from policy_engine.engines.local import LocalEngine
from policy_engine.errors import AuditError, CertificateError


def test_records_that_are_written_otherwise_are_trained_on_together(table, tmp_path):
    file, rows = people_spelt_in_ways(table, tmp_path)
    piece = training_table(file, of_raw())
    assert (piece.groups == np.tile(piece.groups[:rows], 4)).all()
    assert set(piece.groups[piece.members]).isdisjoint(np.delete(piece.groups, piece.members))


def test_labels_that_are_one_class_are_drawn_as_one(tmp_path):
    lines = [f"{n % 40},x,{label}" for n in range(80) for label in (f"{n % 2}", f"{n % 2}.0")]
    file = tmp_path / "labels.csv"
    file.write_text("\n".join(["age,city,disease", *lines]) + "\n")
    piece = training_table(file, of_raw())
    assert len(np.unique(piece.groups)) == 40
    assert set(piece.groups[piece.members]).isdisjoint(np.delete(piece.groups, piece.members))


def test_too_few_records_for_a_bound_are_told_before_anything_is_trained(table, tmp_path):
    tpr = {"auc": 0.75, "tprAtFpr": 0.01}
    with pytest.raises(AuditError, match=r"A021 tprAtFpr 0.001 at most 0.01 .* 119 members"):
        apply_policy(of_raw(bounds=tpr), {DATASET: table}, tmp_path / "out", seed=1)
    assert file_names(tmp_path) == []


def test_what_the_model_knows_of_its_columns_is_of_ten_records_it_learnt_from(tmp_path):
    both = product((30, 40), (f"City {n}" for n in range(24)), ("flu", "none"))
    rows = [["Ann", *kind] for kind in both for _ in range(4)]
    rows = [["name", "age", "city", "disease"], *rows, *[["Eve", 99, "Kiev", "flu"]] * 9]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n")
    asked = of_raw(attacks=("rmia",), bounds={"auc": 0.999})
    release = apply_policy(asked, {DATASET: path}, tmp_path / "out", seed=3)
    text = (release.path / "encoding.json").read_text()
    assert release.release.reports[0].target_train.records == 96
    assert "Kiev" not in text
    assert "99" not in text
    assert json.loads(text)["columns"][0]["edges"] == [39.5]  # nine of 99 are too few


def test_a_column_of_names_as_labels_is_told_without_the_names(tmp_path):
    path = people_table(tmp_path / "people.csv", rows=60)
    text = of_raw().replace(f"{DATASET}/disease", f"{DATASET}/name")
    with pytest.raises(AuditError, match="A002 60 classes for 60 records") as caught:
        apply_policy(text, {DATASET: path}, tmp_path / "out")
    assert "P1" not in str(caught.value)


def test_a_class_too_small_for_shadows_is_named(tmp_path):
    path = people_table(tmp_path / "people.csv", rows=60)
    with path.open("a") as file:
        file.write("Eve,30,Rome,plague\nAda,31,Rome,plague\n")
    with pytest.raises(AuditError, match=r"A001 The class 'plague' has 2 records, but needs 40"):
        apply_policy(of_raw(), {DATASET: path}, tmp_path / "out")
    assert file_names(tmp_path) == ["people.csv"]


def test_equal_records_are_trained_on_together_or_not_at_all(tmp_path):
    made = training_table(repeated_people(tmp_path / "people.csv", 120, 6), of_raw())
    record = made.table.select(["age", "city", "disease"]).to_pylist()
    members = {tuple(record[row].values()) for row in made.members}
    others = np.setdiff1d(np.arange(made.table.num_rows), made.members)
    assert not members & {tuple(record[row].values()) for row in others}
    assert 120 < len(made.members) <= 180
    judged = made.audit(made.plan.audits, None, silent)
    assert judged.target_train.records == judged.target_test.records == len(made.members)


def test_a_few_records_that_hold_most_rows_bear_no_audit(tmp_path):
    with pytest.raises(AuditError, match=r"A001 .* repeat so often that"):
        apply_policy(
            of_raw(), {DATASET: repeated_people(tmp_path / "a.csv", 6, 100)}, tmp_path / "out"
        )
    with pytest.raises(AuditError, match=r"A001 There are only \d different records to train on"):
        apply_policy(
            of_raw(), {DATASET: repeated_people(tmp_path / "a.csv", 24, 40)}, tmp_path / "out"
        )
    assert file_names(tmp_path) == ["a.csv"]


def test_a_model_with_leaves_smaller_than_the_policy_says_is_not_released(table, tmp_path):
    text = json.loads(of_raw("DecisionTreeClassifier"))
    audited = text["permission"][1]["duty"]["action"]["refinement"]
    audited.append(bound("smallestLeaf", 40, "gteq"))
    text = json.dumps(text)
    with pytest.raises(CertificateError, match="V011 smallestLeaf at least 40 is required, but"):
        apply_policy(text, {DATASET: table}, tmp_path / "out", seed=1)
    assert file_names(tmp_path / "out") == ["certificate.jsonld"]
    assert not load_certificate(tmp_path / "out").holds


def test_a_tree_of_raw_records_has_no_leaf_of_fewer_than_ten(table, tmp_path):
    text = of_raw("DecisionTreeClassifier", bounds={"auc": 0.9})
    release = apply_policy(text, {DATASET: table}, tmp_path, seed=1)
    assert release.plan.train.architecture.parameters == {"min_samples_leaf": 10}
    assert release.certificate.files.smallest_leaf == 10


def test_a_model_learns_from_quasi_identifiers_unless_the_policy_names_more():
    text = json.loads(of_release())
    [made, trained, _] = text["permission"]
    made["action"]["refinement"].append(bound("insensitive", [f"{DATASET}/city"], "isAllOf"))
    quasi = next(r for r in made["action"]["refinement"] if "quasi" in r["leftOperand"])
    quasi["rightOperand"] = [f"{DATASET}/age"]
    assert plan_policy(json.dumps(text)).train.features == ("age",)
    both = [f"{DATASET}/age", f"{DATASET}/city"]
    trained["action"]["refinement"].append(bound("feature", both, "isAllOf"))
    assert plan_policy(json.dumps(text)).train.features == ("age", "city")


@pytest.mark.nightly
def test_classes_of_a_share_of_the_records_are_guided_by_what_those_alone_teach(
    table, tmp_path, monkeypatch
):
    # By a guide of all records, the classes of the members would tell of the others.
    taught, guide = [], LocalEngine.guide

    def noted(engine, part, fitting):
        taught.append(part.num_rows)
        return guide(engine, part, fitting)

    monkeypatch.setattr(LocalEngine, "guide", noted)
    classes = anonymised(algorithm="accuracy-guided", label=f"{DATASET}/disease")
    asked = policy([classes, train(), use(attacks=("rmia",), bounds={"auc": 0.999})])
    release = apply_policy(asked, {DATASET: table}, tmp_path / "out", seed=3)
    assert max(taught) < 480
    assert len(taught) > 4  # the model's table, and those of its shadows
    assert release.release.sanitised.rows in taught
