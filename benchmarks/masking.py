"""What masking costs and loses, beside the goals that were set for it.

    python benchmarks/masking.py [--quick] [--json FILE]

Figures are CPU seconds (user and system) of the kernel alone, in this process and warm, the least
of several runs; random bits are drawn beforehand. Then comes one figure for each method, of a table
in memory: masked, with what is seen of it, as `apply` does between reading and writing. The last
two are whole runs of `apply`, file to file. --quick takes a tenth of the rows, where goals of time
say nothing. Tables that do not lie beside the project are named as missing.
"""

import argparse
import csv
import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from local import COMMAND, ROOT, SHARED, cpu_of, machine

from policy_engine.data.taxonomy import read_taxonomy
from policy_engine.engines.masking.sampling import sample_table
from policy_engine.engines.masking.whole_tables import mask_table
from policy_engine.kernels.bucketization import anatomy
from policy_engine.kernels.local_suppression import suppress_cells
from policy_engine.kernels.match_counts import match_counts
from policy_engine.kernels.microaggregation import information_loss, microaggregate
from policy_engine.kernels.noise import add_correlated_noise, add_noise
from policy_engine.kernels.pixelation import count_uneven, pixelate
from policy_engine.kernels.pram import (
    estimate_frequencies,
    invariant_matrix,
    randomise,
    transition_matrix,
)
from policy_engine.kernels.rank_swapping import largest_rank_move, most_ranks, rank_swap
from policy_engine.kernels.shuffling import shuffle
from policy_engine.plan.steps import Mask, Sample

IPPS = (
    "Total Discharges",
    "Average Covered Charges",
    "Average Total Payments",
    "Average Medicare Payments",
)
MDAV = {
    "census_casc.csv": {3: 5.6922, 5: 9.0884, 10: 14.1559},
    "tarragona.csv": {3: 16.9326, 5: 22.4619, 10: 33.1929},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer runs on smaller tables")
    results = ROOT / "benchmarks" / "results" / "masking.json"
    parser.add_argument("--json", type=Path, default=results)
    options = parser.parse_args()
    rows, runs = (100_000, 2) if options.quick else (1_000_000, 5)
    figures = []
    parts = (published, hospitals, microaggregation, buckets, swaps, shuffled, drawn, noises)
    for part in (*parts, pixelated):
        figures += reported(part(rows, runs))
    figures += reported(suppression(runs))
    figures += reported(methods(rows, runs))
    with tempfile.TemporaryDirectory() as folder:
        figures += reported(whole_run(Path(folder), rows))
        figures += reported(run_of_decimals(Path(folder), rows))
    report = {"machine": machine(), "quick": options.quick, "rows": rows, "figures": figures}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def reported(figures):
    """Print figures as they come, and return them."""
    found = []
    for one in figures:
        found.append(one)
        told = ", ".join(f"{name} {value}" for name, value in one["figures"].items())
        print(f"{one['what']:42}{one['cpu_s']:>9} CPU s  {told}", flush=True)
        print(f"{'':42}goal {one['goal']}; recipe {one['recipe']}", flush=True)
    return found


def figure(what, cpu, goal, recipe="none", **figures):
    return {
        "what": what,
        "cpu_s": round(cpu, 3),
        "figures": figures,
        "goal": goal,
        "recipe": recipe,
    }


def timed(call, runs):
    """Return the least CPU seconds of several runs after a first one, and the result."""
    result, spent = call(), []
    for _ in range(runs):
        start = time.process_time()
        result = call()
        spent.append(time.process_time() - start)
    return min(spent), result


def words(rows, columns=1, seed=5):
    drawn_words = np.random.default_rng(seed).integers(0, 2**64, (rows, columns), dtype=np.uint64)
    return drawn_words[:, 0] if columns == 1 else drawn_words


def normal_table(rows):
    """Four normal columns with correlations of .5."""
    # By Cholesky's factor: that of numpy's multivariate_normal differs from machine to machine.
    factor = np.linalg.cholesky(np.full((4, 4), 0.5) + 0.5 * np.eye(4))
    return np.random.default_rng(0).standard_normal((rows, 4)) @ factor.T


def correlation(values):
    """The mean correlation of two columns."""
    return np.corrcoef(values.T)[np.triu_indices(values.shape[1], 1)].mean()


def read_numbers(name, columns=None):
    """Return the numbers of a table that lies beside the project; None, and a line, without it."""
    path = SHARED / "data" / name
    if not path.exists():
        return print(f"MISSING: {path}")
    with (gzip.open if name.endswith(".gz") else open)(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[column]) for column in columns or row] for row in rows])


