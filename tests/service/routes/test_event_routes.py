import asyncio
import threading

import pytest
from followed import apart, cheap, steward
from served import API, code, named, person, signed_in

from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role
from policy_engine.service.routes import events
from policy_engine.service.store.people import Person, Stewardship


def frames(services, client, heard=None, seconds=0.8):
    """Return the text of a stream that is read for some seconds, as the application sends it."""
    headers = [(b"host", b"127.0.0.1:8642")]
    headers += [(b"cookie", f"{name}={value}".encode()) for name, value in client.cookies.items()]
    headers += [(b"last-event-id", str(heard).encode())] if heard is not None else []
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET"}
    scope |= {"scheme": "http", "path": f"{API}/events", "raw_path": b"", "query_string": b""}
    scope |= {"headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8642)}
    sent = []

    async def receive():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    async def read():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(services.run_news, "pause", 0.05)
            task = asyncio.create_task(client.app({**scope, "state": {}}, receive, send))
            await asyncio.sleep(seconds)
            is_over = task.done()
            services.run_news.close()
            await task
            return is_over

    is_over = apart(read())
    body = b"".join(one.get("body", b"") for one in sent).decode()
    return sent[0], body, is_over


def test_a_stream_tells_of_runs_and_ends_with_the_service(services):
    cheap(services).create(steward(services), "wait", {})
    start, body, is_over = frames(services, signed_in(services, "auditor"))
    headers = dict(start["headers"])
    assert (start["status"], is_over) == (200, False)
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert "event: run\ndata: {" in body
    assert '"state":"queued"' in body


def test_who_has_heard_all_is_told_nothing_again(services):
    cheap(services).create(steward(services), "wait", {})
    _, body, _ = frames(services, signed_in(services, "auditor"), heard=1)
    assert "event: run" not in body


def test_a_quiet_stream_says_that_it_is_alive(services, monkeypatch):
    monkeypatch.setattr(events, "BEAT", 0.1)
    _, body, _ = frames(services, signed_in(services, "auditor"))
    assert body.count(": still there\n\n") > 1


def test_a_stream_ends_with_the_sign_in(services, monkeypatch):
    monkeypatch.setattr(events, "BEAT", 0.05)
    monkeypatch.setattr(events, "CHECK", 0.1)
    client = signed_in(services, "auditor")
    leave = threading.Timer(0.3, everybody_leaves, [services])
    leave.start()
    start, body, is_over = frames(services, client, seconds=1.5)
    leave.join()
    assert (start["status"], is_over) == (200, True)
    assert ": still there" in body


def everybody_leaves(services):
    with services.database.writing() as session:
        for row in session.query(Person):
            row.is_active = False
            row.revision += 1


def test_a_stream_ends_within_a_second_of_signing_out(services):
    client, runs = signed_in(services, "auditor"), cheap(services)
    leave = threading.Timer(0.3, client.post, [f"{API}/me:sign-out"])
    leave.start()
    cheap_run = threading.Timer(0.6, runs.create, [steward(services), "wait", {}])
    cheap_run.start()
    _, body, is_over = frames(services, client, seconds=1.3)
    for one in (leave, cheap_run):
        one.join()
    assert is_over
    assert "event: run" not in body


def told_after(services, client, starter, change):
    """Return how many runs somebody hears of, one of them started once a right has ended."""
    runs = cheap(services)
    runs.create(starter, "wait", {})
    timers = [
        threading.Timer(0.3, change),
        threading.Timer(0.6, runs.create, [starter, "wait", {}]),
    ]
    for one in timers:
        one.start()
    _, body, is_over = frames(services, client, seconds=1.0)
    for one in timers:
        one.join()
    assert not is_over
    return body.count("event: run")


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_who_is_no_longer_an_auditor_hears_of_their_own_runs_alone(services):
    client = signed_in(services, "auditor", "owner")
    own_id = client.get(f"{API}/me").json()["id"]

    def demote():
        with services.database.writing() as session:
            row = session.get_one(Person, own_id)
            row.roles, row.revision = ["owner"], row.revision + 1

    assert told_after(services, client, steward(services), demote) == 1


def test_a_steward_in_whose_place_is_another_hears_no_more_of_the_owner(services):
    owner, client = signed_in(services, "owner"), signed_in(services, "steward")
    named(owner, client)
    owner_id = owner.get(f"{API}/me").json()["id"]
    other = person(services, "steward")

    def replace_steward():
        with services.database.writing() as session:
            session.query(Stewardship).delete()
            session.add(Stewardship(owner_id=owner_id, steward_id=other))

    starter = Actor(id=owner_id, name="Olga", roles=(Role.STEWARD,))
    assert told_after(services, client, starter, replace_steward) == 1


def test_consumers_hear_nothing_of_runs(services):
    assert person(services, "owner")
    assert code(signed_in(services, "consumer").get(f"{API}/events")) == (403, "N002")
