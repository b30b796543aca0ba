"""Attacks on generative models beside the figures that were published, and what they cost.

    OMP_NUM_THREADS=1 python benchmarks/generative.py [--quick] [--only PART ...] [--json FILE]

Parts: images (variational autoencoders of MNIST, dropout keeps .9), percentiles (radii of the
Monte Carlo attack), keep (.7 and .5), gan and auxiliary (small GANs), tables (generators of Adult),
costs. Without --only they are images, percentiles, tables and costs; a full run adds keep.

Single and set accuracy are in percent, over draws of 100 members and 100 others from each model,
means over models and the deviation between them. --quick takes models of 1,000 records and 10,000
samples a class, a full run 6,000 and 300,000. Costs are CPU seconds of this process: with more than
one thread libraries wait by spinning, and the figures say little. Data that does not lie beside the
project is named as missing.
"""

import argparse
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path

import numpy as np
from generative_cells import BANDS, LEAST_SET, MEASURED, UNMEASURED
from generative_tables import attacked_tables
from local import ROOT, SHARED, machine

from policy_engine.audits.generative.attacks.auxiliary_gan import auxiliary_gan
from policy_engine.audits.generative.attacks.calibrated import calibrated_nearest_sample
from policy_engine.audits.generative.attacks.calibrated_reconstruction import (
    calibrated_reconstruction,
)
from policy_engine.audits.generative.attacks.density_ratio import reference_distances
from policy_engine.audits.generative.attacks.discriminator import discriminator
from policy_engine.audits.generative.attacks.monte_carlo import BALLS, MonteCarlo, compare_samples
from policy_engine.audits.generative.attacks.reconstruction import reconstruction
from policy_engine.audits.generative.attacks.shadow_generators import shadow_generators
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.models.conditional_vae import VaeSettings, fit_vae
from policy_engine.audits.generative.models.dcgan import GanSettings, fit_gan
from policy_engine.audits.generative.sampling import ModelSamples
from policy_engine.audits.generative.spaces.images import PrincipalComponents
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.games import play_games
from policy_engine.audits.membership.training.runtime import need_tensorflow
from policy_engine.kernels.generative.nearest_samples import NearestSamples

CLASSES = tuple("0123456789")
SHAPE = (28, 28)
GAMES, SET = 400, 100
REFERENCES = 20_000
GAN_RECORDS, GAN_MODELS, GAN_SAMPLES = 250, 4, 10_000


@dataclass(frozen=True)
class Size:
    """How much is measured: `samples` are those of a class."""

    name: str
    records: int
    epochs: int
    samples: int
    passes: int
    models: int
    share: float
    """Of the samples, for what is measured at fewer, and of the cost figures."""


