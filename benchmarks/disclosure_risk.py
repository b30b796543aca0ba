"""Published tables of disclosure risk, measured again, and what the attacks cost at scale.

    python benchmarks/disclosure_risk.py [--quick] [--only PART ...] [--json FILE]

Every row has the published figure, ours as a mean over keys with its standard deviation, what was
accepted beforehand, and why the two differ. What is published was made by an unknown protocol, so
that bands and orders are compared, not digits; the worked example is exact. CPU seconds are those
of the kernels alone, in this process and warm. --quick takes few keys, instances and rows, where
neither spreads nor times say anything. Tables that do not lie beside the project are named as
missing. Exits with 1 where a figure is not in its band.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from disclosure_tables import (
    BLOCKS,
    COLUMNS,
    FAMILIES,
    INTERSECTIONS,
    KNOWN,
    LEARNED,
    MASKED,
    PERCENTS,
    REASONS,
    SWAPPED,
    WINDOWS,
)
from local import ROOT, machine
from masking import read_numbers

from policy_engine.kernels.individual_risk import individual_risk, journalist_risks
from policy_engine.kernels.interval_disclosure import pairs_within_ranks, rank_interval_disclosure
from policy_engine.kernels.linkage import (
    likelihood_links,
    links,
    plant,
    probabilistic_links,
    records_within,
    windows,
)
from policy_engine.kernels.linkage.exchanges import (
    links_of,
    records_by_exchanges,
    swapped_values,
)
from policy_engine.kernels.linkage.learned import held_out, learn, linked
from policy_engine.kernels.linkage.likelihood import likelihood_files
from policy_engine.kernels.linkage.shifts import moved, rank_swaps
from policy_engine.kernels.microaggregation import class_means, mdav
from policy_engine.kernels.near_pairs import pairs_within
from policy_engine.kernels.population_classes import PopulationClasses
from policy_engine.kernels.rank_swapping import rank_swap
from policy_engine.kernels.special_uniques import special_uniques

EIA = (
    *("RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES"),
    *("OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few keys, instances and rows")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    results = ROOT / "benchmarks" / "results" / "disclosure_risk.json"
    parser.add_argument("--json", type=Path, default=results)
    options = parser.parse_args()
    rows = [row for part in options.only for row in reported(PARTS[part](quick=options.quick))]
    report = {"machine": machine(), "quick": options.quick, "rows": rows}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"saved to {options.json}")
    missed = [row["what"] for row in rows if not row["holds"]]
    if missed:
        sys.exit(f"not as accepted: {'; '.join(missed)}")


def reported(rows):
    """Print rows as they come, and return them."""
    found = []
    print(f"{'':40}{'published':>10}{'ours':>10}{'sd':>7}  accepted", flush=True)
    for row in rows:
        found.append(row)
        cells = [shown(row[name]) for name in ("published", "ours", "spread")]
        line = f"{row['what']:40}{cells[0]:>10}{cells[1]:>10}{cells[2]:>7}  {row['accepted']}"
        print(line + ("" if row["holds"] else "  MISSED"), flush=True)
    for reason in dict.fromkeys(row["why"] for row in found):
        print(f"    {reason}")
    return found


def shown(value):
    return "" if value is None else value if isinstance(value, str) else f"{value:.2f}"


def row_of(what, published, values, accepted="", *, holds=True, why=""):
    """Return a row; `values` are ours, one for each key."""
    ours = values if isinstance(values, str) else float(np.mean(values))
    spread = None if isinstance(values, str) or np.size(values) < 2 else float(np.std(values))
    return {
        "what": what,
        "published": published,
        "ours": ours,
        "spread": spread,
        "accepted": accepted,
        "holds": bool(holds),
        "why": why,
    }


def worked(**_):
    """The worked example of the intersection attack: ten records, swapped by at most two ranks."""
    low, high = windows(KNOWN[1:2], MASKED, 2)
    for column, published in enumerate(WINDOWS):
        inside = (low[0, column] <= MASKED[:, column]) & (MASKED[:, column] <= high[0, column])
        found = {int(row) + 1 for row in np.flatnonzero(inside)}
        yield exact(f"worked example, B{column + 1} of (6, 7, 10, 2)", published, found)
    tree, own = plant(MASKED), np.arange(len(KNOWN))
    low, high = windows(KNOWN, MASKED, 2)
    inside = ((low[:, None] <= MASKED) & (high[:, None] >= MASKED)).all(axis=2)
    assert np.array_equal(records_within(tree, low, high), inside.sum(axis=1))
    for person in own:
        found = {int(row) + 1 for row in np.flatnonzero(inside[person])}
        yield exact(f"intersection of record {person + 1}", INTERSECTIONS[person], found)


def exact(what, published, found):
    names = [" ".join(map(str, sorted(rows))) for rows in (published, found)]
    return row_of(what, *names, "exact", holds=published == found, why=REASONS["worked"])


def swapping(*, quick):
    """Rank swapping of both tables: linkage by distance, within windows, and by probability."""
    for name, columns in (("census", None), ("eia", EIA)):
        table = read_numbers("census_casc.csv" if name == "census" else "eia.csv", columns)
        if table is not None:
            yield from swapped_table(name, table, range(2 if quick else 10))


def swapped_table(name, table, keys):
    most = table.shape[1] // 2
    before = None
    for place, percent in enumerate(PERCENTS):
        share = percent / 100
        both = [distances(table, drawn_once(table, share, key), share, most) for key in keys]
        pld = probabilities(name, table, share, keys)
        dld = [np.mean(one > 0 if name == "eia" else one) for one, _ in both]
        rsld = [np.mean(one) for _, one in both]
        never = all(np.all(b >= a - 1e-9) for a, b in both)
        for kind, found in (("DLD", dld), ("RSLD", rsld)):
            published, band = SWAPPED[name, kind][place], SWAPPED[name, f"{kind} band"]
            ours = 100 * np.array(found)
            settled = (name, kind, percent) != ("eia", "RSLD", 2)
            holds = not settled or abs(ours.mean() - published) <= band
            told = f"within {band}" if settled else "not settled"
            why = REASONS[f"{name} {kind}" if settled else "unsettled"]
            yield row_of(
                f"{name} {kind}, p={percent}", published, ours, told, holds=holds and never, why=why
            )
        yield probabilistic_row(name, place, pld, before, np.mean(dld))
        before = np.mean(pld)


def drawn_once(table, share, key):
    """Swap each column; a value whose partner is swapped already stays (the recipe's V2)."""
    random, masked = np.random.default_rng(key), table.copy()
    rows, window = len(table), int(share * len(table))
    for column in range(table.shape[1]):
        order = np.lexsort((random.random(rows), table[:, column]))
        ranks, taken = np.arange(rows), np.zeros(rows, dtype=bool)
        draws = random.random(rows)
        for rank in range(rows - 1):
            reach = min(rows - 1, rank + window) - rank
            other = rank + 1 + int(draws[rank] * reach)
            if not taken[rank] and not taken[other]:
                ranks[rank], ranks[other] = other, rank
                taken[rank] = taken[other] = True
        masked[order, column] = table[order[ranks], column]
    return masked


def swapped(table, share, key, variant="plain"):
    """Swap each column as the product does, by `rank_swap`."""
    random, masked = np.random.default_rng(key), np.empty_like(table)
    for column in range(table.shape[1]):
        words = random.integers(0, 2**64, len(table), dtype=np.uint64)
        masked[:, column] = table[rank_swap(table[:, column], words, share, variant), column]
    return masked


def standard(values, like):
    return (values - like.mean(0)) / like.std(0)


def distances(table, masked, share, most, first=1):
    """Link by the first `first` to `most` columns: by distance alone, and within windows.

    Returns the probabilities of right links, (numbers of columns, persons), of each.
    """
    known, released, own = standard(table, table), standard(masked, masked), np.arange(len(table))
    box = [standard(end, masked) for end in windows(table, masked, int(share * len(table)))]
    alone, within = [], []
    for count in range(first, most + 1):
        tree = plant(released[:, :count])
        alone.append(links(tree, known[:, :count], own))
        within.append(links(tree, known[:, :count], own, *(end[:, :count] for end in box)))
    return np.array(alone), np.array(within)


def probabilities(name, table, share, keys):
    """Link by Fellegi and Sunter: columns agree whose values are in the same of ten bins."""
    count, own = (10 if name == "census" else 6), np.arange(len(table))
    known, found = bins(table, table)[:, :count], []
    for key in keys[:2]:
        released = bins(swapped(table, share, key), table)[:, :count]
        found.append(probabilistic_links(known, released, own)[0].mean())
    return found


def bins(values, like):
    edges = np.quantile(like, np.linspace(0, 1, 11)[1:-1], axis=0)
    columns = [np.searchsorted(edges[:, at], column) for at, column in enumerate(values.T)]
    return np.column_stack(columns)


def probabilistic_row(name, place, found, before, dld):
    """Accept by shape: falling, and below distance-based linkage from p=4 on."""
    percent, ours = PERCENTS[place], 100 * np.array(found)
    holds = before is None or np.mean(found) < before
    if name == "census":
        ends = {2: (55, 75), 20: (0, 1)}.get(percent, (0, 100))
        holds &= ends[0] <= ours.mean() <= ends[1] and (percent < 4 or np.mean(found) < dld)
    return row_of(
        f"{name} PLD, p={percent}",
        SWAPPED[name, "PLD"][place],
        ours,
        "shape",
        holds=holds,
        why=REASONS[f"{name} PLD"],
    )


def transparency(*, quick):
    """Census swapped in three variants: the intersection collapses, the likelihood does not."""
    table = read_numbers("census_casc.csv")
    if table is None:
        return
    settings = [("plain", share) for share in (0.02, 0.1, 0.2)]
    settings += [("distribution", share) for share in (0.02, 0.06, 0.1, 0.2)]
    settings += [("buckets", share) for share in (0.01, 0.04, 0.1)]
    for variant, share in settings:
        keys = range(1 if quick else 5)
        runs = [likelihoods(table[:, :7], variant, share, key, quick=quick) for key in keys]
        means = {name: 100 * np.array([run[name] for run in runs]) for name in runs[0]}
        for name, values in means.items():
            is_likely = name.startswith("likelihood")
            dld = means[name.replace("likelihood", "DLD")].mean()
            holds = not is_likely or values.mean() >= dld
            told = "at least DLD" if is_likely else ""
            what = f"{variant}, p={100 * share:g}, {name}"
            why = REASONS["plain" if variant == "plain" else "variants"]
            yield row_of(what, None, values, told, holds=holds, why=why)


def likelihoods(table, variant, share, key, *, quick):
    """Return the shares linked: by seven known columns, and the means over one to seven."""
    masked, own = swapped(table, share, key, variant), np.arange(len(table))
    first = 7 if quick else 1
    alone, within = distances(table, masked, share, 7, first)
    moves = rank_swaps(len(table), share, variant)
    pairs = zip(table.T, masked.T, strict=True)
    columns = [moved(known, released, moves, is_middle=False) for known, released in pairs]
    counts = range(first, 8)
    likely = np.array([likelihood_links(columns[:count], own).linked for count in counts])
    low, high = windows(table, masked, int(share * len(table)))
    found = {"truth in all 7 windows": ((low <= masked) & (masked <= high)).all(axis=1).mean()}
    for name, shares in (("DLD", alone), ("intersection", within), ("likelihood", likely)):
        found[f"{name} of 7"] = shares[-1].mean()
        if not quick:
            found[f"{name}, mean"] = shares.mean()
    return found


def learned(*, quick):
    """The six instances on 400 records of Census, linked by distances that are learned."""
    table = read_numbers("census_casc.csv", COLUMNS)
    for name in () if table is None else ("M6-385",) if quick else LEARNED:
        differences, own = instance(table[:400], BLOCKS[name])
        yield from fixed(name, differences, own)
        starts, before, width = [], None, differences.shape[2]
        for kind, family in FAMILIES.items():
            distance = family(width)
            start = time.process_time()
            found = learn(differences, own, distance, starts, seconds=8)
            spent = time.process_time() - start
            share, least = found.linked / 4, LEAST[kind]
            bound = {"AM": mean_links(differences, own), "WM": before}[least]
            published = LEARNED[name][kind]
            told = f"at least {least}, bound {found.bound / 4}, {spent:.1f} of 10 CPU s"
            holds = share >= bound and (quick or spent < 10)
            yield row_of(
                f"{name} {kind}", published, [share], told, holds=holds, why=REASONS["learned"]
            )
            before = share if kind == "WM" else before
            starts.append((distance, found.parameters))
        if not quick:
            yield from others(name, differences, own)


LEAST = {"WM": "AM", "CI": "WM", "SB": "WM"}
"""What a learned distance links at least, because it starts from it."""


def instance(table, blocks):
    """Return differences (400, 400, columns) of records and their microaggregation by blocks."""
    masked, first = [], 0
    words = np.arange(len(table), dtype=np.uint64)
    for columns, k in blocks:
        block = table[:, first : first + columns]
        masked.append(class_means(block, mdav(block, words, k)))
        first += columns
    known = table[:, :first]
    released = np.hstack(masked)
    return standard(known, known)[:, None] - standard(released, released), np.arange(len(table))


def mean_links(differences, own):
    family = FAMILIES["WM"](differences.shape[2])
    return 100 * linked(differences, own, family, family.inner).mean()


def fixed(name, differences, own):
    """Linkage by the mean, and by Mahalanobis with the covariance of the right differences."""
    published = LEARNED[name]
    ours = [mean_links(differences, own)]
    yield row_of(f"{name} AM", published["AM"], ours, why=REASONS["fitted"])
    covariance = np.cov(differences[own, own].T)
    root = np.linalg.cholesky(np.linalg.inv(covariance))
    ours = [mean_links(differences @ root, own)]
    yield row_of(f"{name} MD", published["MD"], ours, why=REASONS["fitted"])


def others(name, differences, own):
    """The same distances, learned from half of the records and linking the other half."""
    families = [family(differences.shape[2]) for family in FAMILIES.values()]
    shares = held_out(differences, own, families, own % 2, seconds=4).links.mean(axis=1)
    for kind, share in zip(FAMILIES, shares, strict=True):
        yield row_of(f"{name} {kind}, held out", None, [100 * share], why=REASONS["held out"])


def scale(*, quick):
    """A million records of seven columns, and the other measures on as many."""
    rows = 100_000 if quick else 1_000_000
    table = two_factors(rows)
    own, known = np.arange(rows), standard(table, table)
    for share in (0.005, 0.02, 0.1):
        masked = swapped(table, share, key=1)
        released, window = standard(masked, masked), int(share * rows)
        cost, found = spent(lambda r=released: links(plant(r), known, own))
        what = f"distance, {rows:,} x 7, p={100 * share:g}"
        yield timed_row(what, cost, 15, f"{100 * found.mean():.2f}% linked", quick=quick)
        cost, found = spent(lambda m=masked, r=released, w=window: attack(table, m, r, known, w))
        what = f"intersection, {rows:,} x 7, p={100 * share:g}"
        told = f"{100 * found[0]:.2f}% alone, {100 * found[1]:.2f}% linked"
        yield timed_row(what, cost, 15, told, quick=quick)
    cost, found = spent(lambda: partners(table, masked, share))
    what = f"partners of swaps, {rows:,} x 7, p=10"
    yield timed_row(what, cost, 15, f"{100 * found:.2f}% linked", quick=quick)
    yield from nearness(table, masked, quick=quick)
    yield from frequencies(rows, quick=quick)


def nearness(table, masked, *, quick):
    """How near the masked numbers stay, against all pairs of any two records."""
    widths, rows = 0.05 * masked.std(axis=0, ddof=1), len(table)
    cost, found = spent(lambda: pairs_within(table, masked, widths))
    told = f"{found:,} pairs"
    yield timed_row(f"near pairs, {rows:,} x 7, p=10", cost, 20, told, quick=quick)
    shares = [percent / 100 for percent in range(1, 11)]

    def ranked():
        own = rank_interval_disclosure(table, masked, shares).mean()
        pairs = zip(table.T, masked.T, strict=True)
        return own, np.mean([pairs_within_ranks(*pair, shares) for pair in pairs]) / rows**2

    cost, found = spent(ranked)
    told = f"{100 * found[0]:.2f}% within, {100 * found[1]:.2f}% of all pairs"
    yield timed_row(f"rank intervals, {rows:,} x 7, p=10", cost, 5, told, quick=quick)


def two_factors(rows):
    random = np.random.default_rng(7)
    factors, loadings = random.standard_normal((rows, 2)), random.standard_normal((2, 7))
    return np.exp(factors @ loadings + random.standard_normal((rows, 7)))


def attack(table, masked, released, known, window):
    """Return the shares with one record in the intersection, and linked within it."""
    box = [standard(end, masked) for end in windows(table, masked, window)]
    tree = plant(released)
    # Persons whose records are neighbours visit the same nodes, which are then at hand.
    alone = (records_within(tree, *(end[tree.rows] for end in box), most=2) == 1).mean()
    return alone, links(tree, known, np.arange(len(table)), *box).mean()


def partners(table, masked, share):
    """Return the share that is linked by what links mean for the partners of swaps."""
    moves, own = rank_swaps(len(table), share, "plain"), np.arange(len(table))
    pairs = zip(table.T, masked.T, strict=True)
    files = likelihood_files([moved(*both, moves, is_middle=False) for both in pairs])
    return links_of(records_by_exchanges(files, swapped_values(table, masked), own), own).mean()


def frequencies(rows, *, quick):
    random = np.random.default_rng(3)
    sizes = (2, 90, 16, 7, 40)
    population = np.column_stack([random.integers(0, size, 3 * rows) for size in sizes])
    sample = population[:rows]

    def estimated():
        classes = PopulationClasses.of(sample, sample[:0])
        counts = classes.frequencies
        return individual_risk(counts, counts * 3.0)[classes.class_of].sum()

    def mapped():
        return journalist_risks(*PopulationClasses.of(sample, population).sampled()).mean

    cost, found = spent(estimated)
    what = f"individual risk, {rows:,} rows"
    yield timed_row(what, cost, 2, f"{found:,.0f} expected", quick=quick)
    cost, found = spent(mapped)
    told = f"{100 * found:.2f}% expected"
    yield timed_row(f"k-map, {rows:,} of {3 * rows:,}", cost, 2, told, quick=quick)
    few = rows // 20
    codes = np.column_stack(
        [random.integers(0, size, few) for size in (2, 5, 7, 9, 12, 16, 40, 90)]
    )
    cost, found = spent(lambda: special_uniques(codes))
    told = f"{int((found.scores > 0).sum()):,} unique"
    yield timed_row(f"SUDA2, {few:,} x 8", cost, 10, told, quick=quick)


def spent(call):
    """Return the CPU seconds of a second run, and its result."""
    call()
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def timed_row(what, cost, most, told, *, quick):
    holds = quick or cost < most
    return row_of(what, f"< {most} s", [cost], told, holds=holds, why=REASONS["scale"])


PARTS = {
    "worked": worked,
    "swapping": swapping,
    "transparency": transparency,
    "learned": learned,
    "scale": scale,
}

if __name__ == "__main__":
    main()
