import asyncio
import re
import shutil
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from followed import apart
from served import API, browser, code, person, service, signed_in

from policy_engine.service.app import make_app
from policy_engine.service.store.base import now
from policy_engine.service.store.runs import StoredRun


def figures(services, **headers):
    text = signed_in(services, "auditor").get("/metrics", headers=headers).text
    return dict(re.findall(r"^([^# ].*) (\S+)$", text, re.MULTILINE))


def test_calls_are_counted_by_route_and_status(services):
    client = signed_in(services, "owner")
    for name in ("a", "b"):
        client.get(f"{API}/policies/{name}")
    found = figures(services)
    labels = 'method="GET",route="/policies/{policy_id}"'
    assert found[f'policy_engine_calls_total{{{labels},status="404"}}'] == "2"
    assert found[f"policy_engine_call_seconds_count{{{labels}}}"] == "2"


def test_runs_are_counted_by_state_and_the_oldest_that_waits_is_told(services):
    owner = person(services, "steward")
    with services.database.writing() as session:
        for state, hours in (("queued", 2), ("queued", 1), ("failed", 3)):
            given = {"kind": "sanitise", "settings": {}, "attempts": 3, "owner_id": owner}
            created = now() - timedelta(hours=hours)
            session.add(StoredRun(**given, state=state, created=created))
    found = figures(services)
    assert found['policy_engine_runs{state="failed"}'] == "1"
    assert found['policy_engine_runs{state="running"}'] == "0"
    assert found["policy_engine_run_queue_length"] == "2"
    assert abs(float(found["policy_engine_run_queue_oldest_seconds"]) - 7200) < 60


def test_decisions_are_counted_by_effect(services):
    client = signed_in(services, "consumer", party="http://example.com/people/ada")
    for _ in range(2):
        client.post(f"{API}/decisions", json={"target": ["http://example.com/Visit"]})
    assert figures(services)['policy_engine_decisions_total{effect="deny"}'] == "2"


def test_streams_of_events_are_counted(services):
    async def hear():
        return [one async for one in services.run_news.listen(patience=0.05)]

    async def count():
        hearing = asyncio.create_task(hear())
        await asyncio.sleep(0.1)
        number = services.run_news.listener_count
        services.run_news.close()
        await hearing
        return number, services.run_news.listener_count

    assert apart(count()) == (1, 0)


def test_room_and_size_are_told(services):
    found = figures(services)
    assert int(found["policy_engine_database_bytes"]) > 10_000
    assert int(found["policy_engine_disk_free_bytes"]) > 0
    assert "policy_engine_supervisor_silent_seconds" not in found
    services.figures.folders.beat()
    assert float(figures(services)["policy_engine_supervisor_silent_seconds"]) < 10


def at(services, address):
    client = TestClient(
        make_app(services), base_url=services.settings.address, client=(address, 50_000)
    )
    return client.get("/metrics")


def test_figures_are_for_this_machine_and_for_who_may_read_them(services):
    assert at(services, "127.0.0.1").status_code == 200
    assert code(at(services, "192.0.2.7")) == (401, "N001")
    assert code(signed_in(services, "owner").get("/metrics")) == (403, "N002")


def test_behind_a_proxy_nobody_is_taken_to_be_on_this_machine(tmp_path):
    with service(tmp_path, public_url="https://data.example") as services:
        assert code(at(services, "127.0.0.1")) == (401, "N001")


def test_a_service_whose_supervisor_works_is_ready(services):
    answer = browser(services).get("/readyz")
    assert code(answer) == (503, "N013")
    assert "has not started yet" in answer.json()["detail"]
    services.figures.folders.beat()
    assert browser(services).get("/readyz").json()["status"] == "ok"


def test_a_supervisor_that_shows_no_life_for_a_lease_is_not_ready(tmp_path):
    with service(tmp_path, lease=0.001) as services:
        services.figures.folders.beat()
        answer = browser(services).get("/readyz")
        assert code(answer) == (503, "N013")
        assert "supervisor" in answer.json()["detail"]


@pytest.mark.parametrize("beat", ["99999999999.000", "no number", ""])
def test_a_sign_of_life_before_the_machine_began_is_none(services, tmp_path, beat):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "supervisor.beat").write_text(beat)
    assert services.figures.folders.seconds_since_beat() is None


def test_a_service_without_room_on_its_disk_is_not_ready(services, monkeypatch):
    services.figures.folders.beat()
    usage = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    answer = browser(services).get("/readyz")
    assert code(answer) == (503, "N013")
    assert "disk" in answer.json()["detail"]
