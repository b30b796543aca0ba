import pytest
from followed import cheap
from served import API, CUSTOMER, browser, code, named, service, signed_in
from test_dataset_routes import created, uploaded
from test_policy_routes import published

from policy_engine.errors import ServiceError
from policy_engine.service.runs.kinds import KINDS
from policy_engine.service.runs.limits import RunLimits
from policy_engine.service.runs.preparing import Preparation
from policy_engine.service.runs.queue import RunQueue
from policy_engine.service.runs.results import reveal, seal

TEXT = CUSTOMER.read_text("utf-8")
IRI = "http://example.com/Customer"
ROWS = b"FirstName,ZIP\nAnn,20121\n"


@pytest.fixture
def steward(services):
    return signed_in(services, "steward")


@pytest.fixture
def policy(services, steward):
    """Return a policy in force of an owner whom the steward works for."""
    owner = signed_in(services, "owner", name="Olga")
    named(owner, steward)
    address, _ = published(owner, TEXT)
    return address.rpartition("/")[2]


def dataset(client, body=ROWS):
    """Return a dataset with a file."""
    return uploaded(client, body, iri=IRI).json()["id"]


@pytest.fixture
def asked(steward, policy):
    """Return what a run is asked for by."""
    return {"kind": "sanitise", "policy": policy, "datasets": {IRI: dataset(steward)}}


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_a_run_waits_for_its_turn_and_is_listed(steward, asked):
    answer = steward.post(f"{API}/runs", json=asked)
    assert answer.status_code == 202
    run = answer.json()
    assert (run["state"], run["kind"], run["attempt"]) == ("queued", "sanitise", 0)
    assert run["settings"]["version"] == 1
    assert steward.get(answer.headers["location"]).json() == run
    for query, count in (("", 1), ("?state=queued", 1), ("?state=failed", 0), ("?kind=assess", 0)):
        assert len(steward.get(f"{API}/runs{query}").json()["items"]) == count
    assert code(steward.get(f"{API}/runs?state=odd")) == (422, "N007")


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_a_run_is_cancelled_and_tried_again(steward, asked):
    address = steward.post(f"{API}/runs", json=asked).headers["location"]
    assert code(steward.post(f"{address}:retry")) == (409, "N004")
    assert steward.post(f"{address}:cancel").json()["state"] == "cancelled"
    assert code(steward.post(f"{address}:cancel")) == (409, "N004")
    assert steward.post(f"{address}:retry").json()["state"] == "queued"
    words = [one.split(" ", 1)[1] for one in steward.get(f"{address}/log").text.splitlines()]
    assert words == ["queued", "cancelled", "queued"]


@pytest.mark.nightly
def test_a_version_that_is_no_longer_in_force_is_not_carried_out(services, steward, policy, asked):
    address = steward.post(f"{API}/runs", json=asked).headers["location"]
    other = steward.post(f"{API}/runs", json=asked).headers["location"]
    steward.post(f"{address}:cancel")
    administrator = signed_in(services, "administrator")
    ended = administrator.post(f"{API}/policies/{policy}:withdraw", json={"reason": "x"})
    assert ended.status_code == 200
    assert code(steward.post(f"{address}:retry")) == (409, "N004")
    holding = RunQueue(services.database, "here.1").claim()
    assert other.endswith(holding.run_id)
    folders = services.runs.folders
    limits = RunLimits(memory=2**30, file=2**30, seconds=9)
    preparation = Preparation(
        services.database,
        folders,
        services.datasets.path,
        limits,
        "policy_engine.service.runs.kinds",
    )
    with pytest.raises(ServiceError, match=r"N004 .*no longer in force"):
        preparation.job(holding)