QUICK = Size("quick", 1_000, 100, 10_000, 10, 5, 0.1)
FULL = Size("full", 6_000, 300, 300_000, 30, 5, 1.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller models, fewer samples")
    parser.add_argument("--only", nargs="+", choices=PARTS)
    parser.add_argument("--models", type=int, help="how many models are attacked")
    parser.add_argument("--samples", type=int, help="samples of a class")
    results = ROOT / "benchmarks" / "results" / "generative.json"
    parser.add_argument("--json", type=Path, default=results)
    options = parser.parse_args()
    size = QUICK if options.quick else FULL
    size = replace(
        size, models=options.models or size.models, samples=options.samples or size.samples
    )
    if os.environ.get("OMP_NUM_THREADS") != "1":
        print("OMP_NUM_THREADS is not 1: costs are overstated")
    parts = options.only or [*DEFAULTS, *([] if options.quick else ["keep"])]
    report = {}
    for part in parts:
        print(f"\n{part}: {PARTS[part].__doc__.splitlines()[0]}", flush=True)
        start = time.process_time()
        rows = list(PARTS[part](size))
        show(rows)
        seconds = round(time.process_time() - start, 1)
        print(f"{seconds} CPU s in all")
        report[part] = {"rows": rows, "cpu_s": seconds}
    show([vars(cell) for cell in UNMEASURED])
    save(report, size, options.json)


# -- data and models -------------------------------------------------------------------------------


def images():
    """Return the images and labels of MNIST for training, and those for tests."""
    source = SHARED / "data" / "mnist.npz"
    if not source.exists():
        sys.exit(f"MISSING: {source}")
    arrays = np.load(source)
    for name in ("train", "test"):
        values = arrays[f"x_{name}"].reshape(-1, 784) / np.float32(255)
        yield RecordSet(name, values, arrays[f"y_{name}"].astype(np.int64))


def part_of(records, rows):
    return RecordSet(records.name, records.values[rows], records.labels[rows])


def materials(count, models):
    """Yield members, others and references for each model, in an order of its own."""
    train, _ = images()
    for seed in range(models):
        order = np.random.default_rng(seed).permutation(len(train))
        members, holdout, reference, _ = (
            part_of(train, rows) for rows in np.split(order, np.cumsum([count, count, REFERENCES]))
        )
        yield Material(
            members, holdout, reference=reference, shape=SHAPE, classes=CLASSES, seed=seed
        )


def space_of_tests():
    """Return the 40 principal components of the images for tests, which no model sees."""
    _, test = images()
    return PrincipalComponents.fit(Material(test, test, reference=test, shape=SHAPE))


def autoencoder(material, size, keep=0.9):
    """Return the material with a model trained on its members, and the CPU seconds."""
    need_tensorflow()
    start = time.process_time()
    model = fit_vae(
        material.members.values,
        material.members.labels,
        shape=SHAPE,
        classes=len(CLASSES),
        settings=VaeSettings(keep=keep, epochs=size.epochs),
        seed=material.seed,
    )
    return replace(material, model=model), time.process_time() - start


def autoencoders(size, keep=0.9):
    for place, material in enumerate(materials(size.records, size.models)):
        trained, seconds = autoencoder(material, size, keep)
        print(f"model {place + 1} trained in {seconds:.1f} CPU s", flush=True)
        yield trained


# -- figures ---------------------------------------------------------------------------------------


def area_and_tpr(scores, is_member):
    """Return the area under the ROC curve, and the true-positive rate at 1 % false positives."""
    order = falling_order(scores)
    points = curve(scores[order], is_member[order])
    within = points.false_positives <= 0.01 * points.non_members
    tpr = points.true_positives[within].max() / points.members
    return points.area(), tpr


def row_of(name, scored, size, cell=None):
    """Return the figures of an attack over models, beside what was published and the band."""
    games = [play_games(name, [pair], seed, SET, GAMES) for seed, pair in enumerate(scored)]
    singles = [100 * one.single.value for one in games]
    sets = statistics.mean(100 * one.set.value for one in games)
    areas, rates = zip(*(area_and_tpr(*pair) for pair in scored), strict=True)
    single = statistics.mean(singles)
    row = {
        "attack": name,
        "single": round(single, 2),
        "deviation": round(statistics.stdev(singles), 2) if len(singles) > 1 else "",
        "set": round(sets, 1),
        "auc": round(statistics.mean(areas), 3),
        "tpr at 1%": round(statistics.mean(rates), 3),
        "models": [round(one, 2) for one in singles],
        **verdict(name, single, sets, size),
    }
    if cell is None:
        return row
    return row | {
        "published": cell.published,
        "corrected": cell.corrected,
        "reason": cell.reason,
    }


def verdict(name, single, sets, size):
    """Return the band of a row, and whether its figures are in it."""
    band = BANDS[size.name].get(name)
    if band is None:
        return {"band": "", "in it": ""}
    least = LEAST_SET[size.name].get(name, 0.0)
    wanted = f"{band[0]}-{band[1]}" + (f", set {least:g}" if least else "")
    return {"band": wanted, "in it": bool(band[0] <= single <= band[1] and sets >= least)}


def rows_of(scores, size, suffix=""):
    """Yield the rows of attacks: `scores` has pairs of scores and members for each, by name."""
    for name, scored in scores.items():
        yield row_of(f"{name}{suffix}", scored, size, MEASURED.get(f"{name}{suffix}"))


# -- parts -----------------------------------------------------------------------------------------


def attack_images(size):
    """Variational autoencoders of MNIST, by every attack, and each with another's records."""
    space, scores = space_of_tests(), {}
    trained = list(autoencoders(size))
    for place, material in enumerate(trained):
        other = trained[(place + 1) % len(trained)]
        state = MonteCarlo(material, space, percentiles=(), with_references=True)
        compare_samples(state, sampler(material), size.samples * len(CLASSES))
        for name, one in image_scores(material, state, size).items():
            scores.setdefault(name, []).append((one, material.is_member))
        if len(trained) > 1:
            shadow = shadow_generators(material, lambda *_, model=other.model: model)
            scores.setdefault("reconstruction, another model", []).append(
                (shadow, material.is_member)
            )
            for name, pair in null_scores(material, other, space, size).items():
                scores.setdefault(f"null control, {name}", []).append(pair)
        for snapshot in state.growth[:-1]:
            name = f"monte carlo, {snapshot.samples:,} samples"
            scores.setdefault(name, []).append((snapshot.scores, material.is_member))
    for name, scored in scores.items():
        yield row_of(name, scored, size, MEASURED.get(f"{name}, keep .9"))


def sampler(material):
    return ModelSamples(material.model, SHAPE, len(CLASSES))


def image_scores(material, state, size):
    """Return the scores of attacks on one model, by name."""
    errors, distances = -reconstruction(material), -state.scores()
    references = np.log(reference_distances(material, state.space, 5))
    return {
        "monte carlo": state.scores(),
        "monte carlo, reference k=5": references - np.log(distances),
        "monte carlo, calibrated": calibrated_nearest_sample(material, state),
        "reconstruction": -errors,
        f"reconstruction, {size.passes} passes": reconstruction(material, size.passes),
        "reconstruction, reference k=5": 2 * references - np.log(errors),
        "reconstruction, calibrated": calibrated_reconstruction(material, state.space),
    }


def null_scores(material, other, space, size):
    """Return the scores of a model on the records of another, without those that it has seen."""
    seen = {one.tobytes() for one in material.members.values}
    members, holdout = (
        part_of(side, [place for place, one in enumerate(side.values) if one.tobytes() not in seen])
        for side in (other.members, other.holdout)
    )
    control = replace(other, members=members, holdout=holdout, model=material.model)
    state = MonteCarlo(control, space, percentiles=())
    # Nothing comes of more samples: the records are none that the model has seen.
    compare_samples(state, sampler(control), min(size.samples, 10_000) * len(CLASSES))
    return {
        "monte carlo": (state.scores(), control.is_member),
        "reconstruction": (reconstruction(control), control.is_member),
    }


def percentiles(size):
    """The Monte Carlo attack by radii: percentiles of the distances of all pairs, on one model."""
    (material,) = autoencoders(replace(size, models=1))
    state = MonteCarlo(material, space_of_tests())
    samples = min(size.samples, 100_000) * len(CLASSES)
    compare_samples(state, sampler(material), samples)
    yield from rows_of({name: [(state.scores(name), material.is_member)] for name in BALLS}, size)


def less_kept(size):
    """Autoencoders whose dropout keeps .7 and .5, one model of each."""
    space = space_of_tests()
    for keep in (0.7, 0.5):
        (material,) = autoencoders(replace(size, models=1), keep)
        state = MonteCarlo(material, space, percentiles=(), with_references=True)
        compare_samples(state, sampler(material), min(size.samples, 100_000) * len(CLASSES))
        scores = image_scores(material, state, size)
        scored = {name: [(one, material.is_member)] for name, one in scores.items()}
        yield from rows_of(scored, size, f", keep {keep:g}".replace("0.", "."))


def gan(size):
    """Small GANs of 250 images: the discriminator, and the Monte Carlo attack."""
    space, scores = space_of_tests(), {}
    for material in gans(min(size.models, GAN_MODELS)):
        state = MonteCarlo(material, space, percentiles=())
        compare_samples(state, sampler(material), GAN_SAMPLES * len(CLASSES))
        for name, one in (
            ("GAN, discriminator", discriminator(material)),
            ("GAN, monte carlo", state.scores()),
        ):
            scores.setdefault(name, []).append((one, material.is_member))
    yield from rows_of(scores, replace(size, name="full"))


def gans(models):
    need_tensorflow()
    for material in materials(GAN_RECORDS, models):
        start = time.process_time()
        members = material.members
        settings = {"settings": GanSettings(), "seed": material.seed}
        model = fit_gan(
            members.values, members.labels, shape=SHAPE, classes=len(CLASSES), **settings
        )
        print(f"a GAN trained in {time.process_time() - start:.0f} CPU s", flush=True)
        yield replace(material, model=model)


def auxiliary(size):
    """The black box: a GAN trained on samples of one small GAN, whose discriminator is asked."""
    (material,) = gans(1)
    scored = [(auxiliary_gan(material), material.is_member)]
    yield row_of("GAN, auxiliary discriminator", scored, size)


def tables(_):
    """Generators of Adult, nine columns of 2,000 members, by the number of rows released."""
    source = SHARED / "data" / "adult_arx.csv.gz"
    if not source.exists():
        sys.exit(f"MISSING: {source}")
    rows = list(attacked_tables(source, table_figures))
    yield from rows
    largest = max(row["rows"] for row in rows)
    by_ratio = {row["generator"]: row["ratio single"] for row in rows if row["rows"] == largest}
    names = list(by_ratio)[:4]
    yield {
        "generator": f"each of the first four leaks more than the one before, {largest:,} rows",
        "ratio single": all(by_ratio[one] < by_ratio[other] for one, other in pairwise(names)),
    }


def table_figures(scores, material):
    game = play_games("", [(scores, material.is_member)], 0, SET, GAMES)
    _, tpr = area_and_tpr(scores, material.is_member)
    return {
        "single": round(100 * game.single.value, 1),
        "set": round(100 * game.set.value, 1),
        "tpr": round(float(tpr), 3),
    }


def costs(size):
    """CPU seconds: a quick model, 1,000,000 samples in 40 components, 1e9 pairs."""
    (material,) = materials(QUICK.records, 1)
    material, seconds = autoencoder(material, QUICK)
    yield goal("training of a quick model, compiled before or not", seconds, 15)
    space = space_of_tests()
    points = space.apply(material.audited.values)
    samples = int(1_000_000 * size.share)
    for _ in sampler(material).batches(20_000, 1, apply=space.apply):
        pass  # compiled by now
    start = time.process_time()
    batches = sampler(material).batches(samples, 0, apply=space.apply)
    drawn = np.concatenate([batch.values for batch in batches])
    yield goal(
        f"1,000,000 samples and their components, by {samples:,}",
        (time.process_time() - start) / size.share,
        15,
    )
    drawn = drawn[:100_000]
    records = np.tile(points, (-(-10_000 // len(points)), 1))[:10_000]
    NearestSamples(points[:10]).update(drawn[:10])  # compiled, or loaded, by now
    start = time.process_time()
    NearestSamples(records).update(drawn)
    yield goal("1e9 pairs of a record and a sample", time.process_time() - start, 1.5)


def goal(what, seconds, wanted):
    return {"what": what, "cpu_s": round(seconds, 2), "goal": wanted, "met": seconds < wanted}


PARTS = {
    "images": attack_images,
    "percentiles": percentiles,
    "keep": less_kept,
    "gan": gan,
    "auxiliary": auxiliary,
    "tables": tables,
    "costs": costs,
}
DEFAULTS = ("images", "percentiles", "tables", "costs")


# -- what is shown and kept ------------------------------------------------------------------------


def show(rows):
    """Print rows as a table, one column for each key."""
    keys = list(dict.fromkeys(key for row in rows for key in row if key != "models"))
    cells = [keys, *[[str(row.get(key, "")) for key in keys] for row in rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(one.ljust(width) for one, width in zip(line, widths, strict=True)).rstrip())


def save(report, size, path):
    """Write the parts that were run; others stay as an earlier run of the same size left them."""
    about = machine()
    for name in ("tensorflow", "tensorflow-cpu", "keras", "scikit-learn"):
        try:
            about[name] = version(name)
        except PackageNotFoundError:
            continue
    before = json.loads(path.read_text()) if path.exists() else {}
    if before.get("size") == size.name:
        report = before["parts"] | report
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"machine": about, "size": size.name, "parts": report}, indent=2) + "\n"
    )
    print(f"\nsaved to {path}")


if __name__ == "__main__":
    main()
