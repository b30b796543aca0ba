import json

import pyarrow as pa
import pytest
from pyarrow import csv
from typer.testing import CliRunner

from policy_engine.cli.commands import make_app


@pytest.fixture
def files(tmp_path):
    (tmp_path / "in.csv").write_text("row,age\n1,20\n2,30\n3,40\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.csv").write_text("row,age\n3,41\n1,22\n")
    return [str(tmp_path / "in.csv"), str(tmp_path / "out" / "a.csv")]


def run(*arguments):
    return CliRunner().invoke(make_app("audit"), ["audit", "disclosure", *arguments])


def test_the_verdict_comes_first(files, tmp_path):
    told = run(*files, "--match", "row", "--out", str(tmp_path / "audit"))
    assert told.exit_code == 0, told.output
    first = " ".join(told.output.split())
    assert "An intruder who knows age and takes the nearest record finds 66.7% of the" in first
    assert "columns known: 1: age guessing finds 50.0% of the persons" in first
    assert "Guessing finds 50.0%." in first
    assert "not run: likelihood-linkage, since no certificate tells" in first
    assert sorted(one.name for one in (tmp_path / "audit").iterdir()) == [
        "disclosure.html",
        "disclosure.json",
    ]


def test_figures_are_printed_as_json(files):
    told = run(*files, "--match", "row", "--format", "json")
    audit = json.loads(told.stdout)
    assert (audit["rows"], audit["released"], audit["paired"]) == (3, 2, 2)
    assert audit["attacks"][0]["attack"] == "distance-linkage"
    assert audit["attacks"][0]["linked"]["value"] == round(2 / 3, 5)


def test_rows_that_nobody_can_match_are_refused(files):
    told = run(*files)
    assert told.exit_code != 0


def test_some_attacks_are_made_alone(files):
    told = run(*files, "--match", "row", "--attack", "assignment-linkage", "--format", "json")
    audit = json.loads(told.stdout)
    assert [one["attack"] for one in audit["attacks"]] == ["assignment-linkage"]
    assert audit["not_run"] == []


def test_attacks_that_are_not_known_are_refused(files):
    told = run(*files, "--match", "row", "--attack", "nearest")
    assert told.exit_code != 0
    assert "A012" in str(told.exception)


def test_risks_are_told_where_no_row_can_be_matched(files, tmp_path):
    (tmp_path / "out" / "a.csv").write_text("row,age\n3,40\n1,20\n")
    told = run(*files, "--known", "age", "--sensitive", "row")
    assert told.exit_code == 0, told.output
    said = " ".join(told.output.split())
    assert "prosecutor-mean" in said
    assert "no figure: marketer, journalist, k-map, presence, since no population is given" in said
    assert "not run: distance-linkage, value-linkage, exact-linkage," in said


def test_rows_are_matched_by_their_order(files):
    told = run(files[0], files[0], "--same-order", "--attack", "distance-linkage")
    assert told.exit_code == 0, told.output
    assert "Rows were matched by their order" in " ".join(told.output.split())


def test_a_threshold_that_is_no_risk_is_refused(files):
    told = run(*files, "--known", "age", "--threshold", "1")
    assert told.exit_code != 0
    assert not isinstance(told.exception, AssertionError)


def test_a_cluster_is_not_for_the_local_engine(files):
    assert run(*files, "--known", "age", "--master", "local[1]").exit_code != 0


def test_everything_that_is_asked_for_is_told(files, tmp_path):
    release = files[1]
    others = tmp_path / "others.csv"
    others.write_text("age\n20\n90\n")
    records = tmp_path / "records.csv"
    told = run(*files, "--match", "row", "--also", release, "--holdout", str(others),
               "--records", str(records), "--attack", "distance-linkage")  # fmt: skip
    assert told.exit_code == 0, told.output
    text = " ".join(told.output.split())
    assert "Of 2 persons who were never in the original, the attack seems to find 50.0%." in text
    assert "homogeneity, attribute-inference, since no column is named as sensitive" in text
    assert "risk and utility of the releases" in text
    assert "adds no class: no known column is sure" in text
    assert f"written, for its owner alone: {records}" in told.output.replace("\n", "")
    assert records.read_text().splitlines()[0] == "row,distance-linkage"


def test_it_is_told_where_nobody_knows_what_a_release_adds(tmp_path):
    (tmp_path / "in.csv").write_text("row,age\n1,20\n2,30\n3,40\n")
    (tmp_path / "bare.csv").write_text("age\n20\n30\n40\n")
    files, bare = [str(tmp_path / "in.csv")] * 2, str(tmp_path / "bare.csv")
    options = ["--known", "age", "--attack", "distance-linkage"]
    said = " ".join(run(*files, *options, "--also", bare).output.split())
    assert "What other releases add to in.csv is not known: none of its columns is known" in said
    assert "What bare.csv adds is not known: none of its columns is known to tell whose" in said


def test_answers_to_queries_have_a_row_each(tmp_path):
    (tmp_path / "in.csv").write_text("row,age\n0,20\n1,21\n2,22\n")
    (tmp_path / "out.csv").write_text("row,age\n0,[20 - 22]\n1,[20 - 22]\n2,[20 - 22]\n")
    (tmp_path / "log.sql").write_text("SELECT avg(pay) FROM t WHERE age < 22")
    files = [str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), "--match", "row"]
    files += ["--answered", str(tmp_path / "log.sql"), "--attack", "distance-linkage"]
    assert "Q004 Query 1: There is no column 'pay' in 't'." in str(run(*files).exception)
    (tmp_path / "log.sql").write_text("SELECT count(*) FROM t WHERE age < 22")
    text = " ".join(run(*files).output.split())
    assert "query 1 │ age │ 66.7% │ 1 │ 1 │ 2 │ 1 (out.csv)" in text
    assert "1 of 3 persons are alone there, 0 before: differences" in text
    (tmp_path / "log.sql").write_text("SELECT count(*) FROM t WHERE age < 30")
    text = " ".join(run(*files).output.split())
    assert "0 of 3 persons are alone there, 0 before. " in text


def test_an_attack_has_a_row_and_a_number_of_known_columns_a_column(tmp_path, monkeypatch):
    names = ["age", "weight", "height", "income", "children"]
    table = {name: [(row * (at + 3)) % 11 for row in range(8)] for at, name in enumerate(names)}
    before = pa.table({"row": range(8), **table})
    csv.write_csv(before, tmp_path / "in.csv")
    csv.write_csv(before, tmp_path / "out.csv")
    monkeypatch.setattr("policy_engine.cli.tables.tables.PIPED", 80)
    told = run(str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), "--match", "row",
               "--attack", "distance-linkage")  # fmt: skip
    lines = told.output.splitlines()
    assert max(map(len, lines)) <= 80
    heads = [line.split("┃")[2:-1] for line in lines if line.startswith("┃ attack")]
    assert [len(one) for one in heads] == [4, 1]
    assert "columns known: 1: age, 2: + children, 3: + height, 4: + income, 5: + weight" in lines


def test_known_columns_are_in_the_order_of_how_much_they_tell(tmp_path):
    (tmp_path / "in.csv").write_text("row,sex,age\n1,f,20\n2,m,30\n3,f,40\n4,m,50\n")
    files = [str(tmp_path / "in.csv"), str(tmp_path / "in.csv")]
    told = run(*files, "--match", "row", "--known", "sex", "--known", "age",
               "--attack", "distance-linkage")  # fmt: skip
    assert "columns known: 1: age, 2: + sex" in told.output
    assert "easiest" not in run("--help").output
