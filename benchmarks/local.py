"""What the main job costs on one machine: start-up, the partitioner, and whole runs.

    python benchmarks/local.py [--quick] [--json FILE]

Figures are CPU seconds (user and system) of whole processes unless said otherwise, the median of
several runs; memory is the largest resident set. Real data sets are used where they lie beside the
project, and named as missing where they do not.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
COMMAND = [sys.executable, "-m", "policy_engine"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer runs on smaller tables")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "local.json")
    options = parser.parse_args()
    rows = 100_000 if options.quick else 1_000_000
    runs = 3 if options.quick else 5
    figures = [*start_up(runs + 4), *partitioner(rows, runs), *many_columns(quick=options.quick)]
    with tempfile.TemporaryDirectory() as folder:
        for name, data, policy, iri in tables(Path(folder), rows):
            figures.append(whole_run(name, data, policy, iri, Path(folder), runs))
    report = {"machine": machine(), "quick": options.quick, "figures": figures}
    for figure in figures:
        print("  ".join(f"{key} {value}" for key, value in figure.items()))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def machine():
    packages = ("policy-engine", "numpy", "numba", "pyarrow", "pydantic", "typer")
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def cpu_of(command, **options):
    """Run a command; return its CPU seconds, its peak memory in MB, and what it printed."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options
    ) as process:
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, output


def start_up(runs):
    """CPU of `validate` on the Customer policy, beside that of an import everybody knows."""
    validate = [*COMMAND, "validate", str(ROOT / "policies" / "customer.jsonld")]
    numpy = [sys.executable, "-c", "import numpy"]
    ours, theirs = [], []
    for _ in range(runs):
        ours.append(cpu_of(validate)[0])
        theirs.append(cpu_of(numpy)[0])
    yield {
        "what": "validate customer.jsonld",
        "cpu_s": round(statistics.median(ours), 3),
        "cpu_s_least": round(min(ours), 3),
        "over_import_numpy": round(statistics.median(ours) / statistics.median(theirs), 2),
    }


def partitioner(rows, runs):
    """CPU of the partitioner alone, in this process and warm, on random codes."""
    import numpy as np

    from policy_engine.kernels.axis import Axis, Interval
    from policy_engine.kernels.bounds import ClassConstraint, Diversity
    from policy_engine.kernels.layout import Cutting, SensitiveRows
    from policy_engine.kernels.mondrian import partition

    random = np.random.default_rng(1)
    axes = [
        Axis(random.integers(0, card, rows).astype(np.int32), Interval(np.linspace(0, 1, card)))
        for card in (51, 96, 24, 500)
    ]
    people = SensitiveRows((random.integers(0, 50, rows).astype(np.int32),))
    for k, l, score in ((5, 0, "loss"), (100, 0, "loss"), (10, 3, "loss"), (5, 0, "span")):  # noqa: E741
        constraint = ClassConstraint(k, (Diversity(distinct=l),))
        partition(axes, people, constraint, Cutting(score))
        spent, waited = [], []
        for _ in range(runs):
            start, wall = time.process_time(), time.perf_counter()
            classes = partition(axes, people, constraint, Cutting(score))
            spent.append(time.process_time() - start)
            waited.append(time.perf_counter() - wall)
        yield {
            "what": f"partition {rows:,} x 4, k={k} l={l} by {score}",
            "cpu_s": round(statistics.median(spent), 3),
            "wall_s": round(statistics.median(waited), 3),
            "classes": len(classes.starts) - 1,
        }


def many_columns(*, quick):
    """CPU of the two searches that grow fastest: many text columns, and many numeric ones.

    In this process and warm, on 3,000 random rows of 50 values a column, k=5.
    """
    import numpy as np

    from policy_engine.kernels.axis import Axis, Members
    from policy_engine.kernels.bounds import ClassConstraint
    from policy_engine.kernels.full_domain import Ladder, search
    from policy_engine.kernels.layout import Cutting, SensitiveRows
    from policy_engine.kernels.mondrian import partition

    random, rows = np.random.default_rng(1), 3_000
    few = [Axis(np.arange(20, dtype=np.int32) % 2, Members(2))]
    partition(
        few, SensitiveRows(), ClassConstraint(5, ()), Cutting()
    )  # compiled, or loaded, by now

    def ladder():
        codes = random.integers(0, 50, rows).astype(np.int32)
        parts = [np.arange(50, dtype=np.int32)]
        parts += [(np.arange(50) * n // 50).astype(np.int32) for n in (16, 8, 4, 2, 1)]
        widths = [(np.bincount(level) - 1) / 49 for level in parts]
        return Ladder(codes, tuple(parts), tuple(widths))

    for columns in (20, 60) if quick else (20, 60, 100, 200):
        codes = [random.integers(0, 50, rows).astype(np.int32) for _ in range(columns)]
        axes = [Axis(column, Members(50)) for column in codes]
        start = time.process_time()
        classes = partition(axes, SensitiveRows(), ClassConstraint(5, ()), Cutting())
        spent, count = time.process_time() - start, len(classes.starts) - 1
        yield {"what": f"partition 3,000 x {columns}", "cpu_s": round(spent, 2), "classes": count}
    search([ladder()], size=5)
    for columns in (5, 6) if quick else (5, 6, 7, 8):
        start = time.process_time()
        found = search([ladder() for _ in range(columns)], size=5)
        spent = time.process_time() - start
        what = f"full-domain 3,000 x {columns}, {found.nodes:,} nodes"
        yield {"what": what, "cpu_s": round(spent, 2), "checked": found.checked}


def tables(folder, rows):
    """Yield (name, path, policy, IRI of the dataset) for each table at hand."""
    customers = folder / "customers.csv"
    cpu_of([*COMMAND, "sample", "customer", "--rows", str(rows // 10), "--output", str(customers)])
    yield f"customer {rows // 10:,}", customers, "customer", "http://example.com/Customer"
    for name, data, policy, iri in (
        ("adult 48,842", "adult.csv.gz", "adult", "http://example.com/Adult"),
        ("diabetes 101,766", "diabetes_130us.csv.gz", "diabetes", "http://example.com/Encounters"),
    ):
        if (SHARED / "data" / data).exists():
            yield name, SHARED / "data" / data, policy, iri
        else:
            print(f"MISSING: {data} does not lie in {SHARED / 'data'}")


def whole_run(name, data, policy, iri, folder, runs):
    """Cost of `apply`, file to file, verification included, and what came out."""
    path = policy if isinstance(policy, Path) else ROOT / "policies" / f"{policy}.jsonld"
    output = folder / "out" / "anonymous.csv"
    command = [*COMMAND, "apply", str(path), "--data", f"{iri}={data}", "--output", str(output)]
    spent, memory = [], []
    for _ in range(runs):
        cpu, peak, printed = cpu_of([*command, "--overwrite", "--format", "json"])
        spent.append(cpu)
        memory.append(peak)
    certificate = json.loads(printed)["certificate"]
    return {
        "what": f"apply {name}",
        "cpu_s": round(statistics.median(spent), 2),
        "peak_mb": round(max(memory)),
        "gcp": round(certificate["utility"]["global_certainty_penalty"], 4),
        "classes": certificate["utility"]["classes"],
        "c_avg": round(certificate["utility"]["average_class_ratio"], 3),
    }


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
