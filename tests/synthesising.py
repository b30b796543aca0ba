"""Policies that release synthetic rows, and tables to learn from, built for the tests."""

import json

import numpy as np
import pyarrow as pa
from building import OUTPUT, anonymize, permission, policy

AGES = tuple(range(18, 80))


def synthesising(
    *columns,
    synthesiser="sequential-trees",
    rows=100,
    method="synthetic-data",
    duty=None,
    **more,
):
    """Return a policy by which rows of some columns are made up, with other parameters."""
    named = {"synthesised": list(columns)} if columns else {}
    named |= {"synthesiser": synthesiser} if synthesiser else {}
    named |= {"syntheticRows": rows} if rows is not None else {}
    action = anonymize(method=method, **named, **more)
    return policy([permission(action=action, output=OUTPUT, duty=duty)])


def attacking(
    columns,
    rows=100,
    leaf=5,
    synthesiser="sequential-trees",
    unit="",
    identifier=(),
    **refinements,
):
    """Return a policy by which made-up rows may be read once they are attacked, by bounds and
    settings of the attacks."""
    more = {"leafSize": leaf} if synthesiser == "sequential-trees" else {}
    more |= {"privacyUnit": unit} if unit else {}
    more |= {"identifier": [*identifier]} if identifier else {}
    facts = json.loads(synthesising(*columns, rows=rows, synthesiser=synthesiser, **more))
    operators = dict.fromkeys(("fpr", "holdoutShare", "shadowModels"), "eq")
    operators |= {"attack": "isAllOf", "setPValue": "gteq"}
    parts = [
        {
            "leftOperand": f"pe:{name}",
            "operator": operators.get(name, "lteq"),
            "rightOperand": value,
        }
        for name, value in refinements.items()
    ]
    duty = {"action": {"rdf:value": {"@id": "pe:membershipInference"}, "refinement": parts}}
    reading = permission(target=OUTPUT, action="read", duty=duty)
    facts["permission"] = [*facts["permission"], reading]
    return json.dumps(facts)


def residents(rows=600, seed=1):
    """Return a table of persons whose wage goes with the age, and whose town with the wage."""
    generator = np.random.default_rng(seed)
    age = generator.choice(AGES, rows)
    wage = 100 * age + generator.integers(0, 1500, rows)
    town = np.where(wage > 6000, "Rome", np.where(generator.random(rows) < 0.5, "Oslo", "Bern"))
    return pa.table(
        {
            "name": [f"p{row}" for row in range(rows)],
            "age": age.tolist(),
            "wage": wage.tolist(),
            "town": town.tolist(),
        }
    )


__all__ = ["AGES", "attacking", "residents", "synthesising"]
