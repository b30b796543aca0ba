"""How long the output ledger takes: differences to earlier answers, linear span, and bounds.

    python benchmarks/output_ledger.py [--quick]

It prints one object of JSON. Times are seconds of the processor on one thread, the median of three.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from policy_engine.kernels.output_checks.population_differences import differing_units
from policy_engine.kernels.output_checks.released_bounds import KnownSums, intervals
from policy_engine.kernels.output_checks.released_span import (
    echelon,
    in_span,
    light_vector,
    random_prime,
)
from policy_engine.kernels.output_checks.sparse_span import Combinations, SparseRows
from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    OutputLedger,
    Populations,
    held_measure,
)

THRESHOLD = 10


def seconds(call, times=3):
    """Return the median time of calls, after one that compiles."""
    call()
    return cpu_seconds(call, times)


def count_answer(populations):
    """Return an answer that counts populations."""
    cells = tuple(OutputCell(one, "count", None, THRESHOLD) for one in range(len(populations)))
    return OutputAnswer("urn:data", "1", ("organisation:x",), populations, cells)


def packed_differences(units, earlier, draws):
    """Return how long one population takes against earlier ones as packed bits."""
    bits = np.packbits(draws.random((8, units)) < 0.5, axis=1)
    many = np.ascontiguousarray(np.tile(bits, (earlier // 8 + 1, 1))[:earlier])
    return seconds(lambda: differing_units(bits[0], many))


def ledger_times(units, earlier, draws):
    """Return how long a ledger with earlier answers takes for another one.

    Each answer is about the units in a random half of 1,000 regions, or counts some regions apart.
    """
    regions = draws.integers(0, 1_000, units)
    with tempfile.TemporaryDirectory() as folder:
        ledger = OutputLedger(Path(folder) / "outputs.db")
        start = time.process_time()
        states = [ledger.check_and_record(half(regions, draws)).state for _ in range(earlier)]
        recording = (time.process_time() - start) / earlier
        asked, table = half(regions, draws), count_answer(Populations.of_labels(regions % 50))
        few = half(regions, draws, without=THRESHOLD - 1)
        ledger.check_and_record(half(regions, np.random.default_rng(7)))
        start = time.process_time()
        OutputLedger(ledger.store.path).would_record(asked)
        opening = time.process_time() - start
        return {
            "units": units,
            "earlier_answers": states.count("recorded"),
            "record_each": round(recording, 4),
            "check": seconds(lambda: ledger.would_record(asked)),
            "check_group_by_50": seconds(lambda: ledger.would_record(table)),
            "open_and_check": round(opening, 4),
            "near_one_is": ledger.would_record(few).codes,
            "megabytes": round(ledger.store.path.stat().st_size / 2**20),
        }


def half(regions, draws, without=0):
    """Return a count of the units in a random half of regions, but for some of them."""
    chosen = (draws if not without else np.random.default_rng(7)).random(1_000) < 0.5
    mask = chosen[regions]
    mask[np.flatnonzero(mask)[:without]] = False
    return count_answer(Populations.of_masks(mask))


def held_times(units, earlier, draws):
    """Return how long a ledger takes for another answer after earlier ones under conditions.

    Each is about the units in a random half of 20 regions, and counts how many of these are
    holders, one of two secrets; the last one counts them by 20 groups for 20 values of a key.
    """
    regions, ages = draws.integers(0, 20, units), draws.integers(0, 20, units)
    secrets = [draws.random(units) < 0.3 for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        ledger = OutputLedger(Path(folder) / "outputs.db")
        start = time.process_time()
        for number in range(earlier):
            is_in = (draws.random(20) < 0.5)[regions]
            ledger.check_and_record(held_answer(is_in, secrets[number % 2]))
        spent = (time.process_time() - start) / earlier
        asked = held_answer((draws.random(20) < 0.5)[regions], secrets[0])
        table = held_table(regions, ages)
        return {
            "units": units,
            "earlier_answers": earlier,
            "record_each": round(spent, 4),
            "check": cpu_seconds(lambda: ledger.would_record(asked)),
            "check_20_by_20": cpu_seconds(lambda: ledger.would_record(table)),
            "outcomes": [ledger.would_record(one).state for one in (asked, table)],
        }


def held_answer(is_in, holders):
    """Return a count of units that are holders, of some that are known."""
    measure = held_measure(holders)
    populations = Populations.of_masks(np.array([is_in & holders, is_in]))
    cells = (OutputCell(0, "count", None, THRESHOLD), OutputCell(1, measure, None, THRESHOLD))
    return OutputAnswer(
        "urn:data", "1", ("organisation:x",), populations, cells, holders={measure: holders}
    )


def held_table(groups, values):
    """Return a table of counts by two keys of 20 values, each of which may be secret."""
    populations = Populations.of_labels(20 * groups + values)
    cells = [OutputCell(one, "count", None, THRESHOLD) for one in range(400)]
    holders = {}
    for key, other in ((groups, values), (values, groups)):
        first = len(populations)
        populations = populations.joined(Populations.of_labels(other))
        for value in range(20):
            measure = held_measure(key == value)
            holders[measure] = key == value
            cells += [OutputCell(first + one, measure, None, THRESHOLD) for one in range(20)]
    about = ("urn:data", "1", ("organisation:x",))
    sides = frozenset(holders)
    return OutputAnswer(*about, populations, tuple(cells), holders=holders, one_sided=sides)


def cpu_seconds(call, times=3):
    """Return the median processor time of calls."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return round(statistics.median(spent), 4)


