"""Policies that ask for statistics under differential privacy, and visits to make them of."""

import json

import pyarrow as pa

from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy

VISITS = "http://e.org/Visits"
OUTPUT = "http://e.org/Statistics"
UNITS = {"pe:function": "count-units", "pe:name": "persons"}
ROWS = {"pe:function": "count", "pe:name": "rows"}
DAYS = {
    "pe:function": "sum",
    "pe:of": f"{VISITS}/days",
    "pe:lower": 0,
    "pe:upper": 14,
    "pe:grid": 1,
    "pe:name": "days",
}
MEDIAN = {
    "pe:function": "quantile",
    "pe:of": f"{VISITS}/days",
    "pe:at": 0.5,
    "pe:candidates": [0, 14, 1],
    "pe:name": "median",
}
BY_SEX = [{"@id": f"{VISITS}/sex", "pe:keys": ["f", "m"]}]
PARAMETERS = {
    "mosaicrown:method": "differential-privacy",
    "pe:privacyUnit": {"@id": f"{VISITS}/person"},
    "pe:neighbours": "add-or-remove",
    "pe:maxGroupsPerUnit": 1,
    "pe:maxRowsPerGroup": 2,
    "pe:epsilon": {"@value": "1", "@type": "xsd:decimal"},
    "pe:release": {"@id": "http://e.org/query"},
}
_OPERATORS = {
    "pe:maxGroupsPerUnit": "lteq",
    "pe:maxRowsPerGroup": "lteq",
    "pe:epsilon": "lteq",
    "pe:delta": "lteq",
    "pe:mechanism": "isAnyOf",
    "pe:selection": "isAnyOf",
}


def policy_text(*aggregates, by=BY_SEX, query=(), without=(), rule=(), policy=(), **parameters):
    """Return a policy with one release of some aggregates, by sex unless grouped by others.

    `parameters` change those of the method, by their local names; `without` some of them.
    """
    given = {**PARAMETERS, **{f"pe:{name}": value for name, value in parameters.items()}}
    refinements = [
        {"leftOperand": name, "operator": _OPERATORS.get(name, "eq"), "rightOperand": value}
        for name, value in given.items()
        if name.partition(":")[2] not in without
    ]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": refinements}
    grouped = {"pe:groupBy": by} if by else {}
    return json.dumps(
        {
            "@context": [
                "http://www.w3.org/ns/odrl.jsonld",
                "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
                {"xsd": "http://www.w3.org/2001/XMLSchema#"},
            ],
            "@type": "Set",
            "uid": "http://e.org/policy",
            "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
            "permission": [
                {
                    "uid": "http://e.org/policy#release",
                    "target": VISITS,
                    "action": [action],
                    "output": OUTPUT,
                    **dict(rule),
                }
            ],
            "pe:queries": [
                {
                    "uid": "http://e.org/query",
                    **grouped,
                    "pe:aggregate": list(aggregates) or [UNITS],
                    **dict(query),
                }
            ],
            **dict(policy),
        }
    )


def planned(*aggregates, **changes):
    """Return the plan of a policy of `policy_text`, without data."""
    return make_plan(read_policy(policy_text(*aggregates, **changes)))


def step_of(*aggregates, **changes):
    """Return the step that makes the statistics of a policy of `policy_text`."""
    return planned(*aggregates, **changes).require_aggregate()


def visits(*rows):
    """Return a table of visits: of each row a person, a sex and a number of days."""
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    kinds = (pa.string(), pa.string(), pa.int64())
    arrays = [pa.array(one, kind) for one, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=["person", "sex", "days"])
