"""A run of the service on Spark, from its policy to a release that others can read."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from followed import ended, processes_of, until
from served import API, service, signed_in
from signing import key_of
from test_dataset_routes import uploaded
from test_policy_routes import published
from test_release_routes import PEOPLE

from policy_engine.certificate.certificate import read_certificate
from policy_engine.service.runs.keeping import SupervisorKeeper
from policy_engine.service.runs.kinds.settings import RELEASES
from policy_engine.service.runs.namespaces import LOOPBACK_ALONE, OWN_LOOPBACK

pytestmark = [pytest.mark.nightly, pytest.mark.usefixtures("java")]


@pytest.fixture
def opened(tmp_path):
    key_of(1).write(tmp_path / "key")
    on_spark = {"engine": "spark", "master": "local[2]", "run_memory": 2**31}
    on_spark["sign"] = str(tmp_path / "key")
    with service(tmp_path / "kept", **on_spark) as services:
        keeper = SupervisorKeeper(services.settings)
        keeper.start()
        try:
            yield services
        finally:
            keeper.close()


def carried_out(services, client, kind, settings):
    """Return the view of a run that succeeded, and its log as a text."""
    asked = client.post(f"{API}/runs", json={"kind": kind, "settings": settings})
    assert asked.status_code == 202, asked.text
    run_id = asked.json()["id"]
    run = ended(services, run_id, 900)
    assert run.state == "succeeded", run.problems
    assert processes_of(run_id) == []
    return run, client.get(f"{API}/runs/{run_id}/log").text


def test_a_release_made_on_spark_is_verified_read_and_assessed(opened):
    owner = signed_in(opened, "owner", "steward", name="Owner")
    published(owner, people_policy())
    [policy] = owner.get(f"{API}/policies").json()["items"]
    dataset = uploaded(owner, PEOPLE.encode(), "people.csv", DATASET).json()["id"]
    about = {"policy": policy["id"], "datasets": {DATASET: dataset}}
    run, log = carried_out(opened, owner, "sanitise", about)
    assert run.result["outputs"][0]["rows"] == 8
    assert OWN_LOOPBACK in log or LOOPBACK_ALONE in log
    assert run.result["outputs"][0]["signed"] is True
    assert "measured again" in log

    [release] = owner.get(f"{API}/releases").json()["items"]
    path = f"{API}/releases/{release['id']}"
    folder = opened.settings.folder / RELEASES / run.id / "release"
    assert [*folder.glob("*.csv/part-*")]  # as Spark alone writes it
    assert owner.get(f"{path}/certificate").json()["rows_out"] == 8
    [place] = folder.glob("*.jsonld")
    certificate = read_certificate(place.read_bytes())
    assert certificate.signature.credential.proof.key == key_of(1).public
    verdict = signed_in(opened, "auditor").post(f"{path}:verify").json()
    assert verdict["holds"], verdict
    contrast = owner.get(f"{path}:contrast")
    assert contrast.status_code == 200, contrast.text
    assert "disease" in {one["name"] for one in contrast.json()["columns"]}
    body = {"sql": f'SELECT city, disease FROM "{OUTPUT}"', "purpose": "marketing"}
    answer = signed_in(opened, "consumer", party=ANALYST).post(f"{API}/queries", json=body)
    assert len(answer.json().get("rows", ())) == 8, answer.text

    about = {"release": run.id, "original": dataset, "seconds": 1}
    audit, _ = carried_out(opened, owner, "assess", about)
    assert audit.result == {"rows": 8, "released": 8}


def test_a_run_on_spark_that_is_cancelled_leaves_no_process(opened):
    owner = signed_in(opened, "owner", "steward", name="Owner")
    published(owner, people_policy())
    [policy] = owner.get(f"{API}/policies").json()["items"]
    dataset = uploaded(owner, PEOPLE.encode(), "people.csv", DATASET).json()["id"]
    about = {"policy": policy["id"], "datasets": {DATASET: dataset}}
    run_id = owner.post(f"{API}/runs", json={"kind": "sanitise", "settings": about}).json()["id"]
    java = until(lambda: [one for one in processes_of(run_id) if name_of(one) == "java"], 300)
    limits = Path(f"/proc/{java[0]}/limits").read_text()
    assert re.search(rf"^Max data size +{2**31} ", limits, re.MULTILINE)
    assert owner.post(f"{API}/runs/{run_id}:cancel").status_code in (200, 202)
    assert ended(opened, run_id, 60).state == "cancelled"
    assert processes_of(run_id) == []


def name_of(number):
    with suppress(OSError):  # it has ended
        return Path(f"/proc/{number}/comm").read_text().strip()
    return ""
