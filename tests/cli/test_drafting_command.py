import json
import sqlite3
from contextlib import closing

import pytest
from typer.testing import CliRunner

from policy_engine.cli import app, questions
from policy_engine.cli import drafting as command
from policy_engine.errors import OutputError, RequestError

ROWS = "zip,age,status\n" + "".join(
    f"{20_100 + n % 70},{20 + n % 50},{'paid' if n % 3 else 'due'}\n" for n in range(200)
)


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loans.csv").write_text(ROWS)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, ["init", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_init_writes_a_policy_and_says_what_comes_next(data):
    result = run("loans.csv", "--yes")
    assert result.exit_code == 0
    assert "policy-engine apply loans.yaml --data loans.csv --output release" in result.output
    assert (data / "loans.yaml").exists()
    assert (data / "loans-tests.yaml").exists()


def test_init_calls_a_policy_as_the_table_of_a_database(data):
    with closing(sqlite3.connect(data / "bank.db")) as database:
        database.execute("CREATE TABLE loans (zip TEXT, age INTEGER)")
        database.executemany(
            "INSERT INTO loans VALUES (?, ?)", [(f"{n % 9}", n) for n in range(90)]
        )
        database.commit()
    result = run("sqlite:bank.db#loans", "--yes", "--k", "2")
    assert "apply loans.yaml --data 'sqlite:bank.db#loans' --output release" in result.output


@pytest.mark.usefixtures("data")
def test_init_tells_programs_what_it_proposes():
    answer = json.loads(run("loans.csv", "--yes", "--json", "--k", "4").stdout)
    assert (answer["policy"], answer["k"]) == ("loans.yaml", 4)
    parts = {one["name"]: one["part"] for one in answer["columns"]}
    assert parts == {"zip": "quasi-identifier", "age": "quasi-identifier", "status": "sensitive"}


def test_init_does_not_write_over_its_data(data):
    with pytest.raises(OutputError, match="O001"):
        run("loans.csv", "--yes", "--output", "loans.csv", "--overwrite")
    assert [path.name for path in data.iterdir()] == ["loans.csv"]
    assert (data / "loans.csv").read_text() == ROWS


def test_init_asks_on_a_terminal_alone(data):
    with pytest.raises(RequestError, match="--yes"):
        run("loans.csv")
    assert not (data / "loans.yaml").exists()


def test_init_takes_the_answers_of_a_person(data, monkeypatch):
    answers = {"identifier": [], "quasi-identifier": ["age"], "sensitive": []}
    monkeypatch.setattr(command, "_is_terminal", lambda: True)
    monkeypatch.setattr(questions, "_chosen", lambda _text, _columns, part: answers[part])
    monkeypatch.setattr(questions, "_text", lambda _question, proposed: proposed)
    run("loans.csv")
    text = (data / "loans.yaml").read_text()
    assert "method: k-anonymity" in text
    assert "#   zip: You said so." in text
