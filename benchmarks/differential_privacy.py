"""What differential privacy costs and loses, beside the goals that were set for it.

    python benchmarks/differential_privacy.py [--quick] [--json FILE]

Times are CPU seconds (user and system) of this process, warm, but for whole releases. Compositions
are of a sensitivity of 1,000, where discrete Laplace noise is nearly continuous. --quick draws a
tenth.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
from local import ROOT, SHARED, machine
from pyarrow import csv

from policy_engine.engines.statistics.tallies import Tallies
from policy_engine.kernels.differential_privacy.accounting import proven
from policy_engine.kernels.differential_privacy.calibration import (
    analytic_gaussian_sigma,
    calibrate,
)
from policy_engine.kernels.differential_privacy.contributions import bound_contributions
from policy_engine.kernels.differential_privacy.noise import discrete_gaussian, discrete_laplace
from policy_engine.kernels.differential_privacy.partition_selection import keeps
from policy_engine.kernels.differential_privacy.parts import NoisyPart
from policy_engine.kernels.differential_privacy.selection import (
    exponential,
    permute_and_flip,
    quantile_scores,
)
from policy_engine.methods.sanitisations.differential_privacy import DifferentialPrivacy
from policy_engine.plan.aggregates.model import Aggregation, Statistic
from policy_engine.plan.aggregates.noising import calibrated
from policy_engine.plan.steps import AggregateStep
from policy_engine.release.budget import Account, BudgetLedger, Cap, Charge, LedgerFile
from policy_engine.release.synthetic import synthetic_codes

DELTA = Fraction(1, 10**6)
D52 = (1, 3, 5, 7, 8, 11, 12, 13, 17, 22)
SIGMAS = {0.1: 36.3, 0.5: 8.06, 1: 4.22, 3: 1.54, 8: 0.65}
LAPLACES = {(100, "0.1"): 4.69, (100, "0.01"): 0.39, (365, "0.05"): 4.57, (10, "0.1"): 1.00}
MEDIANS = {
    exponential: {"0.5": 0.43, "1": 0.71, "2": 0.92},
    permute_and_flip: {"0.5": 0.46, "1": 0.74, "2": 0.94},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    results = ROOT / "benchmarks" / "results" / "differential_privacy.json"
    parser.add_argument("--json", type=Path, default=results)
    options = parser.parse_args()
    figures = []
    for section in SECTIONS:
        for name, value, goal in section(1 if options.quick else 10):
            figures.append({"name": name, "value": value, "goal": goal})
            print(f"{name:<60} {value:>10.4g}   goal {goal}", flush=True)
    report = {"machine": machine(), "quick": options.quick, "figures": figures}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def sigmas(_tenths):
    for epsilon, goal in SIGMAS.items():
        yield (
            f"sigma of the analytic Gaussian, epsilon {epsilon}",
            *(
                analytic_gaussian_sigma(epsilon, float(DELTA)),
                goal,
            ),
        )


def compositions(_tenths):
    for (times, epsilon), goal in LAPLACES.items():
        part = NoisyPart("discrete-laplace", Fraction(1), times, 1_000)
        loss = proven([part], [1_000 / Fraction(epsilon)], DELTA)
        yield f"epsilon of {times} times {epsilon}", float(loss.epsilon), goal
    part = NoisyPart("discrete-gaussian", Fraction(1), 10, 1)
    yield "epsilon of 10 Gaussians of sigma 10", float(proven([part], [10], DELTA).epsilon), 1.37


def medians(tenths):
    """The median of D5.2 on the public grid 0..30, by draws: of 10,000 the second digit holds."""
    scores = quantile_scores(np.bincount(D52, minlength=31), Fraction(1, 2))
    for choose, goals in MEDIANS.items():
        for epsilon, goal in goals.items():
            scale = 2 / Fraction(epsilon)
            draws = Counter(choose(scores, scale) for _ in range(1_000 * tenths))
            share = sum(draws[value] for value in range(8, 12)) / draws.total()
            yield f"P(median in 8..11), {choose.__name__}, epsilon {epsilon}", share, goal


def scales(_tenths):
    """Ten figures of three groups a unit, as different as they may be."""
    for name in ("discrete-laplace", "discrete-gaussian"):
        parts = [NoisyPart(name, Fraction(1, 10), 3, 1 + 1_000 * place) for place in range(10)]
        spent, _ = timed(lambda parts=parts: calibrate(parts, Fraction(1), DELTA))
        yield f"CPU s to calibrate 10 figures, {name}", spent, "below .3"


def draws(tenths):
    cells = [0] * (1_000 * tenths)
    for noise in (discrete_laplace, discrete_gaussian):
        spent, _ = timed(lambda noise=noise: noise(cells, Fraction(20)))
        yield f"CPU s of {len(cells)} noisy cells, {noise.__name__}", spent, "below .5"
    spent, _ = timed(lambda: keeps([50] * len(cells), Fraction(1, 3), DELTA / 3))
    yield f"CPU s of {len(cells)} partitions", spent, "below .5"
    scores = list(range(1_000))
    spent, _ = timed(lambda: permute_and_flip(scores, Fraction(20)))
    yield "CPU s of a choice among 1,000", spent, "none"


def bounding(tenths):
    rows = 100_000 * tenths
    rng = np.random.default_rng(0)
    units = rng.integers(0, rows // 20, rows).astype(np.uint64)
    groups = np.minimum(rng.zipf(1.3, rows), 981).astype(np.uint64)
    values = rng.integers(0, 2**63, rows).astype(np.uint64)
    spent, _ = timed(lambda: bound_contributions(units, groups, values, bytes(16), 3, 2))
    yield f"CPU s to bound the contributions of {rows} rows", spent, "below 1.5"


class OneTransaction:
    """A store of a budget ledger whose transactions are parts of one: they take no time to end."""

    source = "one transaction"

    def __init__(self, stored):
        self.appending = self.reading = lambda: nullcontext(stored)

    def exists(self):
        """Return that there is a ledger."""
        return True


def charge(number):
    """Return the charge of a release of a dataset, under its cap and that of a party."""
    everybody = Account("http://example.com/Visits", "http://example.com/Visits/patient_nbr")
    party = replace(everybody, assignee="http://example.com/org/Analytics", purpose="urn:research")
    caps = Cap(everybody, Decimal(10**6), Decimal("1e-5")), Cap(party, Decimal(10**6), Decimal(1))
    amounts, plan = (Decimal("0.5"), Decimal("1e-12")), f"{number:064x}"
    release, noise = (
        "http://example.com/Visits/out",
        {"mechanism": "discrete-laplace"},
    )
    return Charge(
        (everybody, party), caps, *amounts, "a" * 64, plan, "b" * 64, release, [noise] * 3
    )


def ledger(tenths):
    entries = 10_000 * tenths
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "budget.db"
        budget, seconds = BudgetLedger(path), []
        for number in range(50):
            start = time.perf_counter()
            reservation = budget.spend(charge(number))
            seconds.append(time.perf_counter() - start)
            budget.keep(reservation, b"answer")
        yield "ms of a charge (reserve and commit), median", 1e3 * median(seconds), "below 5"
        with LedgerFile(path).appending() as stored:
            batch = BudgetLedger(OneTransaction(stored))
            for number in range(50, entries // 3):
                with batch.spend(charge(number)) as reservation:
                    batch.keep(reservation, b"answer")
        start = time.process_time()
        budget = BudgetLedger(path)
        budget.balances()
        yield f"CPU s to the balances of {entries} entries", time.process_time() - start, "below 1"
        spent, _ = timed(budget.balances)
        yield f"CPU ms to the balances of {entries} known entries", 1e3 * spent, "below 1"


VISITS = "http://example.com/Visits"


def release(tenths):
    """A whole `apply` in a process of its own: visits by one of 981 reasons, three of a person."""
    rows = 100_000 * tenths
    rng = np.random.default_rng(1)
    reasons = np.minimum(rng.zipf(1.3, rows), 981)
    table = {"person": rng.integers(0, rows // 20, rows), "reason": reasons}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        csv.write_csv(pa.table(table), folder / "visits.csv")
        (folder / "keys.csv").write_text("\n".join(["reason", *map(str, range(1, 982))]) + "\n")
        (folder / "policy.jsonld").write_text(json.dumps(counting_policy()))
        arguments = ["policy.jsonld", "--data", f"{VISITS}=visits.csv", "--output", "counts.csv"]
        command = [sys.executable, "-m", "policy_engine", "apply", *arguments, "--ledger", "ledger"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    yield f"CPU s to release 981 counts of {rows} rows, start included", spent, "below 5"
    yield "MB of memory of the same", after.ru_maxrss / 1e3, "none"


def counting_policy():
    """Return the policy of a release of rows and persons by reason, its keys in a file."""
    parameters = {
        "mosaicrown:method": ("eq", "differential-privacy"),
        "pe:privacyUnit": ("eq", {"@id": f"{VISITS}/person"}),
        "pe:neighbours": ("eq", "add-or-remove"),
        "pe:maxGroupsPerUnit": ("lteq", 3),
        "pe:maxRowsPerGroup": ("lteq", 2),
        "pe:epsilon": ("lteq", 1),
        "pe:release": ("eq", {"@id": "http://example.com/ByReason"}),
    }
    refinement = [
        {"leftOperand": name, "operator": operator, "rightOperand": value}
        for name, (operator, value) in parameters.items()
    ]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": refinement}
    query = {
        "uid": "http://example.com/ByReason",
        "pe:groupBy": [f"{VISITS}/reason"],
        "pe:keys": {"@id": "http://example.com/keys.csv"},
        "pe:aggregate": [{"pe:function": "count-units"}, {"pe:function": "count"}],
    }
    return {
        "@context": [
            "http://www.w3.org/ns/odrl.jsonld",
            "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
        ],
        "@type": "Set",
        "uid": "http://example.com/policy",
        "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
        "permission": [{"target": VISITS, "action": [action], "output": "http://example.com/Out"}],
        "pe:queries": [query],
    }


def synthetic(tenths):
    """Tables of 5,000 persons of Adult, at the epsilon of a rho of .1 and a delta of 1e-6."""
    adult = csv.read_csv(SHARED / "data" / "adult.csv.gz").to_pandas().sample(5_000, random_state=1)
    names = ["education", "income", "sex", "marital-status"]
    codes = [np.unique(adult[name].astype(str), return_inverse=True)[1] for name in names]
    options = [int(one.max()) + 1 for one in codes]
    pairs = [*combinations(range(len(names)), 2)]
    counts = [pair_table(codes, options, pair) for pair in pairs]
    single = [np.bincount(one, minlength=size) for one, size in zip(codes, options, strict=True)]
    tallies = Tallies(((),), [5_000], [one.reshape(1, -1) for one in (*single, *counts)])
    step = synthetic_step(names, options)
    distances = []
    for _ in range(tenths):
        made = [np.array(one) for one in synthetic_codes(step, tallies)]
        found = [pair_table(made, options, pair) for pair in pairs]
        distances.append([np.abs(a - b).sum() / 10_000 for a, b in zip(counts, found, strict=True)])
    goals = {(0, 1): ".013 (mbi)", (1, 2): ".003 (mbi)"}
    for pair, distance in zip(pairs, np.mean(distances, axis=0).tolist(), strict=True):
        about = " x ".join(names[place] for place in pair)
        yield f"total variation, {about}", distance, goals.get(pair, "none")
    yield "total variation, mean of all pairs", float(np.mean(distances)), "none"
    spent, _ = timed(lambda: synthetic_codes(step, tallies))
    yield "CPU s of a synthetic table of 5,000 rows and 4 columns", spent, "14.1 (mbi)"


def pair_table(codes, options, pair):
    """Return how many rows have every two codes of a pair of columns."""
    one, other = pair
    size = options[one] * options[other]
    return np.bincount(codes[one] * options[other] + codes[other], minlength=size)


def synthetic_step(names, options):
    """Return the step that makes a synthetic table of columns of so many values."""
    asked = {"epsilon": "2.14194", "delta": "1e-6", "neighbours": "add-or-remove"}
    bounds = {"maxGroupsPerUnit": 1, "maxRowsPerGroup": 1, "release": "urn:table"}
    method = DifferentialPrivacy(**asked, **bounds)
    figures = tuple(
        Statistic(name=name, function="synthetic", of=name, candidates=tuple(map(str, range(size))))
        for name, size in zip(names, options, strict=True)
    )
    draft = Aggregation.model_construct(
        unit="person",
        neighbours="add-or-remove",
        max_groups=1,
        max_rows=1,
        epsilon=method.epsilon,
        delta=method.delta,
        figures=figures,
        rows=5_000,
    )
    return AggregateStep(**dict(calibrated(draft, method)))


SECTIONS = (sigmas, compositions, medians, scales, draws, bounding, ledger, release, synthetic)


def timed(run):
    """Return the CPU seconds of a run that is warm, and what it returns."""
    run()
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
