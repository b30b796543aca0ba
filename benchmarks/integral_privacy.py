"""Accuracy and membership risk of plain, integrally private and differentially private trees.

    python benchmarks/integral_privacy.py [--quick] [--json FILE]

On Adult, from the eight quasi-identifiers: an audit of each model by the same attacks, with
as many members as others. Figures are means over seeds with their standard deviation. --quick
takes one seed and a part of the records. A network under differential privacy, which the product
trains, stands beside them. The table is named as missing if it does not lie beside
the project.
"""

import argparse
import csv
import gzip
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from local import ROOT, SHARED, machine
from private_tree import PrivateTree, candidates, membership_auc

from policy_engine import audit_membership
from policy_engine.audits.membership.settings import Settings
from policy_engine.methods.audits.classifier import read_architecture

COLUMNS = (
    *("age", "workclass", "education", "marital-status", "occupation", "race", "sex"),
    *("native-country", "income"),
)
PRIVATE = {"privacy": {"epsilon": 1.0, "clipping_norm": 1.0}, "epochs": 20, "batch_size": 256}
TREE = {"name": "DecisionTreeClassifier"}
MODELS = {
    "plain tree": TREE,
    "tree of at most 6 levels": {**TREE, "parameters": {"max_depth": 6}},
    "tree of at most 3 levels": {**TREE, "parameters": {"max_depth": 3}},
    "5 generators": {**TREE, "generators": 5},
    "20 generators": {**TREE, "generators": 20},
    "network, epsilon 1": {"layers": [{"units": 32}], **PRIVATE},
}
PRIVATE_TREES = {
    "private tree of 2 levels, epsilon 1": PrivateTree(depth=2, epsilon=1.0),
    "private tree of 3 levels, epsilon 1": PrivateTree(depth=3, epsilon=1.0),
}
ATTACKS = ["loss", "lira-offline", "rmia"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed, a part of the records")
    parser.add_argument("--only", nargs="+", metavar="MODEL", **_choices())
    results = ROOT / "benchmarks" / "results" / "integral_privacy.json"
    parser.add_argument("--json", type=Path, default=results)
    options = parser.parse_args()
    source = SHARED / "data" / "adult.csv.gz"
    if not source.exists():
        sys.exit(f"MISSING: {source}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    table = options.json.parent / "adult_quasi.csv"
    write_table(source, table, 6_000 if options.quick else 24_000)
    figures = []
    for name in options.only:
        seeds = range(1 if options.quick else 5)
        found = (
            private(name, table, seeds) if name in PRIVATE_TREES else audited(name, table, seeds)
        )
        figures.append(found)
        print("  ".join(f"{key} {value}" for key, value in figures[-1].items()), flush=True)
    report = {"machine": machine(), "quick": options.quick, "figures": figures}
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def _choices():
    names = [*MODELS, *PRIVATE_TREES]
    return {"choices": names, "default": names}


def write_table(source, target, rows):
    with gzip.open(source, "rt", newline="") as file, target.open("w", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        for _, row in zip(range(rows), csv.DictReader(file), strict=False):
            writer.writerow(row)


def audited(name, table, seeds):
    """Return the accuracies of a model and what attacks reach, as means over seeds."""
    start, reports = time.process_time(), []
    for seed in seeds:
        settings = Settings(attacks=tuple(ATTACKS), shadows=4, seed=seed)
        model = read_architecture(json.dumps(MODELS[name]))
        reports.append(audit_membership(table, "income", model, settings=settings))
    found = {
        "on members": [one.target_train.accuracy for one in reports],
        "on others": [one.target_test.accuracy for one in reports],
    }
    for attack in ATTACKS:
        results = [one.attack(attack) for one in reports]
        found[f"{attack} AUC"] = [one.figures.auc.value for one in results]
        found[f"{attack} cannot rank"] = [float(bool(one.degenerate)) for one in results]
    told = {key: spread(values) for key, values in found.items()}
    return {"model": name, **told, "CPU s": round(time.process_time() - start, 1)}


def private(name, table, seeds):
    """Return the accuracies of a private tree, grown on a quarter of the records as the others are,
    and what the attack by loss reaches: right labels are all that it has."""
    start = time.process_time()
    with table.open(newline="") as file:
        records = list(csv.DictReader(file))
    decisions = candidates(records)
    is_high = np.array([one["income"] == ">50K" for one in records])
    found = {"on members": [], "on others": [], "loss AUC": []}
    for seed in seeds:
        random = np.random.default_rng(seed)
        members, others = np.split(random.permutation(len(records)), 4)[:2]
        is_member = np.isin(np.arange(len(records)), members)
        is_right = PRIVATE_TREES[name].labels(decisions, is_high, is_member, random) == is_high
        found["on members"].append(is_right[members].mean())
        found["on others"].append(is_right[others].mean())
        found["loss AUC"].append(membership_auc(is_right, members, others))
    told = {key: spread(values) for key, values in found.items()}
    return {"model": name, **told, "CPU s": round(time.process_time() - start, 1)}


def spread(values):
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.3f} ({deviation:.3f})"


if __name__ == "__main__":
    main()
