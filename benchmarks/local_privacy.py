"""How exact estimates are under local differential privacy, and what they cost.

    python benchmarks/local_privacy.py [--quick] [--json FILE]

n times the mean squared error of the frequencies of a skewed column, over ten runs, beside theory;
CPU seconds (user and system) of answering and of estimating in this process, warm, a mean of the
runs. A whole table is randomised as `apply` does it.
"""

import argparse
import json
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
from local import ROOT, machine

from policy_engine.engines.randomising.tables import randomise_table
from policy_engine.kernels.local_privacy.frequencies import estimate_frequencies
from policy_engine.kernels.local_privacy.local_hashing import LocalHashing
from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse
from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding
from policy_engine.kernels.local_privacy.words import system_words
from policy_engine.plan.randomisation import Randomisation

EPSILON, VALUES, RUNS = Fraction(1), 64, 10
MECHANISMS = {
    "k-ary randomised response": RandomisedResponse.of(VALUES, EPSILON),
    "symmetric unary encoding": UnaryEncoding.symmetric(VALUES, EPSILON),
    "optimised unary encoding": UnaryEncoding.optimised(VALUES, EPSILON),
    "optimised local hashing": LocalHashing.of(VALUES, EPSILON),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    results = ROOT / "benchmarks" / "results" / "local_privacy.json"
    parser.add_argument("--json", type=Path, default=results)
    options = parser.parse_args()
    rows = 20_000 if options.quick else 200_000
    figures = [exactness(name, one, rows) for name, one in MECHANISMS.items()]
    for figure in figures:
        print(
            f"{figure['what']:28} n MSE {figure['n_mse']:6.2f} (theory {figure['theory']:5.2f}), "
            f"CPU s {figure['answer_cpu_s']:.3f} to answer, "
            f"{figure['estimate_cpu_s']:.3f} to estimate"
        )
    cpu_s = whole_table(5 * rows)
    print(f"a table of {5 * rows:,} records, three columns: {cpu_s:.2f} CPU s")
    report = {"machine": machine(), "quick": options.quick, "rows": rows, "figures": figures}
    report["table"] = {"rows": 5 * rows, "cpu_s": cpu_s}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def exactness(name, mechanism, rows):
    """Return n times the mean squared error of all frequencies over the runs, beside theory."""
    random = np.random.default_rng(1)
    shares = 1 / np.arange(1, VALUES + 1)
    codes = random.choice(VALUES, rows, p=shares / shares.sum())
    truth = np.bincount(codes, minlength=VALUES) / rows
    errors, answering, estimating = [], 0.0, 0.0
    for _ in range(RUNS):
        start = time.process_time()
        words = system_words(rows, mechanism.words)
        answers = mechanism.respond(codes, words[:, 0] if mechanism.words == 1 else words)
        answering += time.process_time() - start
        start = time.process_time()
        told = answers if isinstance(answers, tuple) else (answers,)
        counts = mechanism.count(*told)
        estimates = estimate_frequencies(counts, rows, mechanism.supports)
        estimating += time.process_time() - start
        errors.append((estimates.values - truth) ** 2)
    spread = [mechanism.supports.variance(Fraction(one)) for one in truth.tolist()]
    return {
        "what": name,
        "n_mse": rows * float(np.mean(errors)),
        "theory": float(np.mean([float(one) for one in spread])),
        "theory_of_rare": float(mechanism.supports.variance()),
        "answer_cpu_s": answering / RUNS,
        "estimate_cpu_s": estimating / RUNS,
    }


def whole_table(rows):
    """Return the CPU seconds of a table with a column of each kind."""
    random = np.random.default_rng(1)
    table = pa.table(
        {
            "sex": pa.array(random.choice(["F", "M"], rows)),
            "town": pa.array(random.integers(0, VALUES, rows)),
            "days": pa.array(random.integers(0, 15, rows)),
        }
    )
    towns = tuple(map(str, range(VALUES)))
    columns = [
        {"name": "sex", "randomiser": "k-ary-randomised-response", "categories": ("F", "M")},
        {"name": "town", "randomiser": "optimised-local-hashing", "categories": towns},
        {"name": "days", "randomiser": "piecewise", "lower": 0.0, "upper": 14.0},
    ]
    randomisation = Randomisation(columns=columns, epsilon=Decimal(3))
    start = time.process_time()
    randomise_table(table, randomisation, None)
    return time.process_time() - start


if __name__ == "__main__":
    main()
