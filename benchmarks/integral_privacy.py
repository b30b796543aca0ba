"""Accuracy and membership risk of a plain tree, an integrally private one, and a private network.

    python benchmarks/integral_privacy.py [--quick] [--json FILE]

On Adult, from the eight quasi-identifiers: an audit of each model by the same attacks, with
as many members as others. Figures are means over seeds with their standard deviation. --quick
takes one seed and a part of the records. The table is named as missing if it does not lie beside
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

from local import ROOT, SHARED, machine

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
ATTACKS = ["loss", "lira-offline", "rmia"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed, a part of the records")
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS), metavar="MODEL")
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
        figures.append(audited(name, table, range(1 if options.quick else 5)))
        print("  ".join(f"{key} {value}" for key, value in figures[-1].items()), flush=True)
    report = {"machine": machine(), "quick": options.quick, "figures": figures}
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


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


def spread(values):
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.3f} ({deviation:.3f})"


if __name__ == "__main__":
    main()
