"""The Skewed Purchases experiment of MOSAICrOWN D5.2, section 4.3, and what it published.

    python benchmarks/skewed_purchases.py [--quick] [--ends] [--classes N ...] [--shadows N]
        [--epochs N] [--noise Z ...] [--local EPSILON ...] [--optimizer sgd|adam] [--seed N]
        [--clipping-norm X] [--like-shadows] [--coin] [--microbatches N] [--attack NAME]
        [--cache DIR] [--json FILE] [--picture FILE]

Shopping carts of 600 bits in C classes. Each class has a block of 600/C indicator bits of its
own, set with probability .8; all others are noise, set with .2 where models learn and with .5
where they are tested. Target and shadows learn from 10,000 records each of the first kind and the
target is tested on as many of the second. The attack is that of Shokri et al. --quick: from 1,000
records, for fewer epochs; --ends: two noises of a kind instead of five.

The report gives the learning rate (1e-3), the batch (100), the epochs (200), the noise; 10,000
records a model give its epsilons. What it leaves open, what is set here, and what was tried (C of
10 and 50, 60 to 200 epochs, 2 shadows; the first by the attack as it is, the others by one that
saw less):

- The optimizer: SGD, as it speaks of DP-SGD. At C=50 and z=2 the precision is .69 by SGD and .85 by
  Adam, which learns in spite of the noise (published: .53); with --microbatches 10, by which the
  mean gradients of ten parts of a batch are clipped, .66 by Adam (.56 in 60 epochs). At C=10 the
  precision stays by SGD, as published, and not by Adam.
- The clipping norm: 4. With 1, models of C=50 learn nothing under noise (precision .50 at z=2),
  and those of C=10 keep .93 in the place of .97. By Adam it makes no difference.
- What the shadows are tested on: skewed records, as the target is. With records like those they
  learn from (as in the authors' library; --like-shadows), the attack on C=10 is a guess from the
  start by Adam (precision .50), and better than that under noise (.66 at z=2).
- The indicator bits of the classes: blocks side by side. Drawn at random and overlapping, by Adam,
  figures differ by .01, or .05 under LDP.
- The network: 128 units, tanh. By Adam, none, 128 relu, or 600 and 128 tanh give the same test
  accuracy at C=10, .99 and more. Published is a rise of it under LDP of .1; by SGD it rises at 1
  (.94 to .99), and at .1 no choice that was tried raised it but --coin: a bit that is not kept
  with e^epsilon / (1 + e^epsilon) is tossed, .1 is what 1.17 is otherwise, and gives .99.
- How many shadows: 10. How the attack learns: as the package does, all of a class at once.

LDP perturbs what models learn from; the attacker asks about the original records. As members and
others differ in their noise, an attack may succeed by telling that noise, and not by what a model
remembers: precision here is not a measure of memory.
"""

import argparse
import json
import math
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from local import ROOT, machine
from microbatches import MicrobatchLearner

from policy_engine.audits.membership.auditing import audit
from policy_engine.audits.membership.learners.network import NetworkLearner
from policy_engine.audits.membership.records import digest_of, records_of_arrays
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.membership.splits import ModelCounts, Splits, make_splits
from policy_engine.audits.membership.tradeoff import Grid, tradeoff
from policy_engine.audits.reports.charts.tradeoff import tradeoff_chart
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Layer, Network

BITS = 600
INDICATOR, NOISE_LEARNT, NOISE_TESTED = 0.8, 0.2, 0.5
CLASSES = (10, 20, 50, 100)
CLOSE = 0.05
"""How near a figure is to a published one, read off a curve, to be called the same."""


@dataclass(frozen=True)
class Size:
    """How large the experiment is."""

    records: int
    batch: int
    epochs: int
    shadows: int
    grid: Grid


@dataclass(frozen=True)
class Reading:
    """What the report leaves open: how models learn, and on what the shadows are tested."""

    optimizer: str
    clipping_norm: float
    skewed_shadows: bool
    coin: bool = False
    microbatches: int = 0

    def local_epsilon(self, epsilon):
        """Return the epsilon of a bit that is kept with e^epsilon / (1 + e^epsilon), or tossed.

        Read so, a bit that is not kept is right half of the time all the same: the epsilon of
        its answer is ln(1 + 2 e^epsilon).
        """
        return math.log1p(2 * math.exp(epsilon)) if self.coin else epsilon


