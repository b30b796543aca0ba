"""Small policies and tables for the tests, built rather than copied."""

import json
import subprocess
import sys

from policy_engine import terms

ODRL = "http://www.w3.org/ns/odrl.jsonld"
MOSAICROWN = "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"
DATASET = "http://x.org/People"
OUTPUT = "http://x.org/anonPeople"
ANALYST = "http://x.org/analyst"


def refinement(parameter, value):
    operator = "isAllOf" if isinstance(value, list) else "eq"
    return {"leftOperand": parameter, "operator": operator, "rightOperand": value}


def column(name, **settings):
    """Return a column with settings, such as `generalization="prefix"`."""
    return {"@id": f"{DATASET}/{name}", **{f"pe:{key}": value for key, value in settings.items()}}


def anonymize(**parameters):
    """Return the action: parameters and options as values, or a list of several methods.

    Roles are lists of column names, or of what `column` gives; `privacyUnit` is one name.
    """
    given = [_part(name, value) for name, value in parameters.items()]
    return {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": given}


def _part(name, value):
    if name == "method" or not (isinstance(value, list) or name == "privacyUnit"):
        return refinement(_operand(name), value)
    if name == "privacyUnit":
        return refinement(_operand(name), f"{DATASET}/{value}")
    columns = [one if isinstance(one, dict) else f"{DATASET}/{one}" for one in value]
    return refinement(_operand(name), columns)


def _operand(name):
    if name == "quasi":
        return "mosaicrown:quasi-identifier"
    known = terms.instances(f"{terms.ODRL}LeftOperand")
    return f"pe:{name}" if f"{terms.PE}{name}" in known else f"mosaicrown:{name}"


def permission(**parts):
    whole = {"assignee": ANALYST, "target": DATASET, "purpose": "marketing", **parts}
    return {key: value for key, value in whole.items() if value is not None}


def policy(permissions=(), prohibitions=(), **parts):
    whole = {
        "@context": [ODRL, MOSAICROWN],
        "@type": "Set",
        "uid": "http://x.org/policy",
        "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
        "permission": list(permissions),
        "prohibition": list(prohibitions),
        **parts,
    }
    return json.dumps({key: value for key, value in whole.items() if value}, indent=2)


def people_policy(**parts):
    """Return a policy: l-diversity with k 2 and l 2 of age and city, about the disease."""
    action = anonymize(
        method="l-diversity",
        k=2,
        l=2,
        identifier=["name"],
        quasi=["age", "city"],
        sensitive=["disease"],
    )
    rule = permission(uid="http://x.org/policy/1", action=action, output=OUTPUT)
    return policy([rule], **parts)


PEOPLE = """\
name,age,city,disease,phone
Ann,20,Rome,flu,1
Bob,21,Rome,cold,2
Cid,40,Oslo,flu,3
Dan,41,Oslo,cold,4
Eve,60,Bern,flu,5
Fay,61,Bern,cold,6
"""


def modules_loaded_by(*arguments, cwd):
    """Run a command in a process of its own; return the names of what it imported."""
    code = (
        f"import sys; sys.argv = {['policy-engine', *arguments]!r}\n"
        "from policy_engine.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sorted(sys.modules))\n"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd)
    return set(result.stdout.splitlines()[-1].split())