def published(_, runs):
    """The losses of MDAV that are published, on the reference tables."""
    for name, losses in MDAV.items():
        values = read_numbers(name)
        for k, loss in losses.items() if values is not None else ():
            cpu, found = aggregated(values, k, runs)
            yield figure(f"MDAV, {name}, k={k}", cpu, f"loss {loss}", loss, loss=round(found, 4))


def hospitals(_, runs):
    values = read_numbers("ipps_drg_fy2011.csv.gz", IPPS)
    if values is not None:
        cpu, loss = aggregated(values, 5, runs)
        goal = "loss <= .505, < .4 CPU s"
        yield figure("microaggregation, IPPS x 4, k=5", cpu, goal, ".505, .25", loss=round(loss, 4))


def microaggregation(rows, runs):
    """Rows with a long tail in one of four columns."""
    values = normal_table(rows)
    values[:, 3] = np.exp(values[:, 3])
    goals = {5: ("loss <= .236, < 2.5 CPU s", ".2355, 2.3"), 100: ("<= 1.52, < 1.3", "1.517, 1.2")}
    for k, (goal, recipe) in goals.items():
        cpu, loss = aggregated(values, k, runs)
        what = f"microaggregation, {rows:,} x 4, k={k}"
        yield figure(what, cpu, goal, recipe, loss=round(loss, 4))


def aggregated(values, k, runs):
    order = words(len(values))
    cpu, groups = timed(lambda: microaggregate(values, k, order), runs)
    return cpu, information_loss(values, groups)


def buckets(rows, runs):
    codes = np.random.default_rng(1).integers(0, 50, rows)
    order = words(rows)
    cpu, found = timed(lambda: anatomy(codes, order, 4), runs)
    pairs = np.unique(found * 50 + codes)
    figures = {"least_bucket": int(np.bincount(found).min()), "twice": rows - len(pairs)}
    yield figure(f"bucketization, {rows:,} rows, l=4", cpu, "< .2 CPU s", ".084", **figures)


def swaps(rows, runs):
    values, order = normal_table(rows), words(rows, 4)
    goals = {
        0.01: (".495, < 1 CPU s", ".497, .7"),
        0.05: (".475, < 1.2 CPU s", ".478, .9"),
        0.15: (".405, < 2 CPU s", ".411, 1.6"),
    }
    for share, (goal, recipe) in goals.items():

        def swapped(share=share):
            columns = zip(values.T, order.T, strict=True)
            return np.stack([one[rank_swap(one, bits, share)] for one, bits in columns], axis=1)

        cpu, found = timed(swapped, runs)
        moved = largest_rank_move(values[:, 0], found[:, 0])
        figures = {
            "correlation": round(correlation(found), 4),
            "rank_move": moved,
            "most": most_ranks(rows, share),
        }
        what = f"rank swapping, {rows:,} x 4, p={share:g}"
        yield figure(what, cpu, f"correlation .500 to >= {goal}", recipe, **figures)


def shuffled(rows, runs):
    values, order = normal_table(rows), words(rows, 4)[:, :1]
    cpu, found = timed(lambda: shuffle(values[:, :1], values[:, 1:], order), runs)
    table = np.column_stack([values[found[:, 0], 0], values[:, 1:]])
    before, after = (np.corrcoef(one.T)[0, 1:].mean() for one in (values, table))
    figures = {"correlation": round(after, 4), "before": round(before, 4)}
    yield figure(f"shuffling, {rows:,} rows given 3", cpu, "none", ".51", **figures)


def drawn(rows, runs):
    """PRAM of 16 categories; shifts are of all shares together."""
    share = np.arange(16, 0, -1.0)
    codes = np.random.default_rng(2).choice(16, rows, p=share / share.sum())
    counts, plain = np.bincount(codes, minlength=16), transition_matrix(0.8, 16)
    order = words(rows)
    matrices = {"plain": plain, "invariant": invariant_matrix(plain, counts)}
    recipes = {
        "plain": ".31; .80 kept, shift .156, estimate .002",
        "invariant": ".67 kept, shift .003",
    }
    for variant, matrix in matrices.items():
        cpu, found = timed(lambda matrix=matrix: randomise(codes, matrix, order), runs)
        after = np.bincount(found, minlength=16)
        estimated = estimate_frequencies(matrix, after)
        figures = {
            "kept": round(float((found == codes).mean()), 3),
            "shift": round(float(np.abs(after - counts).sum() / rows), 4),
            "estimate": round(float(np.abs(estimated - counts).sum() / rows), 4),
        }
        goal = "< .5 CPU s" + (", shift <= .004" if variant == "invariant" else "")
        yield figure(f"PRAM {variant}, {rows:,} x 16", cpu, goal, recipes[variant], **figures)