FULL = Size(10_000, 100, 200, 10, Grid())
QUICK = Size(1_000, 50, 20, 2, Grid(noise_multipliers=(2, 16), local_epsilons=(5, 0.1)))


def main():
    options = asked()
    size = QUICK if options.quick else FULL
    given = {name: getattr(options, name) for name in ("shadows", "epochs")}
    size = replace(size, **{name: value for name, value in given.items() if value})
    if options.ends:
        size = replace(size, grid=QUICK.grid)
    reading = Reading(
        options.optimizer,
        options.clipping_norm,
        not options.like_shadows,
        options.coin,
        options.microbatches,
    )
    size = replace(size, grid=grid_of(options, size.grid, reading))
    start, found = time.process_time(), {}
    for count in options.classes or ((10, 50) if options.quick else CLASSES):
        found[count] = experiment(count, size, reading, options)
        save(found, size, reading, time.process_time() - start, options)
    print("\n".join(compared(found)))
    if (size.records, size.epochs) != (FULL.records, FULL.epochs):
        print("Fewer records or epochs than in the report are another experiment: other epsilons.")
    print(f"{time.process_time() - start:.0f} CPU s, saved to {options.json}")


def grid_of(options, grid, reading):
    """Return what is tried: the grid of the size, or what is asked for."""
    noises = grid.noise_multipliers if options.noise is None else options.noise
    epsilons = grid.local_epsilons if options.local is None else options.local
    epsilons = tuple(map(reading.local_epsilon, epsilons))
    return replace(grid, noise_multipliers=tuple(noises), local_epsilons=epsilons)


def asked():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and smaller models")
    parser.add_argument("--classes", type=int, nargs="+", help="how many classes, of 10 20 50 100")
    parser.add_argument("--attack", default="shokri")
    parser.add_argument("--shadows", type=int, help="how many shadow models, 10 (2 if quick)")
    parser.add_argument("--epochs", type=int, help="200 (20 if quick)")
    parser.add_argument("--ends", action="store_true", help="two noises of a kind, not five")
    parser.add_argument("--noise", type=float, nargs="*", help="noise multipliers, 2 4 6 8 16")
    parser.add_argument("--local", type=float, nargs="*", help="epsilons of a bit, 8 5 3 1 .1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coin", action="store_true", help="a bit not kept is tossed, not flipped")
    several = "clip the mean gradients of so many parts of a batch, not those of records"
    parser.add_argument("--microbatches", type=int, default=0, help=several)
    parser.add_argument("--optimizer", choices=("sgd", "adam"), default="sgd")
    parser.add_argument("--clipping-norm", type=float, default=4.0)
    tested = "test shadows on records like those they learn from, not on skewed ones"
    parser.add_argument("--like-shadows", action="store_true", help=tested)
    parser.add_argument("--cache", type=Path, help="a folder to keep in what models say")
    results = ROOT / "benchmarks" / "results" / "skewed_purchases.json"
    parser.add_argument("--json", type=Path, default=results)
    parser.add_argument("--picture", type=Path, help="where to draw the figures, .png or .svg")
    return parser.parse_args()


def experiment(classes, size, reading, options):
    """Return the trade-off of one number of classes, printing its points."""
    settings = Settings(attacks=(options.attack,), shadows=size.shadows, seed=options.seed)
    network = Network(
        layers=(Layer(units=128, activation="tanh"),),
        optimizer=reading.optimizer,
        learning_rate=1e-3,
        epochs=size.epochs,
        batch_size=size.batch,
    )
    records, splits = purchases(classes, size, reading, options.seed)
    aucs = []
    run = auditing(records, splits, reading, options.cache, aucs)
    grid = replace(size.grid, clipping_norm=reading.clipping_norm)
    found = tradeoff(records, network, settings, grid, auditing=run, progress=told)
    print(f"\r{classes} classes, {size.records:,} records a model".ljust(70))
    print("             epsilon  accuracy: train   test    precision, recall (of classes)   phi")
    for point, auc in zip(found.points, aucs, strict=True):
        print(row(point), " AUC:", ", ".join(f"{name} {one:.3f}" for name, one in auc.items()))
    return found, aucs