@pytest.mark.nightly
def test_runs_go_with_what_they_are_about_to_who_it_is_handed_over_to(services, steward, asked):
    address = steward.post(f"{API}/runs", json=asked).headers["location"]
    steward.post(f"{address}:cancel")
    people = signed_in(services, "administrator")
    [olga] = [one for one in people.get(f"{API}/people").json()["items"] if one["name"] == "Olga"]
    heir = signed_in(services, "owner", name="Eve")
    named(heir, steward)
    path, tag = f"{API}/people/{olga['id']}", {"If-Match": f'"{olga["revision"]}"'}
    left = people.patch(path, json={"is_active": False}, headers=tag).json()
    held = people.post(f"{path}:hand-over", json={"to": heir.get(f"{API}/me").json()["id"]})
    assert held.status_code == 200
    assert steward.post(f"{address}:retry").json()["state"] == "queued"
    assert heir.get(address).status_code == 200
    back = people.patch(
        path, json={"is_active": True}, headers={"If-Match": f'"{left["revision"]}"'}
    )
    assert back.status_code == 200
    former = browser(services)
    former.get("/sign-in", params={"token": services.identities.new_link(olga["id"])})
    assert former.get(f"{API}/me").json()["name"] == "Olga"
    assert code(former.get(address)) == (404, "N003")
    assert former.get(f"{API}/runs").json()["items"] == []


def test_what_a_run_is_not_asked_for_by_is_refused_at_once(steward, asked):
    assert code(steward.post(f"{API}/runs", json={**asked, "asset": IRI})) == (422, "N007")
    settings = {"asset": "http://example.com/nothing"}
    answer = steward.post(f"{API}/runs", json={**asked, "settings": settings})
    assert answer.status_code == 422, answer.text
    assert "http://example.com/nothing" in answer.json()["detail"]
    settings = {"asset": "http://example/anonCustomer"}
    assert steward.post(f"{API}/runs", json={**asked, "settings": settings}).status_code == 202


def test_every_place_of_wrong_settings_is_named_and_no_value(steward, policy):
    settings = {"cells": "secret", "seed": -1, "report": "elsewhere"}
    asked = {"kind": "sanitise", "policy": policy, "datasets": {IRI: "../x"}, "settings": settings}
    answer = steward.post(f"{API}/runs", json=asked)
    assert code(answer) == (422, "N007")
    messages = [one["message"] for one in answer.json()["problems"]]
    places = {one.partition(":")[0] for one in messages}
    names = {"cells", "seed", "report", f"datasets.{IRI.partition(':')[0]}"}
    assert places == {f"settings.{one}" for one in names}
    assert not any("secret" in one or "../x" in one for one in messages)


def test_a_run_is_about_what_is_there(steward, policy, services):
    owner = signed_in(services, "owner", name="Olga")
    draft = owner.post(f"{API}/policies", json={"name": "draft", "text": TEXT}).json()["id"]
    empty = created(steward, IRI).rpartition("/")[2]
    cases = [
        ({"policy": "p1", "datasets": {IRI: empty}}, (404, "N003")),
        ({"policy": policy, "datasets": {IRI: "d1"}}, (404, "N003")),
        ({"policy": policy, "datasets": {IRI: empty}}, (409, "N004")),
        ({"policy": policy, "datasets": {}}, (422, "N007")),
    ]
    for about, outcome in cases:
        assert code(steward.post(f"{API}/runs", json={"kind": "sanitise", **about})) == outcome
    assert draft
    answer = steward.post(f"{API}/runs", json={"kind": "sanitize"})
    assert code(answer) == (422, "N007")
    assert "sanitise" in answer.json()["problems"][0]["hint"]


def test_what_runs_is_the_version_in_force(steward, services, asked):
    owner = signed_in(services, "owner", name="Olga")
    named(owner, steward)
    draft = owner.post(f"{API}/policies", json={"name": "draft", "text": TEXT}).json()["id"]
    answer = steward.post(f"{API}/runs", json={**asked, "policy": draft})
    assert code(answer) == (409, "N004")
    answer = steward.post(f"{API}/runs", json={**asked, "settings": {"version": 2}})
    assert code(answer) == (409, "N004")


def test_only_a_release_is_assessed(steward, asked):
    run = steward.post(f"{API}/runs", json=asked).json()
    original = asked["datasets"][IRI]
    settings = {"release": run["id"], "original": original}
    answer = steward.post(f"{API}/runs", json={"kind": "assess", "settings": settings})
    assert code(answer) == (409, "N004")


