"""The examples of pipelines: their tasks and models by day, in Airflow and dbt by night."""

import importlib.util
import os
import shutil
import subprocess
import sys
import types

import duckdb
import pytest
from places import ROOT

from policy_engine import PolicyEngineError

PIPELINES = ROOT / "pipelines"
PEOPLE = PIPELINES / "dbt" / "seeds" / "people.csv"
POLICY = PIPELINES / "people.policy.yaml"
PROGRAMS = ROOT / ".venv-pipelines" / "bin"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copy(PEOPLE, tmp_path)
    monkeypatch.setenv("PEOPLE_POLICY", str(POLICY))
    monkeypatch.setenv("PEOPLE_FOLDER", str(tmp_path))
    return tmp_path


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def _airflow(monkeypatch):
    """Airflow, of which a DAG runs its tasks at once."""
    sdk = types.ModuleType("airflow.sdk")
    sdk.dag, sdk.task = (lambda **_: lambda function: function), (lambda function: function)
    monkeypatch.setitem(sys.modules, "airflow", types.ModuleType("airflow"))
    monkeypatch.setitem(sys.modules, "airflow.sdk", sdk)


@pytest.mark.usefixtures("_airflow")
def test_the_tasks_of_the_dag_release_the_people_of_a_day(folder, capsys):
    loaded(PIPELINES / "airflow" / "release_people.py")
    [release] = folder.glob("released-*")
    assert {one.name for one in release.iterdir()} == {
        "PeopleForAnalysts.csv",
        "certificate.jsonld",
    }
    assert "k 5 (at least 5)" in capsys.readouterr().out


@pytest.mark.usefixtures("_airflow")
def test_the_dag_fails_and_writes_nothing_where_there_are_too_few_people(folder):
    lines = PEOPLE.read_text().splitlines()[:4]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(PolicyEngineError, match="R002"):
        loaded(PIPELINES / "airflow" / "release_people.py")
    assert [one.name for one in folder.iterdir()] == ["people.csv"]


def test_the_model_of_dbt_is_the_release(folder):
    session = duckdb.connect()
    dbt = types.SimpleNamespace(
        config=lambda **_: None, ref=lambda _: session.read_csv(str(folder / "people.csv"))
    )
    table = loaded(PIPELINES / "dbt" / "models" / "people_for_analysts.py").model(dbt, session)
    assert table.column_names == ["age", "region", "income"]
    assert table.num_rows == 60
    counts = table.group_by(["age", "region"]).aggregate([([], "count_all")])
    assert min(counts.column("count_all").to_pylist()) >= 5


def run(program, *arguments, folder=ROOT, **variables):
    if not (PROGRAMS / program).exists():
        pytest.skip(f"{program.upper()} IS NOT INSTALLED: scripts/nightly installs it")
    done = subprocess.run(
        [PROGRAMS / program, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.nightly
def test_airflow_runs_the_dag(folder):
    variables = {
        "AIRFLOW_HOME": str(folder / "home"),
        "AIRFLOW__CORE__LOAD_PIPELINES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(PIPELINES / "airflow"),
    }
    run("airflow", "db", "migrate", **variables)
    run("airflow", "dags", "test", "release_people", "2026-01-05", **variables)
    assert (folder / "released-2026-01-05" / "certificate.jsonld").exists()


@pytest.mark.nightly
def test_dbt_builds_the_model(folder):
    project = folder / "dbt"
    shutil.copytree(PIPELINES / "dbt", project)
    run("dbt", "build", "--profiles-dir", ".", folder=project)
    made = duckdb.connect(str(project / "people.duckdb"))
    assert made.sql("select count(*) from people_for_analysts").fetchall() == [(60,)]