def noises(rows, runs):
    values, order = normal_table(rows), words(rows, 4)
    covariance, means = np.cov(values.T, bias=True), values.mean(axis=0)
    variances = np.diag(covariance)
    before = correlation(values)

    def uncorrelated():
        columns = zip(values.T, np.sqrt(0.1 * variances), order.T, strict=True)
        return np.stack([add_noise(*one, "normal") for one in columns], axis=1)

    def correlated(*, keeps):
        return add_correlated_noise(values, means, covariance, 0.1, order, keeps_covariance=keeps)

    calls = {
        "noise": (uncorrelated, "none", ".06; .500 to .454"),
        "noise, correlated": (
            lambda: correlated(keeps=False),
            "< .3 CPU s, correlation kept within .002",
            ".07; .4998",
        ),
        "noise, Kim's": (
            lambda: correlated(keeps=True),
            "< .3 CPU s, variance ratio 1.00",
            "1.00",
        ),
    }
    for what, (call, goal, recipe) in calls.items():
        cpu, found = timed(call, runs)
        figures = {
            "correlation": round(correlation(found), 4),
            "before": round(before, 4),
            "variance_ratio": round(float((found.var(axis=0) / variances).mean()), 3),
        }
        yield figure(f"{what}, {rows:,} x 4", cpu, goal, recipe, **figures)