def finished(services, actor_id, files):
    """Return a run that has left files."""
    from policy_engine.service.identity.actors import Actor
    from policy_engine.service.identity.roles import Role

    actor = Actor(id=actor_id, name="Sue", roles=(Role.STEWARD,))
    run_id = cheap(services).create(actor, "wait", {}).id
    folder = services.settings.folder / "made"
    for name, text in files.items():
        path = folder / "shown" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    queue = RunQueue(services.database, "here.1")
    holding, artefacts = queue.claim(), seal(folder)
    reveal(folder, services.runs.folders.result("releases", run_id))
    queue.succeed(holding, artefacts, {})
    with services.database.writing() as session:  # as a kind that the service has
        from policy_engine.service.store.runs import StoredRun

        session.get(StoredRun, run_id).kind = "sanitise"
    return f"{API}/runs/{run_id}"


PAGE = "<script>alert(1)</script>"


def test_what_a_run_left_is_saved_and_never_shown_as_a_page(services, steward):
    me = steward.get(f"{API}/me").json()["id"]
    address = finished(services, me, {"a.html": PAGE, "b c/d.json": "{}"})
    items = steward.get(f"{address}/artefacts").json()["items"]
    assert [one["name"] for one in items] == ["a.html", "b c/d.json"]
    answer = steward.get(f"{address}/artefacts/a.html")
    assert answer.text == PAGE
    headers = answer.headers
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''a.html"
    assert headers["content-type"] == "application/octet-stream"
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
    assert "script-src" not in headers["content-security-policy"]
    assert steward.get(f"{address}/artefacts/b%20c%2Fd.json").json() == {}


ODD = ["../secret", "..%2F..%2Fservice.db", "%2Fetc%2Fpasswd", "secret", "a.html%00"]


def test_no_name_leads_to_another_file(services, steward):
    for name in ODD:
        me = steward.get(f"{API}/me").json()["id"]
        address = finished(services, me, {"a.html": PAGE})
        answer = steward.get(f"{address}/artefacts/{name}")
        assert code(answer) in ((404, "N003"), (405, "N007"))


@pytest.mark.nightly
def test_consumers_and_administrators_see_no_runs(services, steward, asked):
    address = steward.post(f"{API}/runs", json=asked).headers["location"]
    for role, status in (("consumer", 403), ("administrator", 403), ("auditor", 200)):
        client = signed_in(services, role, name=role)
        for path in (address, f"{address}/log", f"{address}/artefacts"):
            assert client.get(path).status_code == status
        assert code(client.post(f"{address}:cancel")) == (403, "N002")


def test_runs_are_costly_calls(tmp_path):
    with service(tmp_path, calls_a_minute=100) as services:
        client = signed_in(services, "steward")
        answers = [client.post(f"{API}/runs", json={"kind": "x"}) for _ in range(2)]
    assert [code(one)[0] for one in answers] == [422, 429]


def test_forms_and_programs_are_told_what_each_kind_of_runs_is_asked_for(steward):
    kinds = {one["kind"]: one for one in steward.get(f"{API}/run-kinds").json()["items"]}
    assert [*kinds] == [*KINDS]
    assert all(one["about"].endswith(".") for one in kinds.values())
    settings = [one for kind in kinds.values() for one in kind["settings"]["properties"].values()]
    assert all(one["description"].endswith(".") for one in settings)
    attacked = kinds["assess"]["settings"]
    assert attacked["required"] == ["release", "original"]
    told = [attacked["properties"][name]["resource"] for name in attacked["required"]]
    assert told == ["release", "dataset"]


def test_who_may_read_all_starts_runs_for_those_alone_who_named_them(services, steward, asked):
    other = signed_in(services, "steward", "auditor", name="Vera")
    assert other.get(f"{API}/datasets").json()["items"]
    assert code(other.post(f"{API}/runs", json=asked)) == (404, "N003")
    attack = {"kind": "audit-membership", "settings": {"data": asked["datasets"][IRI]}}
    assert code(other.post(f"{API}/runs", json=attack)) == (404, "N003")
    assert steward.post(f"{API}/runs", json=attack).status_code == 202
    assert len(other.get(f"{API}/runs").json()["items"]) == 1
