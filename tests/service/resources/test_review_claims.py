"""One person at a time decides about a review."""

from datetime import timedelta

import pytest
from served import person

from policy_engine.errors import ServiceError
from policy_engine.service.resources.review_claims import ReviewClaims
from policy_engine.service.store.base import now
from policy_engine.service.store.reviews import StoredReview


@pytest.fixture
def review(services):
    """Return the identifier of a review, and of who decides about it."""
    owner = person(services, "owner", name="Olga")
    texts = dict.fromkeys(("assignee", "dataset", "request", "purpose", "data"), "")
    row = StoredReview(
        id="one", kind="answer", submitter_id=owner, owner_id=owner, state="open", **texts
    )
    with services.database.writing() as session:
        session.add(row)
    return "one", owner


@pytest.fixture
def claims(services):
    return ReviewClaims(services.database, 60.0)


def ignore(_row):
    """Find nothing against a review."""


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_nobody_else_has_a_claim_until_it_is_given_up(claims, review):
    second = claims.claimed(*review, ignore)
    with claims.claimed(*review, ignore), pytest.raises(ServiceError, match="N004"), second:
        pass
    with claims.claimed(*review, ignore) as row:
        assert row.deciding_by == review[1]


def test_a_decision_that_fails_gives_its_claim_up(claims, review):
    with pytest.raises(ZeroDivisionError), claims.claimed(*review, ignore):
        raise ZeroDivisionError
    with claims.claimed(*review, ignore):
        pass


def test_the_claim_of_a_process_that_ended_runs_out(services, claims, review):
    for seconds, is_free in ((61, False), (200, True)):
        with services.database.writing() as session:
            row = session.get_one(StoredReview, review[0])
            row.deciding_by, row.deciding_since = review[1], now() - timedelta(seconds=seconds)
        if is_free:
            with claims.claimed(*review, ignore):
                pass
        else:
            with pytest.raises(ServiceError, match="N004"), claims.claimed(*review, ignore):
                pass


def test_what_does_not_pass_is_not_claimed(services, claims, review):
    def refuse(_row):
        raise ServiceError.of("N005", "It was changed.")

    with pytest.raises(ServiceError, match="N005"), claims.claimed(*review, refuse):
        pass
    with services.database.reading() as session:
        assert session.get_one(StoredReview, review[0]).deciding_since is None
