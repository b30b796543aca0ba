"""A ledger that is gone, cut or without its key while the service runs: nothing is told by it."""

import shutil
import sqlite3
from types import SimpleNamespace

import pytest
from asking_statistics import DAYS, ROWS, UNITS, VISITS, policy_text
from output_checked import TABLE as DATA
from served import API, browser, code, service, signed_in
from test_dataset_routes import uploaded
from test_policy_routes import published
from test_review_routes import READER, ask, policy, table
from test_statistics_queries import LAB, LIMIT, TABLE
from test_statistics_queries import ask as ask_with_noise

from policy_engine.errors import PolicyEngineError
from policy_engine.service.files.keys import key_file
from policy_engine.service.resources.log_heads import budget_head
from policy_engine.service.runs.preparing import Preparation

COUNTS = "SELECT region, COUNT(*) AS n FROM T GROUP BY region"
NOISY = {"sql": "SELECT SUM(days) AS d FROM Visits", "epsilon": "0.5"}


@pytest.fixture
def reader(services):
    """A consumer of data, the answers about which are checked."""
    owner = signed_in(services, "owner", name="Olga")
    published(owner, policy())
    uploaded(owner, table(), "people.csv", DATA)
    return signed_in(services, "consumer", name="Rita", party=READER)


@pytest.fixture
def laboratory(services):
    """A consumer who may ask for statistics with noise."""
    owner = signed_in(services, "owner", name="Olga")
    rule = {"assignee": [LAB], "constraint": [LIMIT]}
    published(owner, policy_text(UNITS, ROWS, DAYS, rule=rule))
    uploaded(owner, TABLE.encode(), "visits.csv", VISITS)
    return signed_in(services, "consumer", name="Laboratory", party=LAB)


def query(client, sql, **more):
    return client.post(f"{API}/queries", json={"sql": sql, **more})


def readiness(services):
    answer = browser(services).get("/readyz")
    return answer.status_code, answer.text


def cut(path, table):
    """Take the last entry away, as an older copy of the file lacks it."""

    with sqlite3.connect(path) as connection:
        connection.execute(f"DELETE FROM {table} WHERE number = (SELECT max(number) FROM {table})")
    connection.close()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("is_gone", [True, False])
def test_no_query_is_checked_by_a_ledger_of_answers_that_lacks_what_was_answered(
    services, reader, is_gone
):
    assert ask(reader, COUNTS)["permitted"]
    ledger = services.settings.folder / "outputs.sqlite"
    if is_gone:
        ledger.unlink()
    else:
        cut(ledger, "outputs")
    answer = query(reader, COUNTS)
    assert code(answer) == (409, "K033")
    assert "rows" not in answer.json()
    assert ledger.exists() is not is_gone
    assert ("ledger of answers" in readiness(services)[1]) is is_gone


@pytest.mark.nightly
def test_a_ledger_of_answers_that_is_restored_is_used_again(services, reader, tmp_path):
    ledger = services.settings.folder / "outputs.sqlite"
    ask(reader, COUNTS)
    shutil.move(ledger, tmp_path / "kept")
    assert code(query(reader, COUNTS)) == (409, "K033")
    shutil.move(tmp_path / "kept", ledger)
    assert ask(reader, COUNTS)["permitted"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("is_gone", [True, False])
def test_no_budget_is_spent_by_a_ledger_that_lacks_what_was_spent(services, laboratory, is_gone):
    assert ask_with_noise(laboratory)["permitted"]
    path = services.budgets.path
    if is_gone:
        shutil.rmtree(path.parent)
    else:
        cut(path, "charges")
    assert code(laboratory.post(f"{API}/queries", json=NOISY)) == (409, "B004")
    assert code(laboratory.get(f"{API}/me/budgets")) == (409, "B004")
    assert path.exists() is not is_gone
    assert ("ledger of budgets" in readiness(services)[1]) is is_gone
    with pytest.raises(PolicyEngineError, match="B004"):
        services.budgets.ledger  # noqa: B018 (decisions ask it, too)


def test_what_a_run_spent_is_remembered(services, laboratory):
    assert ask_with_noise(laboratory)["permitted"]
    head = budget_head(services.budgets.folders)
    head.path.unlink()
    Preparation.note_spent(SimpleNamespace(folders=services.budgets.folders))
    assert head.kept() == head.kind.entry(head.log, None)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "noun"), [("outputs", "outputs.sqlite"), ("decisions", "decisions.sqlite")]
)
def test_no_key_is_made_in_the_place_of_one_that_was_lost(services, reader, name, noun):
    ask(reader, COUNTS)
    key = services.settings.folder / "keys" / f"{name}.key"
    key.unlink()
    answer = query(reader, COUNTS)
    assert code(answer) == (503, "N013")
    assert f"The key of {noun} is lost" in answer.text
    assert not key.exists()
    assert readiness(services)[0] == 503
    (services.settings.folder / noun).unlink()
    assert code(query(reader, COUNTS)) == (503, "N013")  # what is known of its end is still there
    assert not key.exists()


def test_no_key_of_budgets_is_made_in_the_place_of_one_that_was_lost(services, laboratory):
    assert ask_with_noise(laboratory)["permitted"]
    (services.settings.folder / "keys" / "budgets.key").unlink()
    assert code(laboratory.post(f"{API}/queries", json=NOISY)) == (503, "N013")
    assert readiness(services)[0] == 503


def test_no_key_of_reviews_is_made_in_the_place_of_one_that_was_lost(services, reader):
    assert ask(reader)["review"]
    (services.settings.folder / "keys" / "reviews.key").unlink()
    with pytest.raises(PolicyEngineError, match="N013"):
        services.reviews.records.key  # noqa: B018


def test_a_service_that_has_not_begun_a_ledger_misses_none(tmp_path):
    with service(tmp_path, runs_at_once=0) as services:
        assert readiness(services)[0] == 200
        key_file(tmp_path, "outputs", of=tmp_path / "outputs.sqlite")
        assert readiness(services)[0] == 200