def row(point):
    setting = {"original": "original", "central": "CDP z =", "local": "LDP eps"}[point.kind]
    both = f"{shown(point.phi_precision)} {shown(point.phi_recall)}"
    return (
        f"{setting:9}{shown(point.setting, 'g'):>4}{shown(point.epsilon, '.2f'):>8}"
        f"{point.train_accuracy:14.3f}{point.test_accuracy:10.3f}"
        f"{shown(point.precision):>9}{shown(point.recall):>6}"
        f" ({shown(point.mean_precision)} {shown(point.mean_recall)})   {both}"
    )


def shown(figure, form=".3f"):
    if isinstance(figure, NotApplicable):
        return "-"
    return format(getattr(figure, "value", figure), form)


def carts(classes, count, noise, random):
    """Return features (count, 600) and labels (count,), of every class as many."""
    labels = np.arange(count) % classes
    features = random.random((count, BITS), dtype=np.float32) < noise
    block = BITS // classes
    columns = labels[:, None] * block + np.arange(block)
    indicators = random.random(columns.shape, dtype=np.float32) < INDICATOR
    np.put_along_axis(features, columns, indicators, axis=1)
    return features.astype(np.uint8), labels


def purchases(classes, size, reading, first):
    """Return records of both kinds, and splits that learn from the first, test on the second."""
    random = np.random.default_rng([4, 3, 2, classes, *([first] if first > 1 else [])])
    count = 4 * size.records
    sides = [carts(classes, count, noise, random) for noise in (NOISE_LEARNT, NOISE_TESTED)]
    features, labels = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    records = records_of_arrays(features, labels, f"Skewed Purchases, {classes} classes")
    learnt, tested = (
        make_splits(records.labels[rows], records.classes, ModelCounts(size.shadows, seed=seed))
        for seed, rows in enumerate((slice(0, count), slice(count, 2 * count)))
    )
    target_test, shadow_test = count + tested.target_train, learnt.shadow_test
    if reading.skewed_shadows:
        shadow_test = tuple(count + one for one in tested.shadow_train)
    digest = digest_of(learnt.target_train, target_test, *learnt.shadow_train, *shadow_test)
    splits = Splits(learnt.target_train, target_test, learnt.shadow_train, shadow_test, (), digest)
    return records, splits


def auditing(records, splits, reading, cache, aucs):
    """Return what audits a model on these splits; `audit` would draw both sides alike.

    The AUC of each attack, a loss threshold among them, is put into `aucs`: an attack with worse
    than that has missed what there is to see.
    """

    def run(job, progress):
        network = job.network
        found = audit(
            records,
            learner_of(network, reading),
            replace(job.settings, attacks=tuple(dict.fromkeys((*job.settings.attacks, "loss")))),
            architecture=network,
            splits=splits,
            cache=cache,
            progress=progress,
        )
        aucs.append({one.attack: one.figures.auc.value for one in found.attacks})
        return found

    return run


def learner_of(network, reading):
    """Return what trains a network, in the reading's way where it is private."""
    if reading.microbatches and network.privacy:
        return MicrobatchLearner(network, reading.microbatches)
    return NetworkLearner(network)


def compared(found):
    """Yield what the report says of the curves, and what was measured."""
    yield "Published (D5.2, section 4.3.3), and measured:"
    for classes, (one, _) in sorted(found.items()):
        if one.of("central"):
            yield from of_central(classes, one)
        if one.of("local"):
            yield from of_local(classes, one)