def pixelated(rows, runs):
    images = np.random.default_rng(6).integers(0, 256, (rows * 6 // 100, 28, 28, 1), np.uint8)
    cpu, made = timed(lambda: pixelate(images, 4), runs)
    what = f"pixelation, {len(images):,} images of 28 x 28, blocks of 4 x 4"
    uneven = count_uneven(made, 4)
    yield figure(what, cpu, "< 1.2 CPU s", "1.2", uneven=uneven)


def suppression(runs):
    """Suppressed cells of Adult, beside a search that takes one column at a time."""
    path = SHARED / "data" / "adult_arx.csv.gz"
    if not path.exists():
        print(f"MISSING: {path}")
        return
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "salary-class"]
    columns = [np.unique([row[name] for row in rows], return_inverse=True)[1] for name in names]
    columns.sort(key=lambda column: int(column.max()))
    codes, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    codes, weights = codes.astype(np.int32), np.ones(len(names), np.int64)
    most = np.full(len(names), counts.sum())
    for missing in ("category", "wildcard"):

        def suppressed(missing=missing):
            return suppress_cells(codes, counts, 5, weights, most, missing)

        cpu, found = timed(suppressed, min(runs, 2))
        greedy = one_column_at_a_time(codes, counts, missing)
        figures = {"cells": int(found.suppressed.sum()), "greedy": greedy}
        what = f"local suppression, adult8, k=5, {missing}"
        yield figure(what, cpu, "fewer cells than greedy", **figures)


def one_column_at_a_time(codes, counts, missing):
    """Suppress, column by column, all that rows below k still have; return the cells."""
    cells = np.zeros(codes.shape, np.bool_)
    for column in reversed(range(codes.shape[1])):
        now = np.where(cells, -1, codes).astype(np.int32)
        cells[match_counts(now, counts, missing) < 5, column] = True
    return int((counts @ cells).sum())


_KEY = bytes(32)
METHODS = {
    "rounding": {"base": 100},
    "top-coding": {"threshold": 8000},
    "recoding": {"taxonomy": "ages", "level": 1},
    "random-rounding": {"base": 100},
    "noise": {"sdShare": 0.1},
    "correlated-noise": {"sdShare": 0.1},
    "multiplicative-noise": {"logSd": 0.1},
    "rank-swapping": {"p": 0.05},
    "shuffling": {"given": ["age"]},
    "microaggregation": {"groupSize": 5},
    "pram": {"keep": 0.8},
}
"""A column of a table in memory by each masking: amounts, but categories for recoding and pram."""


def methods(rows, runs):
    """The cost of each method: one column of a table in memory, masked and looked at."""
    random = np.random.default_rng(4)
    table = pa.table(
        {
            "age": random.integers(18, 90, rows),
            "cap": random.integers(0, 10_000, rows),
            "pay": np.round(np.exp(random.normal(8, 1, rows))).astype(np.int64),
        }
    )
    labels = [[str(age), f"{age // 10}0s", "*"] for age in range(18, 90)]
    taxonomies = {"ages": read_taxonomy("\n".join(map(";".join, labels)).encode(), "ages.csv")}
    for notation, parameters in METHODS.items():
        names = {"recoding": ["age"], "pram": ["age"], "correlated-noise": ["cap", "pay"]}
        columns = [
            {"name": name, "masking": notation, **parameters}
            for name in names.get(notation, ["pay"])
        ]
        step = Mask(columns=columns)
        cpu, _ = timed(lambda step=step: mask_table(table, step, _KEY, taxonomies), min(runs, 3))
        several = f", {len(columns)} columns together" if len(columns) > 1 else ""
        yield figure(f"{notation}, a table of {rows:,} rows{several}", cpu, "none")
    sample = Sample(sampleShare=0.1)
    cpu, _ = timed(lambda: sample_table(table, sample, _KEY), min(runs, 3))
    yield figure(f"sample of a tenth of {rows:,} rows", cpu, "none")


def whole_run(folder, rows):
    """CSV to CSV: three masked columns, and k-anonymity on the others."""
    generator = SHARED / "peers" / "gen_acs.py"
    if not generator.exists():
        print(f"MISSING: {generator}")
        return
    path, iri = folder / "acs.csv", "http://example.com/acs"
    subprocess.run([sys.executable, generator, str(rows), str(path)], check=True, cwd=folder)
    cpu, peak = applied(folder, iri, path, census_parameters(iri))
    what, goal = f"apply, acs {rows:,} rows, CSV to CSV", "< 8 CPU s, < 1,500 MB"
    yield figure(what, cpu, goal, peak_mb=round(peak))


def run_of_decimals(folder, rows):
    """CSV to CSV: a row number, and three masked columns of decimals, nearly all different."""
    random = np.random.default_rng(1)
    columns = {
        "a": np.round(random.normal(100, 30, rows), 4),
        "b": np.round(np.exp(random.normal(8, 1, rows)), 2),
        "c": np.round(random.normal(0, 1, rows), 3),
    }
    path, iri = folder / "decimals.csv", "http://example.com/decimals"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["row", *columns])
        writer.writerows(zip(range(rows), *(one.tolist() for one in columns.values()), strict=True))
    maskings = [
        {"@id": f"{iri}/{name}", "pe:masking": "noise", "pe:sdShare": 0.2} for name in columns
    ]
    parts = {
        "mosaicrown:method": ("eq", "masking"),
        "pe:insensitive": ("isAllOf", [f"{iri}/row"]),
        "pe:masked": ("isAllOf", maskings),
    }
    cpu, peak = applied(folder, iri, path, parts)
    what = f"apply, {rows:,} rows of decimals, CSV to CSV"
    yield figure(what, cpu, "< 10 CPU s", peak_mb=round(peak))


def applied(folder, iri, path, parts):
    """Apply a policy twice, and return CPU seconds and MB of the second run."""
    policy = json.loads((ROOT / "policies" / "adult.jsonld").read_text())
    policy["permission"][0]["target"] = iri
    policy["permission"][0]["action"][0]["refinement"] = [
        {"leftOperand": name, "operator": operator, "rightOperand": value}
        for name, (operator, value) in parts.items()
    ]
    file, output = folder / "policy.jsonld", folder / "out" / "masked.csv"
    file.write_text(json.dumps(policy))
    command = [*COMMAND, "apply", str(file), "--data", f"{iri}={path}", "--output", str(output)]
    cpu_of([*command, "--overwrite"])
    return cpu_of([*command, "--overwrite"])[:2]


def census_parameters(iri):
    maskings = [
        {"@id": f"{iri}/INCTOT", "pe:masking": "rank-swapping", "pe:p": 0.05},
        {"@id": f"{iri}/OCC", "pe:masking": "rounding", "pe:base": 100},
        {"@id": f"{iri}/EDUC", "pe:masking": "noise", "pe:sdShare": 0.2},
    ]
    return {
        "mosaicrown:method": ("eq", "k-anonymity"),
        "mosaicrown:k": ("eq", 5),
        "mosaicrown:quasi-identifier": ("isAllOf", [f"{iri}/STATEFIP", f"{iri}/AGE"]),
        "pe:masked": ("isAllOf", maskings),
    }


if __name__ == "__main__":
    main()
