"""The command that answers queries under a policy of output checks."""

import json
from itertools import count

import pytest
from typer.testing import CliRunner

from policy_engine.cli.commands import make_app
from policy_engine.decision.query.checking import checked_answer
from policy_engine.decision.query.checking.gathering_evidence import gather_answer
from policy_engine.release.output_ledger import OutputLedger

DATA, RESEARCHER = "http://example.com/T", "http://example.com/researcher"
POLICY = {
    "@context": [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ],
    "@type": "Set",
    "uid": "http://example.com/policy",
    "permission": [
        {
            "assignee": RESEARCHER,
            "target": DATA,
            "action": [
                {
                    "rdf:value": {"@id": "odrl:read"},
                    "refinement": [
                        {
                            "leftOperand": "pe:outputCheck",
                            "operator": "eq",
                            "rightOperand": "sacro",
                        }
                    ],
                }
            ],
        }
    ],
}


@pytest.fixture
def query_alone(tmp_path):
    """Return a function that asks about 40 persons of the north, 30 of the south and 4 others."""
    rows = ["north"] * 40 + ["south"] * 30 + ["west"] * 4
    (tmp_path / "t.csv").write_text(
        "region,age\n" + "".join(f"{r},{i}\n" for i, r in enumerate(rows))
    )
    (tmp_path / "policy.jsonld").write_text(json.dumps(POLICY))

    def run(sql, *options):
        files = ("--policy", tmp_path / "policy.jsonld", "--data", f"{DATA}={tmp_path / 't.csv'}")
        return CliRunner().invoke(
            make_app("query"),
            ["query", sql, "--assignee", RESEARCHER, *map(str, files), *map(str, options)],
        )

    return run


@pytest.fixture
def query(query_alone, tmp_path):
    """Return a function that asks with a ledger, of its own unless one is given."""
    numbers = count()

    def run(sql, *options):
        own = () if "--ledger" in options else ("--ledger", tmp_path / f"own-{next(numbers)}")
        return query_alone(sql, *own, *options)

    return run


BY_REGION = "SELECT region, COUNT(*) AS n FROM T GROUP BY region"


def test_suppressed_cells_are_null_and_listed_with_their_codes(query):
    result = query(BY_REGION, "--format", "json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert answer["rows"] == [
        {"region": "north", "n": 40},
        {"region": "south", "n": None},
        {"region": "west", "n": None},
    ]
    assert answer["suppressed"] == [
        {
            "row": row,
            "column": "n",
            "keys": {"region": region},
            "outcome": "suppressed",
            "codes": ["K049"],
        }
        for row, region in ((1, "south"), (2, "west"))
    ]
    assert (answer["verdict"], answer["profile"]) == ("released", "sacro 1.0")


def test_terminal_marks_suppressed_cells_and_says_why(query):
    text = query(BY_REGION).stdout
    assert "suppressed (K049)" in text
    assert "K049 The cell is withheld, for itself or for what it would tell of others." in text


def test_exit_is_1_where_nothing_is_released(query):
    few = query(f"{BY_REGION} HAVING region = 'west'", "--format", "json")
    assert few.exit_code == 1
    nothing = query("SELECT COUNT(*) AS n FROM T WHERE age > 70", "--format", "json")
    assert nothing.exit_code == 1
    assert json.loads(nothing.stdout)["rows"] == [{"n": None}]
    assert query("SELECT age FROM T").exit_code == 1


def test_ledger_of_answers_holds_the_next_one_against_the_first(query, tmp_path):
    ledger = tmp_path / "answers"
    assert query("SELECT COUNT(*) AS n FROM T", "--ledger", ledger).exit_code == 0
    result = query("SELECT COUNT(*) AS n FROM T WHERE age <> 7", "--ledger", ledger)
    assert result.exit_code == 1
    assert "K049" in result.stdout


def test_without_a_ledger_an_answer_is_refused_in_a_sentence(query_alone):
    result = query_alone("SELECT COUNT(*) AS n FROM T")
    assert (result.exception.code, result.exception.exit_code) == ("K023", 2)
    assert "output_ledger=FILE" in str(result.exception)


