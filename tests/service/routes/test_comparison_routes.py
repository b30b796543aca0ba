import json

import pytest
from served import API, code, person, signed_in

from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.results import seal
from policy_engine.service.store.runs import RunArtefact, StoredRun


def finished(services, run_id, figures, kind="explore", state="succeeded", **settings):
    """Keep a run that left figures in JSON, and a page."""
    folder = RunFolders(services.settings.folder).result("results", run_id)
    (folder / "shown").mkdir(parents=True)
    (folder / "shown" / "audit.json").write_text(json.dumps(figures))
    (folder / "shown" / "audit.html").write_text("<p>1</p>")
    with services.database.writing() as session:
        given = {"settings": settings, "attempts": 3, "owner_id": person(services, "steward")}
        session.add(StoredRun(id=run_id, kind=kind, state=state, **given))
        session.flush()
        session.add_all(RunArtefact(run_id=run_id, **one) for one in seal(folder))


@pytest.fixture
def compare(services):
    client = signed_in(services, "auditor", name="Ursula")
    return lambda first, second: client.get(f"{API}/runs/{first}/comparison?with={second}")


def test_figures_are_side_by_side_on_a_common_scale(services, compare):
    finished(services, "a", {"auc": 0.5, "rows": 10, "per": [{"gap": -2.0}], "is_on": True}, k=2)
    finished(services, "b", {"auc": 0.9, "rows": 40, "only": 3, "word": "x"}, k=5)
    view = compare("a", "b").json()
    assert view["settings"] == [{"setting": "k", "first": 2, "second": 5}]
    figures = {one["figure"]: one for one in view["figures"]}
    assert [*figures] == ["/auc", "/rows", "/per/0/gap", "/only"]
    assert (figures["/auc"]["first"], figures["/auc"]["second"]) == (0.5, 0.9)
    assert figures["/auc"]["scale"] == {"low": 0.0, "high": 1.0}
    assert figures["/rows"]["scale"] == {"low": 0.0, "high": 40.0}
    assert figures["/per/0/gap"]["scale"] == {"low": -2.0, "high": 0.0}
    assert figures["/only"]["first"] is None
    assert {one["artefact"] for one in view["figures"]} == {"audit.json"}
    assert not view["is_cut"]


def test_many_figures_are_cut(services, compare):
    for run in ("a", "b"):
        finished(services, run, list(range(5_000)))
    view = compare("a", "b").json()
    assert (len(view["figures"]), view["is_cut"]) == (2_000, True)


def test_runs_of_one_kind_that_succeeded_are_compared(services, compare):
    finished(services, "a", {})
    finished(services, "b", {}, kind="assess")
    finished(services, "c", {}, state="failed")
    assert code(compare("a", "b")) == (409, "N004")
    assert code(compare("a", "c")) == (409, "N004")
    assert code(compare("a", "zzz")) == (404, "N003")
