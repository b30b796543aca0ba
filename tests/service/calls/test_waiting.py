"""Calls that waited are carried out with the rights that the caller has by then."""

from types import SimpleNamespace

import pytest
from followed import apart
from served import signed_in
from starlette.requests import Request

from policy_engine.errors import ServiceError
from policy_engine.service.calls.callers import caller_of
from policy_engine.service.calls.waiting import answer_in_turn
from policy_engine.service.identity.roles import Role, Verb
from policy_engine.service.store.people import Person


@pytest.fixture
def call(services):
    """A call of a consumer who is signed in."""
    client = signed_in(services, "consumer", party="http://example.com/rita")
    cookies = "; ".join(f"{one.name}={one.value}" for one in client.cookies.jar)
    headers = [(b"cookie", cookies.encode())]
    app = SimpleNamespace(state=SimpleNamespace(services=services))
    return Request({"type": "http", "method": "GET", "headers": headers, "app": app}, there)


async def there():
    """Tell nothing: who calls does not leave."""
    return {"type": "http.request"}


def changed(services, call, **values):
    with services.database.writing() as session:
        row = session.get(Person, caller_of(call).id)
        for name, value in values.items():
            setattr(row, name, value)


def answered(call, work):
    return apart(answer_in_turn(call, caller_of(call), Verb.QUERY, work))


def test_work_is_done_by_who_the_caller_is_when_it_is_their_turn(services, call):
    assert answered(call, lambda present, _: present.party) == "http://example.com/rita"
    changed(services, call, party="http://example.com/ann")
    assert answered(call, lambda present, _: present.party) == "http://example.com/ann"


@pytest.mark.parametrize(
    ("values", "code"), [({"is_active": False}, "N010"), ({"roles": [Role.OWNER.value]}, "N002")]
)
def test_who_lost_their_rights_while_they_waited_is_refused_and_nothing_is_done(
    services, call, values, code
):
    caller_of(call)
    changed(services, call, **values)
    with pytest.raises(ServiceError, match=code):
        answered(call, lambda *_: pytest.fail("it was done"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"is_active": False}, "N010"),
        ({"roles": []}, "N002"),
        ({"party": "http://example.com/ann"}, "N004"),
    ],
)
def test_who_loses_their_rights_while_it_is_done_is_given_nothing(services, call, values, code):
    with pytest.raises(ServiceError, match=code):
        answered(call, lambda *_: changed(services, call, **values))
