"""How good and how fast secondary suppression is, and what its alternatives would cost.

    python benchmarks/output_suppression.py [--quick] [--json FILE]

Tables of magnitudes are drawn: businesses by region and sector, of which a cell is primary with
fewer than three or where the second largest could estimate the largest within 10 per cent.
Attackers know that a cell is between 0 and twice its value. Weights are logarithms, times five for
totals. Regions of some tables lie in larger ones, whose totals are shown, too; tables of more than
12,000 cells are searched by sub-tables. Seconds are those of the clock and of the processor, in
this process, on one thread. Every pattern is attacked again by the audit, and `exposed` counts what
it finds: of primary cells alone, and of the pattern.

The alternatives are those for a table of counts, of which a cell is primary below 10: errors are
means over what is published, `exact` the small cells that are published as they are.
"""

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
from local import ROOT, machine

from policy_engine.kernels.output_checks.alternative_costs import alternative_cost
from policy_engine.kernels.output_checks.cell_keys import add_noise, noise_table
from policy_engine.kernels.output_checks.rounding import round_to_nearest, round_to_totals
from policy_engine.kernels.output_checks.suppressing import suppress
from policy_engine.kernels.output_checks.suppression_audit import attack_pattern
from policy_engine.kernels.output_checks.table_system import flat_dimension, lay_out, table_system
from policy_engine.kernels.random_rounding import round_at_random
from policy_engine.kernels.siphash import key_words

TABLES = (
    (10, 10, 12, False, 30, 0),
    (50, 50, 30, False, 60, 0),
    (50, 50, 60, False, 60, 0),
    (20, 20, 30, True, 60, 0),
    (200, 50, 60, False, 120, 0),
    (50, 50, 60, False, 60, 8),
    (200, 60, 60, False, 60, 20),
    (200, 80, 60, False, 60, 0),
)
"""Rows, columns, businesses a cell on average, whether lone ones attack as well, seconds, and how
many larger regions the rows lie in, 0 for none."""
QUICK = TABLES[:2]
THRESHOLD = 10
BASE = 5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small tables only")
    results = ROOT / "benchmarks" / "results" / "output_suppression.json"
    parser.add_argument("--json", type=Path, default=results)
    options = parser.parse_args()
    figures = []
    print(
        "cells   primary  exposed  attackers  secondary    cost   gap %  seconds  CPU s   left over"
        "  method"
    )
    for rows, columns, mean, is_by_lone, seconds, regions in QUICK if options.quick else TABLES:
        system = magnitudes(rows, columns, mean, is_by_lone, regions=regions)
        figures.append({**measured(system, seconds), "regions": regions})
        print(
            "{cells:7,} {primary:7} {exposed:8} {attackers:10} {secondary:10} {cost:7.1f} "
            "{gap_percent:7.1f} {seconds:8.1f} {cpu_s:6.1f} {exposed_after:11}  {method}".format(
                **figures[-1]
            )
        )
    alternatives = list(alternatives_of(20 if options.quick else 50))
    print(
        "alternative       cell error  total error  blank cells  blank totals  exact  broken totals"
    )
    for one in alternatives:
        print(
            "{name:18}{cell_error:10.2f} {total_error:12.2f} {blank_cells:12} {blank_totals:13} "
            "{small_exact:6} {broken_totals:14}".format(**one)
        )
    report = {"machine": machine(), "quick": options.quick, "figures": figures}
    report["alternatives"] = alternatives
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")


