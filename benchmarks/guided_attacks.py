"""Attacks on models that learnt from accuracy-guided classes: whom they learnt from, and what of
them."""

import json
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from guided_tables import (
    HARD,
    MONDRIAN,
    PAPER,
    PERMUTED,
    RAW,
    SOFT,
    Split,
    Task,
    adult,
    forest,
    loan,
    nursery,
    published,
)
from local import ROOT, SHARED
from membership import goal, judged, mean
from repeated_runs import spreads

from policy_engine import apply_policy
from policy_engine.audits.attribute.asking import SecretMaterial, TrainedTarget
from policy_engine.audits.attribute.attacking import SecretSides, attack_model
from policy_engine.audits.attribute.secret import BINS, read_secret
from policy_engine.audits.attribute.settings import SecretSettings
from policy_engine.audits.membership.learners import learner_of
from policy_engine.audits.membership.records import FittedFeatures
from policy_engine.audits.membership.releases import CoveredValues, fit_on_release
from policy_engine.methods.audits.classifier import Estimator

SECRET = "social"
ADULT = "http://example.com/Adult"
FOREST, TREE = Estimator(name="RandomForestClassifier"), Estimator(name="DecisionTreeClassifier")
IBM = "IBM's code"
VARIANTS = (RAW, PAPER, HARD, SOFT, MONDRIAN, PERMUTED)


def of_membership(size):
    """Random forests, as many others as members: balanced accuracy of attacks on whom they know."""
    rows, goals = [], []
    for task, k, known, wanted in ((loan(), 100, 0.651, 0.514), (adult(), 50, 0.599, 0.500)):
        if task is None or (size.seeds == 1 and task.name == "Loan"):
            continue
        found = size.kept.several(
            f"{task.name}: membership",
            [(variant, k) for variant in VARIANTS],
            range(size.seeds),
            partial(attacked, task),
        )
        for (variant, _), runs in found.items():
            rows.append({"table": task.name, "variant": variant, "k": k, **spreads(runs)})
        for variant, figure in ((RAW, known), (SOFT, wanted), (HARD, wanted)):
            if (variant, k) in found:
                own = mean(one["black_box"] for one in found[variant, k])
                told = f"{task.name}, RF, {variant}: accuracy of the black-box attack"
                # The raw table is to be attacked as well as published; others no better.
                is_met = own >= figure - 0.02 if variant == RAW else own <= figure + 0.02
                goals.append(goal(told, f"about {figure:.3f}", own, is_met))
    return rows, goals


def attacked(task, variant, k, seed):
    """Return what attacks on a forest of a release reach, None where there is no release."""
    split = Split.of(task, seed)
    predicted = forest(task, split.target, seed)(split.rows) if variant == PAPER else None
    release = split.release(variant, k, predicted)
    if release is None:
        return None
    everything = pa.concat_tables([split.rows, split.target])
    if variant == RAW:
        fitted = FittedFeatures.of(everything, task.label)
    else:
        fitted = fit_on_release(release, task.label, CoveredValues({}, {}))
    learnt, shown = (fitted.records(one, task.name) for one in (release, everything))
    trained = learner_of(FOREST).train(learnt, [np.arange(len(learnt))], [seed])
    members, others = np.split(np.arange(len(shown)), [len(learnt)])
    return judged(trained.logits(shown.features)[0], shown, members, others, seed)


def of_nursery(size):
    """A decision tree on four fifths of Nursery: test accuracy, and what it tells of `social`."""
    task = nursery()
    if task is None:
        return [], []
    task = two_social_values(task)
    variants = (RAW, IBM, PAPER, HARD, "hard, median-mode", SOFT, PERMUTED)
    settings = [(variant,) for variant in variants]
    found = size.kept.several(task.name, settings, range(size.seeds), partial(learnt_of, task))
    rows = [{"variant": one, "k": 100, **spreads(runs)} for (one,), runs in found.items()]
    accuracy = {one: mean(run["test"] for run in runs) for (one,), runs in found.items()}
    if not accuracy:
        return [], []
    raw, ibm = accuracy[RAW], accuracy[IBM]
    return rows, [
        goal("Nursery, DT, as it is: test accuracy", "IBM: .997", raw, abs(raw - 0.997) < 0.003),
        goal("Nursery, DT, k=100, IBM's code", "IBM: about .760", ibm, abs(ibm - 0.760) < 0.03),
    ]


def two_social_values(task):
    """Return Nursery with a secret of two values, without the class of two records."""
    table = task.table.filter(pc.not_equal(task.table.column("class"), "recommend"))
    values = [
        "problematic" if one == "problematic" else "not problematic"
        for one in table.column(SECRET).to_pylist()
    ]
    place = table.column_names.index(SECRET)
    return Task(task.name, table.set_column(place, SECRET, pa.array(values)), "class", task.quasi)


def learnt_of(task, variant, seed):
    """Return the accuracy of a decision tree, and what attacks gain over an imputation."""
    order = np.random.default_rng([22, seed]).permutation(task.table.num_rows)
    members, others, rest = np.split(order, [8 * len(order) // 10, 9 * len(order) // 10])
    rows = task.table.take(pa.array(np.sort(members)))
    split = Split(task, rows, rows, task.table.take(pa.array(np.sort([*others, *rest]))))
    if variant in (PAPER, IBM):
        kind = "nearest" if variant == PAPER else "median-mode"
        release = published(task, rows, task.labels(rows), 100, kind)
    else:
        release = split.release(variant, 100)
    if release is None:
        return None
    fitted = FittedFeatures.of(task.table, task.label)
    records = fitted.records(task.table, task.name)
    learnt = fitted.records(release, task.name)
    trained = learner_of(TREE).train(learnt, [np.arange(len(learnt))], [seed])
    answers = trained.logits(records.features)[0].argmax(axis=1) == records.labels
    secret = read_secret(task.table, SECRET, task.label, BINS)
    features = task.table.drop_columns([task.label])
    material = SecretMaterial.of(features, records.labels, records.classes, secret)
    model = TrainedTarget(trained, learner_of(TREE).gives, fitted.encoding.apply)
    sides = SecretSides(*(np.sort(one) for one in (members, others, rest)))
    made = attack_model(material, sides, model, SecretSettings(seed=seed).requested, seed)
    groups = release.group_by(list(task.quasi)).aggregate([]).num_rows
    figures = {"classes": float(groups), "test": float(answers[[*others, *rest]].mean())}
    for one in made.attacks:
        figures[one.attack] = one.members.accuracy.value
        figures[f"{one.attack}, gain"] = one.members.advantage.value
    return figures


def of_policy(size):
    """The shipped policy: accuracy-guided Adult, a forest that learns from it, LiRA, RMIA, more."""
    path = SHARED / "data" / "adult.csv.gz"
    if not path.exists() or size.seeds == 1:
        return [], []
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        shipped, report = ROOT / "policies" / "guided-adult.jsonld", Path(folder) / "report"
        apply_policy(shipped, {ADULT: path}, Path(folder) / "out", report=report, seed=1)
        audit = json.loads((report / "audit.json").read_text())
    print(f"{time.process_time() - start:.1f} CPU s")
    return [
        {
            "attack": one["attack"],
            "accuracy": one["figures"]["accuracy"]["value"],
            "auc": one["figures"]["auc"]["value"],
        }
        for one in audit["attacks"]
    ], []


PARTS = {"nursery": of_nursery, "membership": of_membership, "policy": of_policy}
