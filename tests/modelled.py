"""A policy that releases a model, and the table that it is trained on."""

import csv
import json
import random

from building import ANALYST, DATASET, OUTPUT, anonymize, permission, policy, refinement

from policy_engine.api.planning import plan_policy
from policy_engine.certificate.beside import load_certificate
from policy_engine.data.catalog import make_catalog
from policy_engine.decision import Request, decide
from policy_engine.engines.local import LocalEngine
from policy_engine.policy import read_policy
from policy_engine.policy.model import READ
from policy_engine.release.training_table import TrainingTable
from policy_engine.terms import MOSAICROWN

MODEL = "http://x.org/model"
TEAM = "http://x.org/team"
MARKETING = f"{MOSAICROWN}marketing"
BOUNDS = {"auc": 0.75}
LEAKING = """{"name": "MLPClassifier", "parameters": {"hidden_layer_sizes": [64], "alpha": 0.0,
    "max_iter": 400, "learning_rate_init": 0.02}}"""
"""A model that remembers some of its records: trees of released models have no leaf of a few."""


def people_table(path, rows=480, seed=7):
    """Write people of whom the disease follows from age and city, but for one in five."""
    draw = random.Random(seed)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["name", "age", "city", "disease"])
        for number in range(rows):
            age, city = draw.randrange(20, 80), draw.choice(["Rome", "Oslo", "Bern", "Nice"])
            ill = (age > 50) != (city in ("Rome", "Oslo"))
            ill = not ill if draw.random() < 0.2 else ill
            out.writerow([f"P{number}", age, city, "flu" if ill else "none"])
    return path


def bound(name, value, operator="lteq"):
    return {"leftOperand": f"pe:{name}", "operator": operator, "rightOperand": value}


def audit(attacks=("loss",), shadows=4, bounds=None, **more):
    """Return the action of a duty to audit, its bounds at most so much."""
    parts = [bound(name, value) for name, value in (bounds or BOUNDS).items()]
    parts += [refinement("pe:attack", list(attacks)), refinement("pe:shadowModels", shadows)]
    parts += [refinement(f"pe:{name}", value) for name, value in more.items()]
    return {"rdf:value": {"@id": "pe:membershipInference"}, "refinement": parts}


def train(model="GaussianNB", target=OUTPUT, **more):
    given = {"label": f"{DATASET}/disease", "model": model, **more}
    action = {
        "rdf:value": {"@id": "pe:train"},
        "refinement": [refinement(f"pe:{name}", value) for name, value in given.items()],
    }
    return permission(
        uid="http://x.org/policy#train", assignee=TEAM, target=target, action=action, output=MODEL
    )


def anonymised(**options):
    given = {"identifier": ["name"], "quasi": ["age", "city"], "sensitive": ["disease"]}
    action = anonymize(method="k-anonymity", k=5, **given, **options)
    return permission(uid="http://x.org/policy#anonymize", action=action, output=OUTPUT)


def use(target=MODEL, **audited):
    duty = {"uid": "http://x.org/policy#audit", "action": audit(**audited)}
    return permission(
        uid="http://x.org/policy#use", assignee=ANALYST, target=target, action="read", duty=duty
    )


def of_release(model="GaussianNB", **audited):
    """Return the policy: anonymise, train, audit, release only the model."""
    return policy([anonymised(), train(model), use(**audited)])


def of_raw(model="GaussianNB", **audited):
    """Return the policy that trains on the records as they are."""
    features = [f"{DATASET}/age", f"{DATASET}/city"]
    return policy([train(model, DATASET, feature=features), use(**audited)])


def of_table(**audited):
    """Return the policy that releases a table, once a model of it is audited."""
    given = {"label": f"{OUTPUT}/disease", "model": "GaussianNB", **audited}
    return policy([anonymised(), use(OUTPUT, **given)])


def with_secrets(text, *parts, action="pe:attributeInference"):
    """Return a policy that asks for attacks on columns of its model, too."""
    document = json.loads(text)
    for rule in document["permission"]:
        if "duty" in rule:
            secrets = {"rdf:value": {"@id": action}, "refinement": list(parts)}
            duty = {"uid": "http://x.org/policy#secrets", "action": secrets}
            rule["duty"] = [rule["duty"], duty]
    return json.dumps(document)


def learned(*names):
    return refinement("pe:learned", [f"{DATASET}/{name}" for name in names])


CITY = learned("city")


def decision_on(text, folder, assignee, target=MODEL):
    """Return the decision on reading an output, given the certificate in its folder."""
    request = Request(assignee=assignee, action=READ, targets=(target,), purpose=MARKETING)
    certificates = [load_certificate(folder)] if folder else []
    return decide([read_policy(text)], certificates, request)


def file_names(folder):
    """Return the paths of everything in a folder, relative to it."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def people_spelt_in_ways(table, tmp_path, times=4):
    """Return people several times over, each time with their numbers written otherwise."""
    header, *rows = (row.split(",") for row in table.read_text().split())
    lines = [
        f"{name},{age}{'.' + '0' * place if place else ''},{city},{disease}"
        for place in range(times)
        for name, age, city, disease in rows
    ]
    file = tmp_path / "spelt.csv"
    file.write_text("\n".join([",".join(header), *lines]) + "\n")
    return file, len(rows)


def repeated_people(path, rows, times):
    """Write so many people, each of them so many times."""
    first, *people = people_table(path, rows).read_text().splitlines()
    path.write_text("\n".join([first, *(one for one in people for _ in range(times))]) + "\n")
    return path


def training_table(path, text):
    """Return the table that the model of a policy is trained on, in this process."""
    plan = plan_policy(text, {DATASET: path})
    engine = LocalEngine(make_catalog({DATASET: path}).tables)
    return TrainingTable(plan, plan.train, engine, engine.read(plan.read)[0], 1)