def magnitudes(rows, columns, mean, is_by_lone, seed=1, regions=0):
    """Return the system of a drawn table with its totals, and those of the regions of its rows."""
    random = np.random.default_rng(seed)
    shape = (rows, columns)
    counts = random.poisson(random.exponential(mean, shape))
    values, largest, second = np.zeros((3, *shape))
    for place in np.argwhere(counts > 0):
        sizes = np.sort(random.lognormal(3, 1.2, counts[*place]).round() + 1)[::-1]
        values[*place], largest[*place] = sizes.sum(), sizes[0]
        second[*place] = sizes[1] if len(sizes) > 1 else 0
    need = np.maximum(0.1 * largest - (values - largest - second), 0)
    is_primary = ((need > 0) | (counts < 3)) & (counts > 0)
    level = np.maximum(np.maximum(need, 0.1 * values), 1)
    lone = np.where((counts == 1) & is_by_lone, np.arange(rows * columns).reshape(shape), -1)
    parents = flat_dimension(rows)
    if regions:
        own = np.arange(rows) * regions // rows
        upper = [values[own == one].sum(axis=0) for one in range(regions)]
        parents = np.concatenate([rows + own, np.full(regions, rows + regions), [-1]])
    table = with_totals(values)
    table = np.insert(table, rows, with_totals(np.array(upper))[:-1], axis=0) if regions else table
    weights = np.log(table + 2)
    weights[rows:] *= 5
    weights[:, -1] *= 5
    return table_system(
        lay_out([parents, flat_dimension(columns)]),
        table,
        padded(is_primary, 0, regions),
        protection=(padded(level, 1, regions), padded(level, 1, regions)),
        weights=weights,
        bounds=(0 * table, 2 * table),
        may_be_suppressed=table > 0,
        contributors=padded(lone, -1, regions),
    )


def with_totals(cells):
    rows = np.vstack([cells, cells.sum(axis=0)])
    return np.column_stack([rows, rows.sum(axis=1)])


def padded(cells, value, regions=0):
    return np.pad(cells, ((0, 1 + regions), (0, 1)), constant_values=value)


def measured(system, seconds):
    """Return the figures of one table."""
    exposed = len({one.cell for one in attack_pattern(system, system.first_pattern)})
    start = time.process_time()
    result = suppress(system, seconds)
    cpu = time.process_time() - start
    after = {one.cell for one in attack_pattern(system, result.is_suppressed)}
    return {
        "cells": system.size,
        "primary": int(system.is_primary.sum()),
        "exposed": exposed,
        "attackers": 1 + len(np.unique(system.contributors[system.contributors >= 0])),
        "secondary": int((result.is_suppressed & ~system.first_pattern).sum()),
        "cost": result.cost,
        "bound": result.bound,
        "gap_percent": 100 * result.gap,
        "method": result.method,
        "seconds": result.seconds,
        "cpu_s": cpu,
        "unprotectable": len(result.unprotectable),
        "exposed_after": len(after - set(result.unprotectable.tolist())),
    }


def alternatives_of(size):
    """Yield what each alternative costs on one table of counts."""
    random = np.random.default_rng(1)
    values = with_totals(random.poisson(random.exponential(15, (size, size)))).ravel()
    layout = lay_out([flat_dimension(size)] * 2)
    is_total = padded(np.zeros((size, size), dtype=bool), value=True).ravel()
    is_primary = (values > 0) & (values < THRESHOLD) & ~is_total
    system = table_system(layout, values, is_primary, weights=np.log(values + 2.0))
    pattern = suppress(system, 30.0).is_suppressed
    words, secret = random.integers(0, 2**64, len(values), dtype=np.uint64), key_words(bytes(16))
    published = {
        "primaries blank": np.where(is_primary, np.nan, values),
        "suppression": np.where(pattern, np.nan, values),
        "nearest 5": round_to_nearest(values, BASE),
        "random 5": round_at_random(values.astype(np.float64), BASE, words),
        "controlled 5": round_to_totals(layout.equations, values, BASE),
        "cell keys, 4": add_noise(values, words, noise_table(4, 3.0), secret),
    }
    for name, result in published.items():
        table = np.asarray(result, dtype=np.float64)
        sums = layout.equations.sums(table)
        broken = int((np.nan_to_num(sums) != 0).sum())
        cost = alternative_cost(values.astype(np.float64), table, is_total, THRESHOLD, broken)
        yield {"name": name, **asdict(cost)}


if __name__ == "__main__":
    main()