def unlike_answers(units, earlier, draws):
    """Return how long the check takes where each unit is an atom, and its outcome."""
    bits = np.packbits(draws.random((earlier, units), dtype=np.float32) < 0.5, axis=1)
    with tempfile.TemporaryDirectory() as folder:
        ledger = OutputLedger(Path(folder) / "outputs.db")
        for row in bits[:10]:
            ledger.check_and_record(count_answer(Populations.of_bits(row, units)))
        outcome = ledger.would_record(count_answer(Populations.of_bits(bits[10:], units)))
    return {"units": units, "cells": earlier - 10, "outcome": outcome.state, "codes": outcome.codes}


def span_times(atoms, rows, draws):
    """Return how long it takes to tell that no few units are known of overlapping populations."""
    matrix = (draws.random((rows, atoms)) < 0.3).astype(np.float64)
    weights, prime = draws.integers(1, 40, atoms), random_prime()
    columns = weights < THRESHOLD
    start = time.process_time()
    sparse = SparseRows.of_pairs(*np.nonzero(matrix), *matrix.shape)
    own = Combinations.of_rows(sparse, prime).constrained(np.flatnonzero(~columns)).alone()
    basis = echelon(own.values(np.flatnonzero(columns)).T, prime, is_reduced=True).rows
    state = light_vector(basis, weights[columns], THRESHOLD, prime, lambda _: False, 2_000).state
    spent = time.process_time() - start
    targets = np.eye(atoms)[:20]
    return {
        "atoms": atoms,
        "rows": rows,
        "few_units": round(spent, 3),
        "outcome": state,
        "targets": round(seconds(lambda: in_span(matrix, targets, prime), 1), 3),
    }


def bounds_times(height, width, targets, draws):
    """Return how long the bounds of some cells of a table take, its totals and some sums given."""
    atoms = height * width
    rows = np.vstack(
        [np.kron(np.eye(height), np.ones(width)), np.kron(np.ones(height), np.eye(width))]
    )
    unions = draws.random((20, height)) < 0.5
    parts = np.kron(unions, np.arange(width) < width // 2)
    matrix = np.vstack([rows, parts]).astype(np.float64)
    counts = draws.integers(1, 40, atoms).astype(np.float64)
    sums = KnownSums(matrix, matrix @ counts, np.zeros(atoms), np.full(atoms, np.inf))
    start = time.process_time()
    ends = [*intervals(sums, np.eye(atoms)[:targets], 300.0)]
    spent = (time.process_time() - start) / targets
    return {"atoms": atoms, "rows": len(matrix), "each": round(spent, 4), "solved": len(ends)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    is_quick, draws = parser.parse_args().quick, np.random.default_rng(1)
    units, earlier = (100_000, 100) if is_quick else (1_000_000, 1_000)
    span_times(50, 20, draws)  # compiles
    spans = [(200, 151), (1_000, 401)] if is_quick else [(200, 151), (1_000, 401), (1_000, 1_000)]
    bounds = [(20, 25, 20)] if is_quick else [(20, 25, 20), (80, 50, 20)]
    figures = {
        "packed_differences": packed_differences(units, earlier, draws),
        "ledger": ledger_times(units, earlier, draws),
        "held": held_times(units, earlier, draws),
        "unlike_answers": unlike_answers(units, 60, draws),
        "span": [span_times(*sizes, draws) for sizes in spans],
        "bounds": [bounds_times(*sizes, draws) for sizes in bounds],
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
