"""The API keeps to its own document: calls drawn from it, with what is right and what is wrong, are
answered by the statuses, the media types and the schemas that it names, and never by a fault.

Schemathesis draws the calls. Those of identifiers name what is there as often as what is not.
"""

from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from served import API, CUSTOMER, service, signed_in

from policy_engine.service.app import make_app
from policy_engine.service.identity.roles import Role

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.core.failures import FailureGroup  # noqa: E402
from schemathesis.python.asgi import get_client  # noqa: E402
from schemathesis.specs.openapi import checks as conformance  # noqa: E402

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
schemathesis.serializer.alias("application/zip", "application/octet-stream")
STREAM = f"{API}/events"
ROWS = b"FirstName,ZIP\nAnn,20121\n"
IRI = "http://example.com/Customer"
CHECKS = [
    not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A client that may do everything, and the identifiers of what is there, by their names."""
    folder = tmp_path_factory.mktemp("contract")
    with service(folder, calls_a_minute=10**9) as services:
        services.run_news.close()  # or streams of events would go on for ever
        browser = signed_in(services, *Role)
        roles = [one.value for one in Role]
        key = browser.post(f"{API}/keys", json={"name": "all", "roles": roles}).json()["key"]
        app = make_app(services)
        bearer = {"Authorization": f"Bearer {key}"}
        made = _made(TestClient(app, base_url=services.settings.address, headers=bearer))
        with get_client(app) as client:
            yield Calls(app.openapi(), services.settings.address, client, bearer, made)


@dataclass(frozen=True)
class Calls:
    """How an application is called, and what it has: identifiers by the names of parameters."""

    document: dict
    address: str
    client: Any
    headers: dict
    made: dict

    def send(self, case):
        """Return the answer to a call that was drawn."""
        return case.call(session=self.client, base_url=self.address, headers=self.headers)

    def operations(self):
        """Return what may be called, but for the stream, which does not end."""
        results = schemathesis.openapi.from_dict(self.document).get_all_operations()
        return [one.ok() for one in results if one.ok().path != STREAM]


def _made(client):
    """Make one of each; return their identifiers by the names that paths have for them."""
    text = CUSTOMER.read_text("utf-8")
    policy = client.post(f"{API}/policies", json={"name": "p", "text": text})
    tag = {"If-Match": policy.headers["etag"]}
    client.post(f"{policy.headers['location']}:publish", headers=tag)
    dataset = client.post(f"{API}/datasets", json={"name": "d", "iri": IRI}).json()["id"]
    file = {"name": "a.csv", "size": len(ROWS)}
    upload = client.post(f"{API}/datasets/{dataset}/uploads", json=file).json()["id"]
    model = client.post(f"{API}/models", json={"name": "m"}).json()["id"]
    person = client.post(f"{API}/people", json={"name": "Bob", "roles": ["auditor"]}).json()["id"]
    return {
        "policy_id": policy.json()["id"],
        "dataset_id": dataset,
        "model_id": model,
        "upload_id": upload,
        "person_id": person,
    }


def faults_of(world, operation, mode, count):
    """Return what was not as the document says, in so many calls of an operation."""
    faults = set()

    @seed(23)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(operation.as_strategy(generation_mode=mode), st.booleans())
    def draw(case, is_about_something):
        if is_about_something:
            case.path_parameters.update(
                {name: world.made[name] for name in case.path_parameters if name in world.made}
            )
        try:
            case.validate_response(world.send(case), checks=CHECKS)
        except FailureGroup as group:
            faults.update(str(one) for one in group.exceptions)

    draw()
    return faults


def all_faults(world, count):
    """Return the faults of all operations, by their names. What has neither a body nor a query has
    no wrong calls."""
    found = {}
    for operation in world.operations():
        has_wrong_calls = bool(operation.body or operation.query)
        for mode in [*GenerationMode] if has_wrong_calls else [GenerationMode.POSITIVE]:
            faults = faults_of(world, operation, mode, count)
            found.update({f"{mode.value} {operation.label}": faults} if faults else {})
    return found


def test_calls_drawn_from_the_document_are_answered_as_it_says(world):
    assert all_faults(world, 2) == {}


@pytest.mark.nightly
def test_many_calls_drawn_from_the_document_are_answered_as_it_says(world):
    assert all_faults(world, 100) == {}
