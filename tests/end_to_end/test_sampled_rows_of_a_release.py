"""Rows and persons that are sampled, from the policy to who may read the release."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from applying import applied, asking, measured, refused
from building import DATASET, OUTPUT, anonymize, column, permission, policy

from policy_engine import apply_policy, certify_output, compare_release, explore_policy
from policy_engine.authoring.diff import compare_policies
from policy_engine.certificate.certificate import read_certificate
from policy_engine.cli.tables.plans import plan_table
from policy_engine.decision.lineage import target_columns
from policy_engine.engines.samples import SampleFigures
from policy_engine.errors import CertificateError, DataError, PlanError
from policy_engine.plan.consenting import shortfalls
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.plan.reading_anonymization import consents, transformations
from policy_engine.policy import read_policy

KEY, OTHER = b"\x05" * 32, b"\x06" * 32
ALONE = {"method": "masking", "insensitive": ["id", "sex"]}
PERSONS = {"method": "masking", "insensitive": ["row", "sex"], "privacyUnit": "id"}
CLASSES = {"method": "k-anonymity", "k": 3, "quasi": ["age"], "insensitive": ["sex"]}


def people(persons=60):
    """Return three rows of each person."""
    random = np.random.default_rng(3)
    ids = np.repeat(np.arange(persons), 3)
    return {
        "row": np.arange(len(ids)),
        "id": ids,
        "age": random.integers(20, 60, len(ids)),
        "sex": np.array(["f", "f", "m"])[ids % 3],
    }


def ids(release):
    return release.table["id"].to_pylist()


# -- what is sampled ------------------------------------------------------------------------------


def test_a_share_of_the_rows_is_released():
    made = applied(people(2000), sampleShare=0.25, key=KEY, **ALONE)
    assert abs(made.table.num_rows - 1500) < 5 * np.sqrt(6000 * 0.25 * 0.75)
    told = made.certificate.sample
    assert (told.units, told.sampled, told.rows) == ("rows",) + (made.table.num_rows,) * 2
    assert told.share == told.sampled / 6000
    assert (made.record.rows_in, made.record.sampled) == (6000, told.rows)


def test_so_many_rows_are_released_with_their_weight():
    made = applied(people(), sampleSize=40, weightColumn="weight", **ALONE)
    assert made.table["weight"].to_pylist() == [180 / 40] * 40
    assert made.table.column_names == ["id", "sex", "weight"]


def test_persons_are_released_with_all_rows_or_none():
    made = applied(people(), sampleSize=20, weightColumn="weight", key=KEY, **PERSONS)
    rows = made.table["row"].to_pylist()
    persons = {row // 3 for row in rows}
    assert sorted(rows) == sorted(3 * one + more for one in persons for more in range(3))
    assert len(persons) == made.certificate.sample.sampled == 20
    assert set(made.table["weight"].to_pylist()) == {3.0}
    assert made.plan.drop.identifiers == ("id",)


def test_persons_are_the_same_however_they_are_written(tmp_path):
    rows = [f"{person}{end},{person}" for person in range(20) for end in ("", ".0", "e0")]
    (tmp_path / "in.csv").write_text("id,row\n" + "\n".join(rows) + "\n")
    asked = {"method": "masking", "insensitive": ["row"], "privacyUnit": "id"}
    made = applied(tmp_path / "in.csv", sampleSize=5, **asked)
    assert sorted(pd.Series(made.table["row"].to_pylist()).value_counts()) == [3] * 5


def test_every_stratum_gives_its_share():
    given = {"stratifiedBy": ["sex"], "weightColumn": "weight", **ALONE}
    made = applied(people(), sampleShare=0.1, **given)
    assert pd.Series(made.table["sex"].to_pylist()).value_counts().to_dict() == {"f": 12, "m": 6}
    made = applied(people(), sampleSize=10, **given)
    by_sex = dict(zip(*(made.table[name].to_pylist() for name in ("sex", "weight")), strict=True))
    assert by_sex == {"f": 120 / 7, "m": 60 / 3}
    assert made.certificate.sample.strata == 2


def test_classes_are_formed_of_the_rows_that_are_released():
    made = applied(people(), sampleSize=30, privacyUnit="id", key=KEY, **CLASSES)
    assert made.table.num_rows == made.certificate.utility.classes * (
        made.certificate.utility.average_class_size
    )
    assert measured(made)["k", ""] >= 3
    assert min(made.table.to_pandas().groupby("age").size()) >= 3
    assert made.certificate.warning == ""


def test_columns_are_masked_after_rows_are_sampled():
    swapped = {"masked": [column("id", masking="rank-swapping", p=0.4)], "insensitive": ["row"]}
    made = applied(people(), method="masking", sampleSize=50, key=KEY, **swapped)
    rows, persons = (made.table[name].to_pylist() for name in ("row", "id"))
    assert sorted(row // 3 for row in rows) == sorted(persons)
    assert len(rows) == 50
    assert "rows are sampled and columns are masked" in made.certificate.warning


# -- who is in it ---------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [{"sampleSize": 25, **ALONE}, {"sampleShare": 0.5, **PERSONS}])
def test_the_order_of_the_input_decides_nothing(asked):
    table, order = people(), np.random.default_rng(1).permutation(180)
    mixed = {name: values[order] for name, values in table.items()}
    made = [applied(one, key=KEY, **asked).table for one in (table, mixed)]
    assert made[0].equals(made[1])


def test_the_key_decides_who_is_sampled_and_of_two_samples_one_contains_the_other():
    small, large, other = (
        set(applied(people(), sampleSize=size, key=key, **PERSONS).table["row"].to_pylist())
        for size, key in ((10, KEY), (30, KEY), (10, OTHER))
    )
    assert small < large
    assert small != other
    drawn = [applied(people(), sampleSize=10, **PERSONS).table for _ in range(2)]
    assert not drawn[0].equals(drawn[1])


# -- what is measured -----------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path):
    pd.DataFrame(people()).to_csv(tmp_path / "in.csv", index=False)
    asked = {"sampleSize": 40, "weightColumn": "weight", "stratifiedBy": ["sex"], **ALONE}
    release = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", key=KEY, **asked)
    return release, tmp_path / "in.csv", asking(**asked)


def test_a_certificate_tells_its_sample_and_is_read_back(made):
    release, _, _ = made
    assert read_certificate(release.certificate.to_jsonld()) == release.certificate
    assert Plan.model_validate_json(release.plan.model_dump_json()) == release.plan
    assert release.record.commitment == release.certificate.commitment


@pytest.mark.parametrize(
    ("name", "value"), [("rows", 41), ("sampled", 41), ("units", "persons"), ("strata", 41)]
)
def test_a_certificate_that_contradicts_its_sample_is_none(made, name, value):
    document = json.loads(made[0].certificate.to_jsonld())
    document["pe:certificate"]["sample"][name] = value
    with pytest.raises(CertificateError, match="V005"):
        read_certificate(json.dumps(document))


def test_an_output_is_certified_again_from_the_data_and_the_key(made):
    release, data, text = made
    again = certify_output(release.path, text, data={DATASET: data}, key=KEY)
    assert again.sample == release.certificate.sample
    with pytest.raises(CertificateError, match="V004"):
        certify_output(release.path, text, data={DATASET: data}, key=OTHER)


def test_without_the_key_the_sample_is_that_of_the_certificate(made):
    release, _, text = made
    assert certify_output(release.path, text).sample == release.certificate.sample


def test_persons_that_are_counted_need_the_key(tmp_path):
    pd.DataFrame(people()).to_csv(tmp_path / "in.csv", index=False)
    asked = {"sampleSize": 30, "privacyUnit": "id", **CLASSES}
    made = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", key=KEY, **asked)
    data = {DATASET: tmp_path / "in.csv"}
    with pytest.raises(DataError, match="V006 Which rows of the input were sampled"):
        certify_output(made.path, asking(**asked), data=data)
    assert certify_output(made.path, asking(**asked), data=data, key=KEY).sample.sampled == 30


def test_weights_that_were_changed_are_refused(made):
    release, data, text = made
    content = release.path.read_text()
    release.path.write_text(content.replace(",4.", ",5.", 1))
    with pytest.raises(CertificateError, match="V004"):
        certify_output(release.path, text, data={DATASET: data}, key=KEY)
    release.path.write_text(content.replace(",4.", ",0.", 1))
    with pytest.raises(CertificateError, match="V001 1 rows of 'weight' do not have the weight"):
        certify_output(release.path, text)


def test_an_output_of_another_sample_is_not_certified(made):
    other = asking(sampleSize=30, weightColumn="weight", stratifiedBy=["sex"], **ALONE)
    with pytest.raises(CertificateError, match=r"V014 It was made of a sample \(40, stratified"):
        certify_output(made[0].path, other)


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"sampleShare": 1}, "M003"),
        ({"sampleShare": 0}, "M003"),
        ({"sampleSize": 0}, "M003"),
        ({"sampleSize": 2.5}, "M003"),
        ({"sampleShare": 0.5, "sampleSize": 10}, "M003"),
        ({"weightColumn": "weight"}, "M002"),
        ({"sampleShare": 0.5, "weightColumn": 7}, "M003"),
        ({"sampleShare": 0.5, "stratifiedBy": ["age"]}, "M006"),
        ({"sampleShare": 0.5, "stratifiedBy": ["sex", "sex"]}, "M003"),
        ({"sampleShare": 0.5, "weightColumn": "SEX"}, "M005"),
        ({"sampleShare": 0.5, "weightColumn": "row"}, "M005"),
        ({"privacyUnit": "row"}, "M002"),
        ({"sampleSize": 181}, "R014"),
        ({"sampleSize": 1, "stratifiedBy": ["sex"]}, "R014"),
        ({"sampleShare": 0.001, "stratifiedBy": ["sex"]}, "R014"),
        ({"sampleShare": 1e-12}, "R014"),
        ({"sampleSize": 5, "privacyUnit": "age", "stratifiedBy": ["id"]}, "R014"),
    ],
    ids=str,
)
def test_what_cannot_be_sampled_is_refused_and_nothing_is_written(asked, code, tmp_path):
    assert refused(people(), tmp_path, **{**ALONE, **asked})[0] == code


def test_columns_that_cannot_be_masked_are_told_with_strata_that_are_too_small(tmp_path):
    asked = {"sampleSize": 1, "stratifiedBy": ["sex"], "method": "masking", "insensitive": ["sex"]}
    capped = column("age", masking="top-coding", threshold=1000)
    assert refused(people(), tmp_path, masked=[capped], **asked) == ["R014", "R013"]
    fine = column("age", masking="rounding", base=10)
    assert refused(people(), tmp_path, masked=[fine], **asked) == ["R014"]


def test_a_name_of_weights_that_the_data_have_is_told_with_its_place(tmp_path):
    text = asking(**ALONE, sampleShare=0.5, weightColumn="row").replace("{", "{\n")
    (tmp_path / "policy.jsonld").write_text(text)
    with pytest.raises(PlanError, match="name of a column made of 'row'") as told:
        apply_policy(tmp_path / "policy.jsonld", {DATASET: people()})
    [problem] = told.value.problems
    assert '"row"' in text.splitlines()[problem.place.line - 1]
    assert str(told.value).startswith(str(tmp_path / f"policy.jsonld:{problem.place.line}:"))


L_DIVERSE = {"method": "l-diversity", "l": 2, "k": 2, "quasi": ["id"], "sensitive": ["age"]}
ROUNDED = [{"@id": f"{DATASET}/age", "pe:masking": "rounding", "pe:base": 10}]


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "masking", "masked": ROUNDED},
        {"method": "masking", "redact": ["age"], "insensitive": ["id"]},
        {"method": "k-anonymity", "k": 2, "quasi": ["age"]},
        {**L_DIVERSE, "algorithm": "bucketization"},
    ],
    ids=str,
)
def test_weights_that_would_tell_a_value_that_is_not_published_are_refused(asked):
    weights = {"sampleShare": 0.5, "stratifiedBy": ["age"], "weightColumn": "weight"}
    with pytest.raises(PlanError, match="The weight of a row would tell its value of 'age'"):
        transformations(read_policy(asking(**asked, **weights)))


def test_weights_tell_strata_that_are_published():
    weights = {"sampleShare": 0.5, "stratifiedBy": ["age"], "weightColumn": "weight"}
    [found] = transformations(read_policy(asking(**L_DIVERSE, **weights)))
    assert found.sampling.weight_column == "weight"


SUPPRESSING = {
    **CLASSES,
    "algorithm": "full-domain",
    "maxSuppression": 0.9,
    "sampleShare": 0.5,
}


def test_the_certificate_of_a_sample_does_not_tell_how_many_rows_were_suppressed(tmp_path):
    pa_table = {"age": [*[1] * 60, *[2] * 60, 3, 4], "sex": ["f", "m"] * 61}
    pd.DataFrame(pa_table).to_csv(tmp_path / "in.csv", index=False)
    asked = {**SUPPRESSING, "stratifiedBy": ["sex"]}
    made = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", key=KEY, **asked)
    assert made.certificate.sample == SampleFigures(units="rows")
    assert made.record.sampled == 62
    for data in (None, {DATASET: tmp_path / "in.csv"}):
        assert certify_output(made.path, asking(**asked), data=data).sample.rows is None
    document = json.loads(made.certificate.to_jsonld())
    document["pe:certificate"]["sample"]["rows"] = 62
    with pytest.raises(CertificateError, match=r"V005 .* tells more of its sample than the output"):
        read_certificate(json.dumps(document))


def test_strata_that_the_output_does_not_show_are_not_counted():
    asked = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": ["id"]}
    made = applied(people(), sampleShare=0.5, stratifiedBy=["age"], key=KEY, **asked)
    assert (made.certificate.sample.strata, made.certificate.sample.units) == (None, "rows")


def test_a_sample_is_compared_by_its_certificate(made):
    release, data, asked = made
    found = compare_release(data, release.path)
    assert (found.sampled, found.suppressed) == (release.certificate.sample.rows, 0)
    for one in release.path.parent.glob("*.jsonld"):
        one.unlink()
    with pytest.raises(PlanError, match="M004 The release is a sample, and how many rows"):
        compare_release(data, release.path, policy=asked)


# -- what is said of it ---------------------------------------------------------------------------


def test_other_bounds_are_explored_with_the_sample():
    runs = explore_policy(
        asking(sampleSize=90, **CLASSES), {DATASET: pa.table(people())}, {"k": [3, 45]}
    )
    assert [run.outcome.classes <= 30 for run in runs] == [True, True]
    assert runs[1].outcome.classes <= 2


def test_a_plan_tells_its_sample():
    plan = make_plan(read_policy(asking(sampleShare=0.25, **PERSONS)))
    assert [step.step for step in plan.steps] == ["read", "drop", "sample", "anonymize", "publish"]
    cells = [list(one.cells) for one in plan_table(plan).columns]
    [row] = [row for row in zip(*cells, strict=True) if row[0] == "sample"]
    assert row == ("sample", "persons by id", "0.25 of all")


def test_a_weight_tells_of_all_columns():
    plan = make_plan(read_policy(asking(sampleShare=0.25, weightColumn="w", **ALONE)))
    assert target_columns(plan, OUTPUT, [f"{OUTPUT}/sex"]) == (f"{DATASET}/sex",)
    assert set(target_columns(plan, OUTPUT, [f"{OUTPUT}/w"])) == {f"{DATASET}/id", f"{DATASET}/sex"}


def test_a_smaller_sample_shows_less():
    old, new = (read_policy(asking(sampleShare=share, **ALONE)) for share in (0.5, 0.25))
    [change] = compare_policies(old, new).changes
    assert (change.what, change.tendency) == ("sampleShare of anonymize changed", "narrows")


@pytest.mark.parametrize(
    ("owner", "maker", "short"),
    [
        ({"sampleShare": 0.5}, {"sampleShare": 0.25}, 0),
        ({"sampleShare": 0.5}, {"sampleShare": 0.75}, 1),
        ({"sampleShare": 0.5}, {}, 1),
        ({"sampleShare": 0.5}, {"sampleSize": 5}, 1),
        ({"sampleSize": 50}, {"sampleSize": 5}, 0),
        ({"sampleSize": 5}, {"sampleSize": 50}, 1),
        ({"sampleSize": 50}, {"sampleSize": 5, "stratifiedBy": ["sex"]}, 1),
        ({"sampleSize": 50}, {"sampleSize": 5, "weightColumn": "w"}, 1),
        ({}, {"sampleSize": 5}, 0),
    ],
)
def test_at_most_the_sample_that_an_owner_lets_be_released_is_released(owner, maker, short):
    action = anonymize(**CLASSES, **owner)
    rule = permission(action=action, output=None, assigner="http://x.org/owner")
    [consent] = consents(read_policy(policy([rule])))
    [transformation] = transformations(read_policy(asking(**CLASSES, **maker)))
    assert len(shortfalls(consent, transformation, DATASET)) == short


def test_rows_are_sampled_after_a_join(tmp_path):
    other = "http://x.org/Claims"
    frame = pd.DataFrame(people(40))
    frame.drop_duplicates("id")[["id", "sex"]].to_csv(tmp_path / "a.csv", index=False)
    claims = pd.DataFrame({"pid": range(20, 60), "cost": range(40)})
    claims.to_csv(tmp_path / "b.csv", index=False)
    action = anonymize(
        method="masking", insensitive=["sex", "cost"], stratifiedBy=["sex"], sampleShare=0.5,
        joinOn=["id", "pid"],
    )  # fmt: skip
    text = json.dumps(action)
    for name in ("cost", "pid"):
        text = text.replace(f"{DATASET}/{name}", f"{other}/{name}")
    rule = permission(action=json.loads(text), target=[DATASET, other], output=OUTPUT)
    data = {DATASET: tmp_path / "a.csv", other: tmp_path / "b.csv"}
    made = apply_policy(policy([rule]), data)
    # Of 13 and 7 joined rows, a half each, rounded up.
    assert (made.record.rows_in, made.record.sampled) == (20, 7 + 4)
    assert made.certificate.sample.strata == 2


@pytest.mark.parametrize(("size", "is_whole"), [(180, True), (179, False)])
def test_a_sample_of_all_rows_is_told_to_hide_nobody(size, is_whole):
    made = applied(people(), sampleSize=size, key=KEY, **ALONE)
    told = ["The sample has all 180 rows: it leaves none out, and hides nobody."]
    assert list(made.release.doubts) == (told if is_whole else [])
