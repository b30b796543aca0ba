"""What `apply` costs over its limit, in this tree and in others, run by turns.

    python benchmarks/limits.py [--quick] [--large] [--runs N] [--against TREE ...] [--json FILE]

The limit of a table is pyarrow reading its CSV file and writing it again in a process of its own;
of the smallest table, where starting is most, importing numpy, pyarrow and numba. CPU seconds are
user and system time of the whole process tree, the median of several runs; memory is the largest
resident set. A tree is a clone of this project, such as one of an older commit: machines differ,
and so does one machine from hour to hour, but trees that take turns are measured alike.
"""

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from anonymization import path_of, written_policy
from local import COMMAND, ROOT, cpu_of, machine

COPY = """
import sys
from pyarrow import csv
csv.write_csv(csv.read_csv(sys.argv[1]), sys.argv[2])
"""
IMPORTS = "import numpy, pyarrow, numba"
TABLES = ("adult8", "hosp", "acs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one run, of the small tables")
    parser.add_argument("--large", action="store_true", help="ten million rows as well, once")
    parser.add_argument("--against", nargs="*", type=Path, default=[], metavar="TREE")
    parser.add_argument("--runs", type=int, default=5, help="runs of every tree on a table")
    default = ROOT / "benchmarks" / "results" / "limits.json"
    parser.add_argument("--json", type=Path, default=default)
    options = parser.parse_args()
    trees = [*(one.resolve() for one in options.against), ROOT]
    names = TABLES[:2] if options.quick else (*TABLES, *["acs10"] * options.large)
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for table in names:
            path = path_of(table, Path(folder))
            runs = 1 if options.quick or table == "acs10" else options.runs
            if path:
                for figure in measured(table, path, trees, Path(folder), runs):
                    figures.append(figure)
                    print("  ".join(f"{key} {value}" for key, value in figure.items()), flush=True)
    report = {"machine": machine(), "quick": options.quick, "figures": figures}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def measured(table, path, trees, folder, runs):
    """Yield the cost of every tree on a table, and how much it is over the limit."""
    for tree in trees:
        applied(table, path, tree, folder)  # compiled, or loaded, by now
    spent = {tree: [] for tree in trees}
    limits = []
    for _ in range(runs):
        for tree in trees:
            spent[tree].append(applied(table, path, tree, folder))
        limits.append(limit(table, path, folder))
    least = statistics.median(limits)
    for tree, results in spent.items():
        cpu = statistics.median(one[0] for one in results)
        yield {
            "table": table,
            "tree": tree.name if tree != ROOT else "this one",
            "cpu_s": round(cpu, 2),
            "limit_s": round(least, 2),
            "over_limit": round(cpu / least, 2),
            "peak_mb": round(max(one[1] for one in results)),
            "same_bytes": len({one[2] for every in spent.values() for one in every}) == 1,
        }


def applied(table, path, tree, folder):
    """Apply a policy in a tree; return CPU seconds, memory, and the digest of the output."""
    iri = f"http://example.com/{table}"
    policy = written_policy(folder, iri, 5, 0, {}, table)
    output = folder / tree.name / table / "anonymous.csv"
    command = [*COMMAND, "apply", str(policy), "--data", f"{iri}={path}", "--output", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # which would leave the kernels uncompiled
    cpu, peak, _ = cpu_of([*command, "--overwrite", "--format", "json"], env=environment, cwd=tree)
    return cpu, peak, hashlib.sha256(output.read_bytes()).hexdigest()


def limit(table, path, folder):
    """Return the CPU seconds of what no tool that reads and writes such a table can do without."""
    code = [IMPORTS] if table == "adult8" else [COPY, str(path), str(folder / "copy.csv")]
    return cpu_of([sys.executable, "-c", *code])[0]


if __name__ == "__main__":
    main()
