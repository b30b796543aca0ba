import json
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from building import DATASET, OUTPUT, PEOPLE, anonymize, people_policy

import policy_engine
from policy_engine import apply_policy, certify_output, check_policy, load_policy
from policy_engine.api.planning import plan_policy
from policy_engine.errors import (
    ArgumentError,
    CertificateError,
    DataError,
    OutputError,
    PlanError,
    PolicyEngineError,
    PolicyError,
)

ROWS = pacsv.read_csv(pa.BufferReader(PEOPLE.encode()))
FORMS = {
    "pyarrow": ROWS,
    "pandas": ROWS.to_pandas(),
    "polars": pl.from_arrow(ROWS),
    "pandas-indexed": ROWS.to_pandas().set_index("phone", drop=False),
    "batches": pa.RecordBatchReader.from_batches(ROWS.schema, ROWS.to_batches()),
}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_tables_of_every_kind_give_the_same_output(people, form):
    from_file = apply_policy(people / "policy.jsonld", {DATASET: people / "people.csv"})
    release = apply_policy(people / "policy.jsonld", {DATASET: FORMS[form]})
    assert release.table.equals(from_file.table)
    assert release.path is None


def test_the_output_is_at_hand_in_every_kind(people):
    release = apply_policy(people / "policy.jsonld", {DATASET: ROWS})
    assert isinstance(release.to_pandas(), pd.DataFrame)
    assert isinstance(release.to_polars(), pl.DataFrame)
    assert release.table.column_names == ["age", "city", "disease"]
    assert release.table["age"].to_pylist()[0] == "[20 - 21]"


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_of_a_package_that_is_not_there_are_told(people, monkeypatch, package):
    release = apply_policy(people / "policy.jsonld", {DATASET: ROWS})
    monkeypatch.setattr("policy_engine.api.verified_release.find_spec", lambda _name: None)
    with pytest.raises(DataError, match="C011"):
        getattr(release, f"to_{package}")()


def test_columns_kept_have_their_type(people):
    text = people_policy().replace("People/disease", "People/phone")
    (people / "typed.jsonld").write_text(text)
    release = apply_policy(people / "typed.jsonld", {DATASET: people / "people.csv"})
    assert release.table.schema.field("phone").type == pa.int64()


def test_a_release_in_memory_can_be_written_and_is_measured_again(people):
    release = apply_policy(people / "policy.jsonld", {DATASET: ROWS})
    written = release.write(people / "out")
    assert written.path == people / "out" / "anonPeople.csv"
    assert written.certificate.output_digest != release.certificate.output_digest
    certify_output(people / "out", people / "policy.jsonld")
    with pytest.raises(OutputError, match="O001"):
        release.write(people / "out")


def test_a_release_from_a_file_is_written_the_same_again(released):
    data = {DATASET: released / "people.csv"}
    release = apply_policy(released / "policy.jsonld", data)
    release.write(released / "again")
    first, second = (released / name / "anonPeople.csv" for name in ("release", "again"))
    assert first.read_bytes() == second.read_bytes()


def test_progress_is_told_in_stages(people):
    told = []
    apply_policy(
        people / "policy.jsonld",
        {DATASET: ROWS},
        progress=lambda stage, done, total: told.append((stage, done, total)),
    )
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    expected = ["reading", "encoding", "partitioning", "generalising", "writing", "verifying"]
    assert [stage for stage in stages if "compiling" not in stage] == expected
    assert ("partitioning", 6, 6) in told


def test_a_policy_may_be_read_already(people):
    policy = load_policy(people / "policy.jsonld")
    assert check_policy(policy) is policy
    assert apply_policy(policy, {DATASET: ROWS}).certificate.holds


def test_a_plan_is_made_with_data_and_without(people):
    alone = plan_policy(people / "policy.jsonld")
    bound = plan_policy(people / "policy.jsonld", {DATASET: ROWS})
    assert (alone.read.location, bound.read.location) == ("", "memory")
    assert alone.anonymize == bound.anonymize
    assert bound.drop.unmentioned == ("phone",)


@pytest.mark.nightly
def test_a_release_says_what_was_suppressed(people):
    options = anonymize(algorithm="full-domain", maxSuppression=0.4)["refinement"]
    text = json.loads(people_policy())
    text["permission"][0]["action"]["refinement"] += options
    text["permission"][0]["action"]["refinement"][0]["rightOperand"] = "k-anonymity"
    text["permission"][0]["action"]["refinement"].pop(2)
    five = ROWS.slice(0, 5)
    release = apply_policy(text, {DATASET: five}, people / "out")
    assert (release.record.input.rows, release.certificate.rows_out) == (5, 4)
    assert release.record.suppressed == 1
    assert release.table.num_rows == 4
    assert certify_output(people / "out", text).rows_out == 4


def test_an_output_is_certified_however_it_was_made(people):
    rows = "[20 - 40],Rome,flu\n[20 - 40],Rome,cold\n"
    (people / "made.csv").write_text("age,city,disease\n" + rows)
    certificate = certify_output(people / "made.csv", people / "policy.jsonld")
    assert certificate.holds
    assert certificate.commitment is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("age,city,disease\n1,Rome,flu\n", "V001"),
        ("age,city,disease\n1,Rome,flu\n1,Rome,flu\n", "V001"),
        ("age,city,disease,name\n1,Rome,flu,Ann\n1,Rome,cold,Bob\n", "V002"),
        ("age,disease\n1,flu\n1,cold\n", "V002"),
        ('age,city,disease\n1,"{Rome",flu\n1,"{Rome",cold\n', "V002"),
        ("age,city,disease\n[1 - 2],Rome,flu\nabc,Rome,cold\n", "V002"),
    ],
    ids=["below-k", "below-l", "identifier", "lacks-a-column", "torn-set", "off-the-axis"],
)
def test_an_output_that_does_not_hold_is_refused(people, text, code):
    (people / "made.csv").write_text(text)
    with pytest.raises(CertificateError) as caught:
        certify_output(people / "made.csv", people / "policy.jsonld")
    assert code in {problem.code for problem in caught.value.problems}


