"""What it costs to measure the privacy of a release, class by class, once it is grouped.

    python benchmarks/measures.py [--quick] [--json FILE]

Figures are CPU seconds (user and system) in this process and warm, the median of several runs, on
random classes of at least 5 rows. The histogram, which sorts the rows once, is reported apart from
the measures, which read it.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np
from local import ROOT, machine

from policy_engine.kernels import diversity
from policy_engine.kernels.diversity import ValueHierarchy, histogram

CLASSES_PER_MILLION = 106_005
"""As many as a 5-anonymous million of census records has."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer runs on smaller tables")
    results = ROOT / "benchmarks" / "results" / "measures.json"
    parser.add_argument("--json", type=Path, default=results)
    options = parser.parse_args()
    rows = 100_000 if options.quick else 1_000_000
    runs = 3 if options.quick else 5
    figures = [figure for values in (50, 5_000) for figure in measures(rows, values, runs)]
    for figure in figures:
        print(f"{figure['what']:24}{figure['values']:>6} values{figure['cpu_s']:10.4f} CPU s")
    report = {"machine": machine(), "quick": options.quick, "rows": rows, "figures": figures}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def measures(rows, values, runs):
    """Yield the CPU seconds of the histogram, of every measure of it, and of all measures."""
    random = np.random.default_rng(1)
    count = rows * CLASSES_PER_MILLION // 1_000_000
    class_of = classes(rows, count, random)
    codes = random.integers(0, values, rows).astype(np.int32)
    persons = random.integers(0, rows // 2, rows)
    counted = histogram(class_of, count, codes)
    calls = {
        "histogram": lambda: histogram(class_of, count, codes),
        "histogram of persons": lambda: histogram(class_of, count, codes, persons),
        "distinct": lambda: diversity.distinct(counted),
        "entropy": lambda: diversity.entropy(counted),
        "recursive, l = 3": lambda: diversity.recursive(counted, 3),
        "most frequent": lambda: diversity.most_frequent(counted),
        "variational": lambda: diversity.variational(counted),
        "ordered": lambda: diversity.ordered(counted),
        "hierarchical": lambda: diversity.hierarchical(counted, three_levels(values)),
        "beta": lambda: diversity.beta(counted),
        "enhanced beta": lambda: diversity.enhanced_beta(counted),
        "delta": lambda: diversity.delta(counted),
    }
    spent = {what: cpu_of(call, runs) for what, call in calls.items()}
    spent["all measures"] = sum(list(spent.values())[2:])
    for what, seconds in spent.items():
        yield {"what": what, "values": values, "classes": count, "cpu_s": round(seconds, 4)}


def classes(rows, count, random):
    """Return a class number for every row: random sizes of at least 5, in random order."""
    sizes = 5 + random.multinomial(rows - 5 * count, np.full(count, 1 / count))
    return random.permutation(np.repeat(np.arange(count), sizes))


def three_levels(values):
    """Return a tree: ten values to a group, scattered over the codes, ten groups to a kind."""
    groups, kinds = values // 10, max(values // 100, 1)
    above_values = values + np.arange(values) % groups
    above_groups = values + groups + np.arange(groups) % kinds
    root = values + groups + kinds
    parents = [*above_values, *above_groups, *[root] * kinds, -1]
    return ValueHierarchy(np.array(parents), np.arange(values))


def cpu_of(call, runs):
    """Return the median CPU seconds of a call that was made once before."""
    call()
    spent = []
    for _ in range(runs):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


if __name__ == "__main__":
    main()
