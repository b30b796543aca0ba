"""What several ways lead to is judged once, however many ways there are."""

import pytest
from owning import (
    CLAIMS,
    HOSPITAL,
    INSURER,
    NOON,
    REGULATOR,
    STAFF,
    VISITS,
    derives,
    lets,
    policy,
    rule,
)
from test_making_reached import BOTH, LAB, LAB_2, MINE, condition, joins, never

from policy_engine.decision import Decider, World
from policy_engine.decision.deciding import prohibiting
from policy_engine.decision.making_consents import missing_consents
from policy_engine.policy.model import JOINTLY
from policy_engine.policy.owners import read_owners

STRANGER = "http://e.org/Stranger"


def output(number):
    return f"http://e.org/Out{number}"


def chained(length):
    """Return releases of which each joins the two before it, of two laboratories in turn."""
    before, made = [VISITS, CLAIMS], []
    for number in range(length):
        inputs = before[-2:]
        columns = [f"{one}/x{before.index(one)}" for one in inputs]
        made.append(joins(output(number), inputs, (LAB, LAB_2)[number % 2], columns))
        before.append(output(number))
    return made


def parted(length):
    """Return outputs of which each is made from the one before by two ways, one of them longer."""
    made, last = [], VISITS
    for number in range(length):
        near, *far = (f"{output(number)}-{step}" for step in range(4))
        steps = zip((last, last, *far), (near, *far), strict=False)
        made += [derives(one, source, LAB) for source, one in steps]
        parts = {"action": "derive", "output": output(number), "assignees": [STAFF]}
        both = rule("permission", near, far[-1], **parts)
        made.append(policy(LAB, both, uid=f"{output(number)}/policy"))
        last = output(number)
    return made


def leaves(made):
    """Return the policies by which each owner lets both laboratories do what they do."""
    owners = {VISITS: HOSPITAL, CLAIMS: INSURER}
    owners |= {one.permissions[0].output: next(iter(one.issued_by)) for one in made}
    found = [
        lets(owner, asset, lab)
        for asset, owner in owners.items()
        for lab in (LAB, LAB_2)
        if lab != owner
    ]
    return found, {**owners, VISITS: BOTH[0], CLAIMS: BOTH[1]}


def judged(monkeypatch, made, prohibition):
    """Return how often prohibitions are looked for to tell whether the last output is made."""
    given, owners = leaves(made)
    decider = Decider([*made, *given, prohibition], owners=read_owners(owners))
    calls, look = [], prohibiting.denying_prohibition
    monkeypatch.setattr(
        prohibiting, "denying_prohibition", lambda case: calls.append(1) or look(case)
    )
    assert not list(missing_consents(decider, made[-1], World(time=NOON)))
    monkeypatch.undo()
    return len(calls)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("who", [HOSPITAL, REGULATOR, STRANGER])
def test_what_many_releases_were_made_from_is_judged_once(monkeypatch, who):
    no = never(who, VISITS, "use", constraints=condition(JOINTLY, "isAnyOf", MINE))
    few, many = (judged(monkeypatch, chained(length), no) for length in (5, 10))
    assert many <= 4 * few


@pytest.mark.parametrize("ways", [chained, parted])
def test_what_many_ways_lead_to_is_judged_once(monkeypatch, ways):
    no = never(REGULATOR, VISITS, "use", assignees=[STAFF])
    few, many = (judged(monkeypatch, ways(length), no) for length in (4, 8))
    assert many <= 4 * few
