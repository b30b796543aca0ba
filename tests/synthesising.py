"""Policies that release synthetic rows, and tables to learn from, built for the tests."""

import json

import numpy as np
import pyarrow as pa
from building import DATASET, OUTPUT, anonymize, permission, policy, refinement

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


MODEL = "http://x.org/generator"


def training(*columns, synthesiser="sequential-trees", duty=None, more=(), **parameters):
    """Return a policy by which a generator of some columns is trained, and used once it is
    attacked, by bounds and settings of the attacks in `duty`."""
    named = [one if isinstance(one, dict) else f"{DATASET}/{one}" for one in columns]
    parts = [refinement("pe:synthesised", named)] if columns else []
    parts += [refinement("pe:synthesiser", synthesiser)] if synthesiser else []
    parts += [refinement(f"pe:{name}", value) for name, value in parameters.items()]
    action = {"rdf:value": {"@id": "pe:train"}, "refinement": [*parts, *more]}
    bounds = {"auc": 0.9} if duty is None else duty
    attacked = {"duty": _audit(bounds)} if bounds else {}
    using = permission(target=MODEL, action="use", **attacked)
    return policy([permission(action=action, output=MODEL), using])


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
    reading = permission(target=OUTPUT, action="read", duty=_audit(refinements))
    facts["permission"] = [*facts["permission"], reading]
    return json.dumps(facts)


def _audit(refinements):
    """Return the duty to attack what is made, by bounds and settings of the attacks."""
    operators = dict.fromkeys(("fpr", "holdoutShare", "shadowModels", "attempts"), "eq")
    operators |= {"attack": "isAllOf", "setPValue": "gteq"}
    parts = [
        {
            "leftOperand": f"pe:{name}",
            "operator": operators.get(name, "lteq"),
            "rightOperand": value,
        }
        for name, value in refinements.items()
    ]
    return {"action": {"rdf:value": {"@id": "pe:membershipInference"}, "refinement": parts}}


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


__all__ = ["AGES", "MODEL", "attacking", "residents", "synthesising", "training"]