@pytest.mark.parametrize("row", ["1,Rome,flu", '1,"{R",flu'], ids=["below-k", "torn-set"])
def test_of_an_edited_output_it_is_told_that_it_is_not_the_certified_one(released, row):
    file = released / "release" / "anonPeople.csv"
    file.write_text(f"age,city,disease\n{row}\n")
    with pytest.raises(CertificateError) as caught:
        certify_output(file, released / "policy.jsonld")
    *found, changed = [problem.code for problem in caught.value.problems]
    assert (changed, {"V001", "V002"} >= {*found}, found != []) == ("V004", True, True)


def test_another_file_beside_a_certificate_is_measured_for_itself(released):
    folder = released / "release"
    good = (folder / "anonPeople.csv").read_text()
    (folder / "good.csv").write_text(good)
    (folder / "anonPeople.csv").write_text(good.replace("flu", "cold"))
    assert certify_output(folder / "good.csv", released / "policy.jsonld").holds
    (folder / "certificate.jsonld").write_text("{}")
    assert certify_output(folder / "good.csv", released / "policy.jsonld").holds


def test_a_policy_may_be_given_as_json():
    text = people_policy()
    assert load_policy(text).uid == load_policy(json.loads(text)).uid == "http://x.org/policy"
    with pytest.raises(PolicyEngineError, match="U002"):
        load_policy(None)


def test_an_output_without_rows_is_refused(people):
    (people / "made.csv").write_text("age,city,disease\n")
    with pytest.raises(DataError, match="R001"):
        certify_output(people / "made.csv", people / "policy.jsonld")


def test_nothing_inside_imports_from_the_root():
    package = Path(policy_engine.__file__).parent
    modules = {path.stem for path in package.iterdir()} | {"__version__"}
    for path in package.rglob("*.py"):
        taken = re.findall(
            r"^ *from policy_engine import ([^#\n]*)", path.read_text(), re.MULTILINE
        )
        assert {name.strip() for line in taken for name in line.split(",")} <= modules, path


def test_the_root_offers_the_verbs_and_nothing_else():
    assert callable(policy_engine.apply_policy)
    assert issubclass(policy_engine.PolicyEngineError, Exception)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = policy_engine.nonsense


def test_child_of_a_policy_is_applied_with_its_parent(people, tmp_path):
    child = json.loads((people / "policy.jsonld").read_text())
    parent = {**child, "uid": "http://x.org/parent"}
    del child["permission"]
    child |= {"uid": "http://x.org/child", "inheritFrom": "http://x.org/parent"}
    (tmp_path / "parent.jsonld").write_text(json.dumps(parent))
    (tmp_path / "child.jsonld").write_text(json.dumps(child))
    data = {DATASET: people / "people.csv"}
    release = apply_policy(tmp_path / "child.jsonld", data, parents=[tmp_path / "parent.jsonld"])
    assert release.plan.policy == "http://x.org/child"


def test_of_several_policies_in_a_text_that_is_planned_which_asks_for_it(people, tmp_path):
    asking = json.loads((people / "policy.jsonld").read_text())
    other = {**asking, "uid": "http://x.org/other"}
    other["permission"] = {"target": DATASET, "action": "read"}
    (tmp_path / "both.jsonld").write_text(json.dumps([other, asking]))
    assert plan_policy(tmp_path / "both.jsonld").policy == asking["uid"]
    (tmp_path / "none.jsonld").write_text(json.dumps([other, {**other, "uid": "urn:x:y"}]))
    with pytest.raises(PolicyError, match=r"Of 2, 0 do"):
        plan_policy(tmp_path / "none.jsonld")


def test_a_release_shows_itself_in_few_words(people):
    release = apply_policy(people / "policy.jsonld", {DATASET: ROWS})
    assert repr(release) == (
        f"<VerifiedRelease {OUTPUT}, 6 rows: k 2 (at least 2), l 2 (at least 2) of disease>"
    )
    shown = release._repr_html_()
    assert shown.startswith("<table")
    assert "at least 2" in shown


def test_progress_ends_every_stage(people):
    told = []
    apply_policy(
        people / "policy.jsonld",
        {DATASET: ROWS},
        people / "out",
        progress=lambda *a: told.append(a),
    )
    stages = {stage for stage, _, _ in told if "compiling" not in stage}
    assert {stage for stage, done, total in told if done == total == 6} == stages


def test_an_engine_that_is_none_is_refused_before_spark_is_looked_for(people, monkeypatch):
    monkeypatch.setattr("policy_engine.engines.spark.session.check_pyspark", lambda: 1 / 0)
    with pytest.raises(PlanError, match=r"M003 engine .*'sparkk'. Allowed is 'local', 'spark' or"):
        apply_policy(people / "policy.jsonld", {DATASET: ROWS}, engine="sparkk")


@pytest.mark.parametrize("call", [(3,), (), ("x", "y")], ids=str)
def test_arguments_of_a_releases_methods_are_checked(people, call):
    release = apply_policy(people / "policy.jsonld", {DATASET: ROWS})
    with pytest.raises(ArgumentError, match="U002"):
        release.write(*call)