def test_dry_run_says_what_would_be_checked_and_needs_no_ledger(query_alone):
    result = query_alone("SELECT COUNT(*) AS n FROM T", "--dry-run", "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["check"]["profile"] == "sacro 1.0"
    text = query_alone("SELECT COUNT(*) AS n FROM T", "--dry-run")
    assert "would be checked by sacro 1.0, with rows as units" in text.stderr


def test_evidence_is_a_file_that_its_owner_alone_can_read(query, tmp_path):
    path, ledger, log = tmp_path / "evidence.json", tmp_path / "answers", tmp_path / "log.jsonl"
    options = ("--evidence", path, "--ledger", ledger, "--log", log, "--format", "json")
    printed = query(BY_REGION, *options).stdout
    assert path.stat().st_mode & 0o777 == 0o600
    evidence = json.loads(path.read_text())
    west = evidence["cells"][2]
    assert (west["keys"], west["value"], west["codes"]) == ({"region": "west"}, 4, ["K002"])
    assert west["evidence"][0]["units"] == 4
    assert evidence["cells"][0]["outcome"] == "released"
    assert (evidence["query"], evidence["check"]["profile"]["min_units"]) == (BY_REGION, 10)
    assert "evidence" not in printed
    assert "min_units" not in printed
    [_, entry] = OutputLedger(ledger).history()
    assert (entry.number, entry.hash) == (evidence["ledger"]["number"], evidence["ledger"]["hash"])
    [decision] = map(json.loads, log.read_text().splitlines())
    assert entry.output.name == f"sacro 1.0, decision {decision['number']}:{decision['hash']}"
    assert (entry.output.released, entry.output.suppressed) == (1, 2)


def test_evidence_is_never_printed(query):
    result = query(BY_REGION, "--evidence", "/dev/stdout")
    assert result.exception.code == "O001"
    assert result.stdout == ""


def test_evidence_replaces_no_file_unless_it_may(query, tmp_path):
    path = tmp_path / "evidence.json"
    path.write_text("mine")
    assert query(BY_REGION, "--evidence", path).exception.code == "O001"
    assert path.read_text() == "mine"
    assert query(BY_REGION, "--evidence", path, "--overwrite").exit_code == 0


def test_owner_is_told_what_protecting_an_answer_would_cost(query_alone):
    """Of three regions, one has four persons: of 40, 30 and 4, the last would be 5."""
    costs = json.loads(query_alone(BY_REGION, "--alternatives", "--format", "json").stdout)
    assert (costs["measure"], costs["cells"], costs["primary"]) == ("n", 3, 1)
    assert [one["blank_cells"] for one in costs["alternatives"]] == [1, 0, 0, 0, 0]
    assert costs["others"] == []
    assert costs["alternatives"][1]["cell_error"] == pytest.approx(1 / 3)
    assert "33%" in costs["suggestion"]
    text = query_alone(BY_REGION, "--alternatives").stdout
    assert "round to 5" in text
    assert "for the owner" in text


def test_costs_of_every_figure_are_told_with_noise_by_an_epsilon(query_alone):
    sql = BY_REGION.replace("COUNT(*) AS n", "COUNT(*) AS n, AVG(age) AS m")
    options = ("--alternatives", "--epsilon", "0.5")
    costs = json.loads(query_alone(sql, *options, "--format", "json").stdout)
    assert (costs["measure"], [one["measure"] for one in costs["others"]]) == ("n", ["m"])
    assert costs["alternatives"][4]["name"] == "differential privacy, epsilon 0.5"
    text = query_alone(sql, *options).stdout
    assert "n: 1 of 3 cells do not pass" in text
    assert "m: 1 of 3 cells do not pass" in text


def test_costs_are_not_written_where_rows_would_be(query_alone, tmp_path):
    result = query_alone(BY_REGION, "--alternatives", "--output", tmp_path / "costs.csv")
    assert (result.exception.code, result.exception.exit_code) == ("D003", 2)
    assert not (tmp_path / "costs.csv").exists()


def test_new_ledger_is_told_with_its_head_and_another_one_is_refused(query_alone, tmp_path):
    """A mistyped path makes a new ledger, by which no earlier answer counts."""
    options = ("--ledger", tmp_path / "outputs", "--format", "json")
    first = query_alone(BY_REGION, *options)
    told = json.loads(first.stdout)["ledger"]
    assert told["begun"]
    assert first.exit_code == 0
    assert f"a new ledger was begun, so no earlier answer counted; its head is {told['head']}" in (
        first.stderr
    )
    second = query_alone(BY_REGION, *options, "--expect", told["head"])
    assert second.exit_code == 0
    assert not json.loads(second.stdout)["ledger"]["begun"]
    assert "new ledger" not in second.stderr
    other = tmp_path / "outptus"
    mistyped = query_alone(BY_REGION, "--ledger", other, "--expect", told["head"])
    assert (mistyped.exception.code, mistyped.exception.exit_code) == ("K033", 2)
    assert mistyped.stdout == ""
    assert not other.exists()
    assert query_alone(BY_REGION, "--ledger", other).exit_code == 0
    refused = query_alone(BY_REGION, "--ledger", other, "--expect", told["head"])
    assert refused.exception.code == "K033"


def test_what_is_no_head_and_a_head_of_no_ledger_are_refused(query_alone, tmp_path):
    other = query_alone(BY_REGION, "--ledger", tmp_path / "outputs", "--expect", "x y")
    assert other.exception.code == "U001"
    assert query_alone(BY_REGION, "--expect", "1").exception.code == "U001"


def test_data_that_changes_while_it_is_answered_about_is_noticed(
    query_alone, tmp_path, monkeypatch
):
    """Somebody adds a row between what is read for the answer and for the ledger."""
    ledger = tmp_path / "outputs"

    def changed(*arguments):
        with (tmp_path / "t.csv").open("a") as file:
            file.write("north,99\n")
        return gather_answer(*arguments)

    monkeypatch.setattr(checked_answer, "gather_answer", changed)
    result = query_alone(BY_REGION, "--ledger", ledger)
    assert (result.exception.code, result.exception.exit_code) == ("K051", 2)
    assert result.stdout == ""
    assert not ledger.exists()
    monkeypatch.undo()
    assert query_alone(BY_REGION, "--ledger", ledger).exit_code == 0