def of_central(classes, one):
    """Yield what is said of noise in the training."""
    points = one.of("central")
    if classes <= 20:
        change = most_changed(one.original, points, "precision")
        said = f"C={classes}, CDP: precision stays as it was"
        yield verdict(said, f"changes by {change:.3f} at most", change <= CLOSE)
    if classes == 50:
        precision = value(points[0].precision)
        said = "C=50, CDP: precision about .53 at z=2 (epsilon 3.5 as published)"
        yield verdict(said, f"{precision:.3f}", abs(precision - 0.53) <= CLOSE)
    recalls = [value(point.recall) for point in points]
    reached = [recall <= 0.5 + CLOSE for recall in recalls]
    wanted = [classes >= 50 and number == len(points) - 1 for number in range(len(points))]
    said = "at z=16 (epsilon .4 as published) alone" if classes >= 50 else "nowhere"
    shown = " ".join(f"{recall:.3f}" for recall in recalls)
    yield verdict(f"C={classes}, CDP: recall at the baseline .5 {said}", shown, reached == wanted)
    phis = [phi for point in points for phi in (point.phi_precision, point.phi_recall)]
    below = sum(isinstance(phi, float) and phi < 1 for phi in phis)
    said = f"C={classes}, CDP: phi below 1 almost always (unbounded: not below)"
    yield verdict(said, f"{below} of {len(phis)}", below >= 0.8 * len(phis))


def of_local(classes, one):
    """Yield what is said of noise in the records."""
    points, first = one.of("local"), one.original
    weak = [point for point in points if point.setting > 1]
    if classes < 100:
        change = most_changed(first, weak, "precision")
        said = f"C={classes}, LDP: precision hardly affected until 1"
        yield verdict(said, f"changes by {change:.3f} at most above 1", change <= CLOSE)
    affected = [
        point.setting for point in points if abs(value(point.recall) - value(first.recall)) > CLOSE
    ]
    said = "at .1 alone" if classes <= 20 else "nowhere"
    shown = f"at {', '.join(format(one, 'g') for one in affected) or 'none'}"
    held = affected == ([0.1] if classes <= 20 else [])
    yield verdict(f"C={classes}, LDP: recall affected {said}", shown, held)
    tests = " ".join(f"{point.test_accuracy:.3f}" for point in (first, *points))
    last = points[-1].test_accuracy
    if classes <= 20:
        said = f"C={classes}, LDP: test accuracy rises at .1 (regularization)"
        yield verdict(said, tests, last > first.test_accuracy + CLOSE)
    else:
        said = f"C={classes}, LDP: test accuracy suffers from 5 on"
        held = at(points, 5).test_accuracy < first.test_accuracy - CLOSE
        yield verdict(said, tests, held)


def most_changed(first, points, name):
    before = value(getattr(first, name))
    return max(abs(value(getattr(point, name)) - before) for point in points)


def verdict(said, measured, holds):
    return f"  {said}: {measured}, {'reproduced' if holds else 'NOT reproduced'}"


def at(points, setting):
    return min(points, key=lambda point: abs(point.setting - setting))


def value(figure):
    """Return a precision or a recall; an attack that calls nobody a member is a guess."""
    return 0.5 if isinstance(figure, NotApplicable) else figure.value


def save(found, size, reading, seconds, options):
    import tensorflow as tf  # (slow to import: `--help` need not wait)

    report = {
        "machine": {**machine(), "tensorflow": tf.__version__},
        "quick": options.quick,
        "size": asdict(size),
        "reading": asdict(reading),
        "cpu_s": round(seconds, 1),
        "facts": list(compared(found)),
        "seed": options.seed,
        "tradeoffs": {str(count): one.model_dump(mode="json") for count, (one, _) in found.items()},
        "auc": {str(count): aucs for count, (_, aucs) in found.items()},
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    if options.picture:
        lines = {f"C = {count}": one for count, (one, _) in sorted(found.items())}
        options.picture.write_bytes(tradeoff_chart(lines, options.picture.suffix[1:]))


def told(stage, done, total):
    """Show on one line how far the experiment is, where there is one."""
    if sys.stdout.isatty():
        print(f"\r{stage}: {100 * done // max(total, 1)}%".ljust(70), end="", flush=True)


if __name__ == "__main__":
    main()
