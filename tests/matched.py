"""Two owners' tables that are joined, and policies that anonymise what comes of it."""

import csv
import io
import json

from building import permission, policy, refinement

EX = "http://example.com/"
VISITS, CLAIMS, MATCHED = f"{EX}Visits", f"{EX}Claims", f"{EX}Matched"
HOSPITAL, INSURER, UNIVERSITY, ANN = (
    f"{EX}{name}" for name in ("Hospital", "Insurer", "University", "Ann")
)
OWNERS = {VISITS: HOSPITAL, CLAIMS: INSURER}
VISITS_TEXT = """\
Patient,Name,Age,Diagnosis
1,Ann,20,flu
2,Bob,21,cold
3,Cid,40,flu
4,Dan,41,cold
5,Eve,60,flu
,Nil,61,cold
7,Fay,62,cold
"""
CLAIMS_TEXT = """\
Insured,Zip,Amount,Agent
4,20121,10,x
3,20122,20,y
2,20123,30,x
1,20124,40,z
9,20125,50,z
,20125,50,z
7,20126,60,q
5,20127,70,q
"""
BY_KEY = [f"{VISITS}/Patient", f"{CLAIMS}/Insured"]
ROLES = {
    "quasi": [f"{VISITS}/Age", f"{CLAIMS}/Zip"],
    "sensitive": [f"{VISITS}/Diagnosis", f"{CLAIMS}/Amount"],
}
RULE = ("assignee", "target", "output", "purpose", "constraint", "duty")
_OLD = {"quasi": "quasi-identifier"}
_OLD |= {name: name for name in ("method", "k", "l", "identifier", "sensitive")}


def anonymizing(**parameters):
    """Return the action to anonymise, of columns by their IRIs; what is None is left out."""
    named = {f"mosaicrown:{_OLD[n]}" if n in _OLD else f"pe:{n}": n for n in parameters}
    given = [refinement(iri, parameters[n]) for iri, n in named.items()]
    given = [one for one in given if one["rightOperand"] is not None]
    return {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": given}


def matching(uid="joint", issuer=None, **parts):
    """Return the policy that matches visits with claims: l-diversity with k 2 and l 2."""
    rule = {name: parts.pop(name) for name in RULE if name in parts}
    asked = {"method": "l-diversity", "k": 2, "l": 2, "joinOn": BY_KEY, **ROLES, **parts}
    usual = {"assignee": UNIVERSITY, "target": [VISITS, CLAIMS], "output": MATCHED}
    whole = {"purpose": None, **usual, **rule}
    made = permission(uid=f"{EX}{uid}#make", action=anonymizing(**asked), **whole)
    return json.loads(policy([made], uid=f"{EX}{uid}", assigner=issuer))


def tables(folder, visits=VISITS_TEXT, claims=CLAIMS_TEXT):
    """Return the data, written as files."""
    data = {VISITS: folder / "visits.csv", CLAIMS: folder / "claims.csv"}
    for path, text in zip(data.values(), (visits, claims), strict=True):
        path.write_text(text)
    return data


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def nested_loop(some, others, on):
    """Return the pairs of rows of one key, found by looking at every pair."""
    return [(one, other) for one in some for other in others if one[on[0]] == other[on[1]] != ""]
