"""Policies about two small tables, and queries of them."""

import json
from datetime import UTC, datetime

import pyarrow as pa
from building import ANALYST, MOSAICROWN, ODRL

from policy_engine.data.catalog import make_catalog
from policy_engine.decision import World
from policy_engine.decision.query.answering import query
from policy_engine.policy import read_policy

PEOPLE, VISITS = "http://x.org/data/People", "http://x.org/data/Visits"
STATISTICS = "http://x.org/statistics"
NOW = World(time=datetime(2026, 1, 1, tzinfo=UTC))

PEOPLE_ROWS = {
    "id": [1, 2, 3, 4],
    "name": ["Ann", "Bob", "Cid", None],
    "sex": ["female", "male", "male", None],
    "age": [20, 30, 40, None],
    "secret": ["s1", "s2", "s3", "s4"],
}
VISITS_ROWS = {"id": [1, 1, 2], "cost": [1.5, 2.5, 4.0], "note": ["a", "b", "c"]}


def column(name, table=PEOPLE):
    return f"{table}/{name}"


def where(operand, operator, value):
    """Return a constraint, on a column of the people unless the operand is an IRI or a term."""
    left = operand if ":" in operand or operand == "dateTime" else column(operand)
    return {"leftOperand": left, "operator": operator, "rightOperand": value}


def rule(target, *constraints, **parts):
    targets = [target] if isinstance(target, str) else target
    own = {"assignee": ANALYST, "target": targets, "action": "read"}
    own |= {"constraint": list(constraints)} if constraints else {}
    return {key: value for key, value in {**own, **parts}.items() if value is not None}


def columns(*names):
    return [column(name) for name in names]


def policy(permissions, prohibitions=(), uid="http://x.org/policy", **parts):
    numbered = [
        {"uid": f"{uid}/{kind}{number}", **one}
        for kind, rules in (("p", permissions), ("f", prohibitions))
        for number, one in enumerate(rules)
    ]
    whole = {
        "@context": [ODRL, MOSAICROWN],
        "@type": "Set",
        "uid": uid,
        "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
        "permission": numbered[: len(permissions)],
        "prohibition": numbered[len(permissions) :],
        **parts,
    }
    return read_policy(json.dumps({key: value for key, value in whole.items() if value}))


def catalog(people=PEOPLE_ROWS):
    tables = {PEOPLE: people, VISITS: VISITS_ROWS}
    return make_catalog({iri: pa.table(rows) for iri, rows in tables.items()})


def ask(sql, *policies, data=None, purpose="", world=NOW, **options):
    """Return what a query comes to under policies, for the analyst."""
    given = data or catalog()
    return query(sql, policies, ANALYST, given, purpose, world=world, **options)


def rows(sql, *policies, **options):
    """Return the rows of a query as tuples, in order; of a denied one, None."""
    result = ask(sql, *policies, **options)
    if not result.permitted:
        return None
    return sorted((tuple(row.values()) for row in result.table.to_pylist()), key=repr)


def refined(target, *constraints):
    """Return a target of which a rule is about some rows."""
    return {"@type": "AssetCollection", "source": target, "refinement": list(constraints)}


def may_read(*names, constraints=(), **parts):
    """Return a policy that permits columns of the people, and with them all of the visits."""
    some = [refined(one, *constraints) if constraints else one for one in columns(*names)]
    return policy([rule([*some, VISITS], **parts)])


def people_and_visits(*constraints):
    """Return a policy that permits some people and, with them, all of the visits."""
    people = refined(PEOPLE, *constraints) if constraints else PEOPLE
    return policy([rule([people, VISITS])])


def lines(text):
    """Return the queries of a text, one a line."""
    return [line.strip() for line in text.splitlines() if line.strip()]
