"""A service in a folder of its own, and people who call it."""

from contextlib import contextmanager
from pathlib import Path

from fastapi.testclient import TestClient

from policy_engine.policy import read_policy
from policy_engine.service.app import make_app
from policy_engine.service.identity.roles import Role
from policy_engine.service.services import Services
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.people import Person

API = "/api/v1"
CUSTOMER = Path("policies/customer.jsonld")
if not CUSTOMER.exists():
    CUSTOMER = Path(__file__).parent.parent / CUSTOMER


@contextmanager
def service(folder, **settings):
    """Return the services of a folder, closed at the end."""
    services = Services.open(ServiceSettings(folder=folder, **settings))
    try:
        yield services
    finally:
        services.close()


def browser(services):
    """Return a browser that is not signed in; our own faults are answers, as they are to users."""
    address = services.settings.address
    return TestClient(make_app(services), base_url=address, raise_server_exceptions=False)


def person(services, *roles, name="Ada", party=""):
    """Return the identifier of a new person."""
    with services.database.writing() as session:
        row = Person(name=name, roles=[Role(one).value for one in roles], party=party)
        session.add(row)
        session.flush()
        return row.id


def signed_in(services, *roles, name="Ada", party=""):
    """Return a browser in which a new person is signed in, and whose changes are its own."""
    client = browser(services)
    secret = services.identities.new_link(person(services, *roles, name=name, party=party))
    client.get("/sign-in", params={"token": secret}, follow_redirects=False)
    client.headers["X-CSRF-Token"] = client.get(f"{API}/me").json()["csrf_token"]
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
