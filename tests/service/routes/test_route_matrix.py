"""Every route, by every role: nothing is answered that the table of roles does not allow."""

import re

import pytest
from fastapi.routing import iter_route_contexts
from served import API, browser, code, service, signed_in

from policy_engine.service.calls.callers import Allowed
from policy_engine.service.identity.roles import ALLOWED, Role

PUBLIC = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("GET", "/sign-in/provider"),
    ("GET", "/sign-in/provider/callback"),
    ("GET", f"{API}/sign-in"),
    ("GET", "/assets/{name}"),
    ("GET", "/{page:path}"),
    ("POST", f"{API}/policies:check"),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with service(tmp_path_factory.mktemp("service")) as services:
        services.run_news.close()  # or streams of events would go on for ever
        clients = {role: signed_in(services, role, name=role.value) for role in Role}
        yield browser(services), clients


def calls_of(dependant):
    """Yield all that a route depends on."""
    yield dependant.call
    for one in dependant.dependencies:
        yield from calls_of(one)


def routes(app):
    """Yield each route: its method, its path and the verbs that guard it."""
    for context in iter_route_contexts(app.routes):
        for method in sorted(getattr(context, "methods", None) or ()):
            if context.path == f"{API}/openapi.json":
                continue
            guards = [*calls_of(context.dependant)]
            yield method, context.path, [one.verb for one in guards if isinstance(one, Allowed)]


def test_every_route_is_of_one_verb_or_public(served):
    found = [*routes(served[0].app)]
    assert len(found) > 10
    assert {(method, path) for method, path, verbs in found if not verbs} == PUBLIC
    assert all(len(verbs) == 1 for _, path, verbs in found if (_, path) not in PUBLIC)


def test_nothing_but_what_is_public_is_answered_without_a_sign_in(served):
    anonymous, _ = served
    for method, path, verbs in routes(anonymous.app):
        if verbs:
            assert code(ask(anonymous, method, path)) == (401, "N001"), path


@pytest.mark.parametrize("role", Role)
def test_a_role_does_what_the_table_says_and_nothing_else(served, role):
    anonymous, clients = served
    for method, path, verbs in routes(anonymous.app):
        if not verbs or path.endswith(":sign-out"):
            continue
        answer = ask(clients[role], method, path)
        if role in ALLOWED[verbs[0]]:
            assert answer.status_code not in (401, 403, 500), (method, path)
        else:
            assert code(answer) == (403, "N002"), (method, path)


def ask(client, method, path):
    address = re.sub(r"\{\w+(:\w+)?\}", "1", path)
    return client.request(method, address, headers={"If-Match": '"1"'}, json={})
