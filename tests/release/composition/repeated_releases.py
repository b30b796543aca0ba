"""Policies for releases of one table, and what is read of these by others than the engine."""

import json

from policy_engine import apply_policy

DATA = "http://example.com/People"
_CONTEXTS = [
    "http://www.w3.org/ns/odrl.jsonld",
    "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    {"pe": "https://w3id.org/policy-engine/ns#"},
]


def asking(name, quasi, *, sensitive=("disease",), k=2, methods=("k-anonymity",), **options):
    """Return a policy that asks for a release of some columns, called by a name."""
    unit = options.pop("unit", "")

    def refinement(term, values, operator="eq"):
        return {"leftOperand": term, "operator": operator, "rightOperand": values}

    columns = [refinement("mosaicrown:quasi-identifier", _iris(quasi), "isAllOf")]
    if sensitive:
        columns.append(refinement("mosaicrown:sensitive", _iris(sensitive), "isAllOf"))
    if unit:
        columns.append(refinement("pe:privacyUnit", f"{DATA}/{unit}"))
    own = {"l": "mosaicrown:l"}
    others = [refinement(own.get(term, f"pe:{term}"), value) for term, value in options.items()]
    method = refinement("mosaicrown:method", [*methods], "isAllOf")
    if len(methods) == 1:
        method = refinement("mosaicrown:method", methods[0])
    action = {
        "rdf:value": {"@id": "odrl:anonymize"},
        "refinement": [method, refinement("mosaicrown:k", k), *columns, *others],
    }
    rule = {
        "assignee": "http://example.com/Reader",
        "target": DATA,
        "output": f"http://example.com/{name}",
        "action": [action],
        "purpose": "http://example.com/Research",
    }
    document = {"@context": _CONTEXTS, "@type": "Set", "uid": f"http://example.com/policy/{name}"}
    return json.dumps({**document, "permission": [rule]})


def _iris(names):
    return [f"{DATA}/{name}" for name in names]


def released(policy, table, ledger, output=None, **options):
    """Return the release of a table."""
    return apply_policy(policy, {DATA: table}, output, ledger=ledger, **options)


def classes_of(release, quasi, key):
    """Return the persons of each class of a release, by a column that tells who they are.

    Classes are the rows with equal cells, read off the output as anybody can.
    """
    classes = {}
    for row in release.table.to_pylist():
        classes.setdefault(tuple(row[name] for name in quasi), set()).add(row[key])
    return [*classes.values()]


def fewest(parts, everybody):
    """Return among how few persons somebody is, by the classes of several releases; those who are
    in no class of one of them are a class of it, too."""
    return min(map(len, intersections(parts, everybody)), default=0)


def fewest_values(parts, everybody, values):
    """Return how few values persons have among whom somebody is, by the classes of releases."""
    sets = ({values[one] for one in persons} for persons in intersections(parts, everybody))
    return min(map(len, sets), default=0)


def intersections(parts, everybody):
    """Return the persons who are in the same class of each of several releases."""
    where = {person: [] for person in everybody}
    for classes in parts:
        for person in everybody:
            where[person].append(next((n for n, one in enumerate(classes) if person in one), -1))
    together = {}
    for person, places in where.items():
        if any(n >= 0 for n in places):
            together.setdefault(tuple(places), []).append(person)
    return together.values()
