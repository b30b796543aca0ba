"""A service in a folder of its own, and people who call it."""

import atexit
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch
from urllib.parse import urlsplit

from anyio.from_thread import start_blocking_portal
from fastapi.testclient import TestClient
from forked_readers import ForkedReaders

from policy_engine.policy import read_policy
from policy_engine.service.app import make_app
from policy_engine.service.calls.callers import cookie_name
from policy_engine.service.files import inspecting
from policy_engine.service.identity.roles import Role
from policy_engine.service.identity.secrets import csrf_token
from policy_engine.service.identity.signing_in import _sign_in
from policy_engine.service.services import Services
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.database import Database
from policy_engine.service.store.people import Person

API = "/api/v1"
CUSTOMER = Path("policies/customer.jsonld")
if not CUSTOMER.exists():
    CUSTOMER = Path(__file__).parent.parent / CUSTOMER


_FILE = "service.db"
_APPLICATIONS = {}
"""Those of the services that are open, each as in the service itself: one for all."""
_FREE = []
"""Those of services that were closed: to make one takes longer than most tests."""
_LOOPS = {}
"""The event loops of services that are open: to start one for each call takes as long as many."""
_READERS = ForkedReaders()
atexit.register(_READERS.close)


@contextmanager
def service(folder, **settings):
    """Return the services of a folder, closed at the end."""
    wanted = ServiceSettings(folder=folder, **settings)
    database = Path(folder) / _FILE
    if not wanted.database and not database.exists():
        database.parent.mkdir(parents=True, exist_ok=True)
        database.write_bytes(_new_database())
    services = Services.open(wanted)
    is_usual = settings.keys() <= {"database"}
    app = _lent(services) if is_usual and _FREE else make_app(services)
    _APPLICATIONS[id(services)] = app
    try:
        with patch.object(inspecting, "subprocess", _READERS), ExitStack() as calls:
            _LOOPS[id(services)] = calls, []
            yield services
            for loop in _LOOPS[id(services)][1]:
                # Whoever still listens hears no more.
                loop.start_task_soon(partial(loop.stop, cancel_remaining=True))
    finally:
        del _APPLICATIONS[id(services)], _LOOPS[id(services)]
        if is_usual:
            _FREE.append(app)
        services.close()


def _lent(services):
    """Return an application that was made for others with the same settings."""
    app = _FREE.pop()
    app.state.services, app.middleware_stack = services, None
    for one in app.user_middleware:
        if "meter" in one.kwargs:
            one.kwargs["meter"] = services.meters.calls
    return app


@cache
def _new_database():
    """Return a file of SQLite that is up to date: to make one takes as long as many tests."""
    with TemporaryDirectory() as folder:
        settings = ServiceSettings(folder=folder)
        Database.open(settings.database_url).close()
        return (Path(folder) / _FILE).read_bytes()


def browser(services):
    """Return a browser that is not signed in; our own faults are answers, as they are to users."""
    address, app = services.settings.address, _APPLICATIONS.get(id(services)) or make_app(services)
    client = TestClient(app, base_url=address, raise_server_exceptions=False)
    client.portal = _loop(services)
    return client


def _loop(services):
    """Return the event loop of all calls to a service, begun by the first, or None for others."""
    calls, begun = _LOOPS.get(id(services), (None, []))
    if calls is not None and not begun:
        begun.append(calls.enter_context(start_blocking_portal()))
    return begun[0] if begun else None


def person(services, *roles, name="Ada", party=""):
    """Return the identifier of a new person."""
    with services.database.writing() as session:
        row = Person(name=name, roles=[Role(one).value for one in roles], party=party)
        session.add(row)
        session.flush()
        return row.id


def signed_in(services, *roles, name="Ada", party=""):
    """Return a browser in which a new person is signed in, and whose changes are its own.

    It has what a link would have given it: to follow one takes as long as many tests.
    """
    client, whose = browser(services), person(services, *roles, name=name, party=party)
    with services.database.writing() as session:
        cookie = _sign_in(session, whose)
    host = urlsplit(services.settings.address).hostname
    client.cookies.set(cookie_name(is_secure=services.settings.is_secure), cookie, domain=host)
    client.headers["X-CSRF-Token"] = csrf_token(cookie)
    return client


def claimed(client, text):
    """Register what a policy is about as datasets of who is signed in, where it is not yet."""
    for iri in sorted({one.iri for rule in read_policy(text).rules for one in rule.targets}):
        client.post(f"{API}/datasets", json={"name": "claimed", "iri": iri})


def named(owner, steward):
    """Let a steward work for an owner, as the owner says."""
    steward_id = steward.get(f"{API}/me").json()["id"]
    assert owner.put(f"{API}/stewards/{steward_id}").status_code == 200


def code(answer):
    """Return the status of an answer, and the code of what was wrong."""
    return answer.status_code, answer.json()["code"]
