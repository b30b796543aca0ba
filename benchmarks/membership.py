"""What membership-inference audits cost, and what their attacks reach.

    python benchmarks/membership.py [--quick] [--only PART ...] [--json FILE]

Parts: training, privacy, memory, lira, adult, location, policy. Figures of cost are CPU seconds
(user and system) with TensorFlow imported before, each in a process of its own, the least of
several runs. Adult and Location-30 are used where they lie beside the project, and named as
missing where they do not. Where the Adversarial Robustness Toolbox (`art`) can be imported, its
attack is run on the same target.

The Purchase-like set: 600 bits, 100 classes, a random prototype for each. A record is that of its
class with bits flipped at a rate of its own, drawn evenly from a range. Records of `alike` have
one rate; those of `like recorded` have rates such that the loss threshold reaches what was
measured before on another set (AUC .995, a TPR of .227 at an FPR of .1%); those of `uneven`
differ more. At all three a network has 1.00 in training and about
.87 in test.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from local import ROOT, SHARED, cpu_of, machine

from policy_engine import apply_policy
from policy_engine.audits.membership.auditing import audit, audit_predictions
from policy_engine.audits.membership.learners import learner_of
from policy_engine.audits.membership.learners.network import NetworkLearner
from policy_engine.audits.membership.learners.one_by_one import OneByOne
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS
from policy_engine.audits.membership.predictions import Predictions
from policy_engine.audits.membership.records import FittedFeatures, read_records, records_of_arrays
from policy_engine.audits.membership.releases import CoveredValues, fit_on_release
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.membership.training.runtime import need_keras
from policy_engine.engines.tables import infer_types, read_table
from policy_engine.methods.audits.classifier import CentralPrivacy, Estimator, Layer, Network

BITS, CLASSES = 600, 100
SETS = {"alike": (0.366, 0.366), "like recorded": (0.33, 0.395), "uneven": (0.28, 0.42)}
OVERFITTED = Network(layers=(Layer(units=128, activation="tanh"),), epochs=20, batch_size=32)
MEMBERS = 15_000
ADULT = "http://example.com/Adult"
LABEL = "salary-class"
FLOAT_COPY = 4 * BITS
"""How many bytes a record takes as float32."""


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    records: int
    epochs: int
    runs: int
    targets: int
    shadows: int
    seeds: int


FULL = Size(records=10_000, epochs=10, runs=3, targets=8, shadows=10, seeds=3)
QUICK = Size(records=1_000, epochs=2, runs=1, targets=1, shadows=4, seeds=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and smaller models")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    results = ROOT / "benchmarks" / "results" / "membership.json"
    parser.add_argument("--json", type=Path, default=results)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        way, records, epochs = options.measure
        print(json.dumps(MEASURES[way](int(records), int(epochs))))
        return
    found = {}
    for part in options.only:
        print(f"\n{part}: {PARTS[part].__doc__.splitlines()[0]}")
        start = sum(os.times()[:4])
        figures, goals = PARTS[part](QUICK if options.quick else FULL)
        spent = round(sum(os.times()[:4]) - start, 1)
        if options.quick:
            goals = [{**one, "": "not judged by a quick run"} for one in goals]
        show(figures)
        show(goals)
        print(f"{spent} CPU s in all")
        found[part] = {"figures": figures, "goals": goals, "cpu_s": spent}
    save(found, options)


def training(size):
    """10 shadows trained together, beside one Keras `fit` each."""
    one_thread = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    ways = {"together": (size.runs, {}), "fit": (min(size.runs, 2), {})}
    if size is FULL:
        ways["fit, one thread"] = (1, one_thread)
    found = {}
    for way, (count, environment) in ways.items():
        runs = [measured(way.split(",")[0], size, environment) for _ in range(count)]
        found[way] = min(runs, key=lambda one: one["cpu_s"])
        found[way]["all_cpu_s"] = sorted(one["cpu_s"] for one in runs)
    ours, theirs = (found[way]["cpu_s"] for way in ("together", "fit"))
    for one in found.values():
        one["times"] = round(one["cpu_s"] / ours, 2)
    goals = [goal("10 shadows of 10,000 x 600, 10 epochs, CPU s", "below 10", ours, ours < 10)]
    goals.append(goal("one `fit` each takes times as much", "about 29 / 10", theirs / ours, None))
    return [{"way": way, **one} for way, one in found.items()], goals


def privacy(size):
    """An epoch of DP-SGD beside a plain one, alone and ten models at once."""
    runs = [measured("epochs", size) for _ in range(min(size.runs, 2))]
    found = []
    for models in ("1", "10"):
        plain, private = (min(one[models][way] for one in runs) for way in ("plain", "private"))
        ratio = round(private / plain, 2)
        found.append({"models": int(models), "plain": plain, "private": private, "times": ratio})
    one, ten = (row["times"] for row in found)
    goals = [goal("an epoch of DP-SGD over a plain one", "below 2.5", one, one < 2.5)]
    return found, [*goals, goal("the same, ten models at once", "below 2.5", ten, ten < 2.5)]


def memory(size):
    """Peak memory of taking records, and of training 2 models for an epoch on records taken."""
    if size is QUICK:
        return [], []
    found, goals = [], []
    for way in ("training", "taking"):
        counts = (2 * size.records, 20 * size.records)
        few, many = (cpu_of(command(way, count, 1))[1] for count in counts)
        grown = (many - few) * 2**20 / (counts[1] - counts[0])
        found += [{"way": way, "records": counts[1], "peak_mb": round(many)}]
        wanted = f"below {BITS + FLOAT_COPY}: no float copy"
        said = f"{way}: bytes of memory a further record"
        goals.append(goal(said, wanted, grown, grown < BITS + FLOAT_COPY))
    return found, goals


def lira(size):
    """Attacks on the Purchase-like set: 2,000 members, 2,000 others a target, mean of targets."""
    few = ("loss", "lira-online")
    jobs = [("like recorded", 4, ()), ("alike", 4, few), ("uneven", 4, few)]
    jobs = jobs[:1] if size is QUICK else [*jobs, ("like recorded", 16, ())]
    found, goals = [], []
    for name, shadows, attacks in jobs:
        rows = list(attacked(name, shadows, attacks, size.targets))
        found += rows
        loss, best = (next(r for r in rows if r["attack"] == one)["tpr_.1%"] for one in few)
        said = f"LiRA over loss, TPR at .1% FPR, {name}, {shadows} shadows"
        goals.append(goal(said, "3 times", best / loss, best >= 3 * loss))
    return found, goals


def adult(size):
    """Adult, 15,000 members and 15,162 others, with and without anonymisation."""
    path = real("adult_arx.csv.gz")
    if path is None:
        return [], []
    table = infer_types(read_table(path))
    forest = Estimator(name="RandomForestClassifier")
    layers = (Layer(units=128, activation="tanh"),)
    models = {"forest": forest, "network": Network(layers=layers, epochs=80, batch_size=100)}
    ks = (0, 50, 100)
    if size is QUICK:
        models, ks = {"forest": forest}, (0, 50)
    found = []
    for k in ks:
        runs = [adult_run(table, k, models, seed) for seed in range(size.seeds)]
        found += [averaged([run[name] for run in runs]) for name in models]
    plain, masked = (next(r for r in found if r["k"] == k)["black_box"] for k in (0, 50))
    said = "Adult, random forest, accuracy of the black-box attack"
    return found, [
        goal(f"{said}, as it is", ".56 to .58", plain, 0.555 <= plain < 0.585),
        goal(f"{said}, k=50", "about .50", masked, abs(masked - 0.5) <= 0.015),
    ]


def location(size):
    """Location-30, the default network, all attacks."""
    path = real("location_bangkok.npz")
    if path is None:
        return [], []
    start, network = time.process_time(), Network()
    settings = Settings(shadows=size.shadows)
    found = audit(read_records(path), NetworkLearner(network), settings, architecture=network)
    print(
        f"train {found.target_train.accuracy:.3f}, test {found.target_test.accuracy:.3f}, ", end=""
    )
    print(f"{found.target_train.records} members, {time.process_time() - start:.1f} CPU s")
    return [{"attack": one.attack, **reached(one)} for one in found.attacks], []


def forest(size):
    """German credit, a random forest, LiRA offline and RMIA, by the command, with a report."""
    path = real("german_credit.csv")
    if path is None:
        return [], []
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.json"
        model.write_text(Estimator(name="RandomForestClassifier").model_dump_json())
        given = ["audit", "membership", "--data", str(path), "--model", str(model)]
        given += ["--attacks", "lira-offline,rmia", "--shadows", str(size.shadows)]
        for way in ("with --out", "without"):
            spent = []
            for number in range(size.runs):
                out = ["--out", str(Path(folder) / str(number))] if way == "with --out" else []
                asked = [sys.executable, "-m", "policy_engine", *given, *out]
                spent.append(cpu_of(asked, env={**os.environ, "OMP_NUM_THREADS": "1"})[:2])
            cpu, peak = min(spent)
            figures.append({"way": way, "cpu_s": round(cpu, 2), "peak_mb": round(peak)})
            figures[-1]["all_cpu_s"] = sorted(round(one, 2) for one, _ in spent)
    least = figures[0]["cpu_s"]
    return figures, [goal("a forest audit with a report, CPU s", "below 4", least, least < 4)]


def policy(size):
    """The shipped policy: sanitise Adult, train a forest on a quarter, audit, release it."""
    path = real("adult.csv.gz")
    if path is None or size is QUICK:
        return [], []
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        shipped, report = ROOT / "policies" / "model-release.jsonld", Path(folder) / "report"
        apply_policy(shipped, {ADULT: path}, Path(folder) / "out", report=report, seed=1)
        found = json.loads((report / "audit.json").read_text())
    sides = (found[f"target_{side}"]["accuracy"] for side in ("train", "test"))
    print("train {:.3f}, test {:.3f}".format(*sides), end=", ")
    print(f"{found['target_train']['records']} members, {time.process_time() - start:.1f} CPU s")
    rows = [(one["attack"], one["figures"]) for one in found["attacks"]]
    return [
        {"attack": name, "accuracy": one["accuracy"]["value"], "auc": one["auc"]["value"]}
        for name, one in rows
    ], []


PARTS = {
    "training": training,
    "privacy": privacy,
    "memory": memory,
    "lira": lira,
    "adult": adult,
    "location": location,
    "forest": forest,
    "policy": policy,
}


def purchases(count, rates, seed):
    """Return the records of a Purchase-like set, of every class as many."""
    return records_of_arrays(*carts(count, rates, seed), "Purchase-like")


def carts(count, rates, seed):
    """Return the features (count, 600) and labels of a Purchase-like set."""
    random = np.random.default_rng([9, seed])
    prototypes = random.random((CLASSES, BITS)) < 0.5
    labels = np.arange(count) % CLASSES
    features = np.empty((count, BITS), np.uint8)
    for start in range(0, count, 8_000):
        part = slice(start, min(start + 8_000, count))
        own = random.uniform(*rates, (part.stop - start, 1))
        flipped = random.random((part.stop - start, BITS)) < own
        features[part] = prototypes[labels[part]] ^ flipped
    return features, labels


def attacked(name, shadows, attacks, targets):
    """Yield what each attack reaches, the mean of several targets, each with data of its own."""
    found = []
    for seed in range(targets):
        records = purchases(8_000, SETS[name], seed)
        settings = Settings(attacks, shadows=shadows, seed=seed)
        one = audit(records, NetworkLearner(OVERFITTED), settings, architecture=OVERFITTED)
        found.append(one)
    for attack in (one.attack for one in found[0].attacks):
        rows = [reached(one.attack(attack)) for one in found]
        least_and_most = [pick(row["tpr_.1%"] for row in rows) for pick in (min, max)]
        yield {
            "set": name,
            "shadows": shadows,
            "train": mean(one.target_train.accuracy for one in found),
            "test": mean(one.target_test.accuracy for one in found),
            "attack": attack,
            **{key: mean(row[key] for row in rows) for key in rows[0]},
            "tpr_.1%_of_targets": least_and_most,
        }


def adult_run(table, k, models, seed):
    """Return the figures of each model, trained on members as they are (k=0) or anonymised."""
    random = np.random.default_rng(seed).permutation(len(table))
    members, others = np.sort(random[:MEMBERS]), np.sort(random[MEMBERS:])
    if k:
        learnt_from = infer_types(
            apply_policy(anonymizing(table, k), {ADULT: table.take(members)}).table
        )
        fitted = fit_on_release(learnt_from, LABEL, CoveredValues({}, {}))
    else:
        learnt_from, fitted = table.take(members), FittedFeatures.of(table, LABEL)
    learnt, shown = (fitted.records(one, "Adult") for one in (learnt_from, table))
    found = {}
    for name, architecture in models.items():
        trained = learner_of(architecture).train(learnt, [np.arange(len(learnt))], [seed])
        logits = trained.logits(shown.features)[0]
        figures = judged(logits, shown, members, others, seed)
        found[name] = {"model": name, "k": k, **figures}
        if name == "forest" and find_spec("art"):
            found[name]["art"] = art(trained.models[0], shown, members, others)
    return found


def anonymizing(table, k):
    """Return a policy that anonymises Adult by the engine's own method."""

    def refinement(operand, value):
        operator = "isAllOf" if isinstance(value, list) else "eq"
        return {"leftOperand": operand, "operator": operator, "rightOperand": value}

    names = [f"{ADULT}/{name}" for name in table.column_names if name != LABEL]
    refinements = [
        refinement("mosaicrown:method", "k-anonymity"),
        refinement("mosaicrown:k", k),
        refinement("mosaicrown:quasi-identifier", names),
        refinement("mosaicrown:sensitive", [f"{ADULT}/{LABEL}"]),
    ]
    permission = {
        "uid": "http://example.com/policy#1",
        "assignee": "http://example.com/researcher",
        "target": ADULT,
        "purpose": "statistical",
        "output": "http://example.com/anonAdult",
        "action": [{"rdf:value": {"@id": "odrl:anonymize"}, "refinement": refinements}],
    }
    contexts = [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ]
    whole = {"@context": contexts, "@type": "Set", "uid": "http://example.com/policy"}
    return json.dumps({**whole, "permission": [permission]})


def judged(logits, records, members, others, seed):
    """Return accuracies of a model and of attacks on it: ours, and ten lines of scikit-learn."""
    right = logits.argmax(axis=1) == records.labels
    rows = np.concatenate([members, others])
    is_member = np.arange(len(rows)) < len(members)
    said = (logits[rows], records.labels[rows], is_member, records.classes)
    predictions = Predictions(*said, {}, CONFIDENCE_ANSWERS, "Adult", records.digest)
    found = audit_predictions(predictions, Settings(seed=seed))
    accuracy, auc = by_hand(logits, records.labels, members, others, seed)
    loss = found.attack("loss").figures
    if abs(auc - loss.auc.value) > 1e-6:
        raise SystemExit(f"the AUC of the loss is {loss.auc.value}, by scikit-learn {auc}")
    ours = {one.attack: one.figures.accuracy.value for one in found.attacks}
    sides = {"train": right[members].mean(), "test": right[others].mean()}
    return {**sides, "black_box": accuracy, **ours, "auc_loss": auc}


def by_hand(logits, labels, members, others, seed):
    """Return the accuracy of a forest that learns from half of the members, and the loss's AUC.

    It sees all probabilities and the label, as the black-box attack of ART does.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score

    shares = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    seen = np.hstack([shares, np.eye(shares.shape[1])[labels]])
    half = len(members) // 2
    known, asked = (np.concatenate([members[s], others[s]]) for s in halves(half))
    is_in = np.isin(np.arange(len(labels)), members)
    attack = RandomForestClassifier(random_state=seed).fit(seen[known], is_in[known])
    called = attack.predict(seen[asked])
    truth = is_in[asked]
    accuracy = (called[truth].mean() + 1 - called[~truth].mean()) / 2
    rows = np.concatenate([members, others])
    return accuracy, roc_auc_score(is_in[rows], shares[rows, labels[rows]])


def halves(half):
    return slice(0, half), slice(half, None)


def art(model, records, members, others):
    """Return the balanced accuracy of ART's black-box attack by a forest, on the same halves."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from art.attacks.inference.membership_inference import MembershipInferenceBlackBox
        from art.estimators.classification import SklearnClassifier

        attack = MembershipInferenceBlackBox(SklearnClassifier(model), attack_model_type="rf")
        x, y, half = records.features.astype(np.float32), records.labels, len(members) // 2
        (known_in, asked_in), (known_out, asked_out) = (
            [side[part] for part in halves(half)] for side in (members, others)
        )
        attack.fit(x[known_in], y[known_in], x[known_out], y[known_out])
        hits, alarms = (attack.infer(x[rows], y[rows]).mean() for rows in (asked_in, asked_out))
    return (hits + 1 - alarms) / 2


def reached(result):
    """Return the figures of an attack that tables have."""
    at = {one.fpr: one.tpr.value for one in result.figures.tpr_at_fpr}
    figures = result.figures
    values = {"accuracy": figures.accuracy.value, "auc": figures.auc.value}
    return {**values, "tpr_1%": at[0.01], "tpr_.1%": at[0.001]}


def averaged(rows):
    """Return rows of the same figures as one, the means of their numbers."""
    return {
        key: mean(row[key] for row in rows) if isinstance(value, float) else value
        for key, value in rows[0].items()
    }


def mean(numbers):
    return float(np.mean(list(numbers)))


def command(way, records, epochs):
    return [sys.executable, __file__, "--measure", way, str(records), str(epochs)]


def measured(way, size, environment=None):
    """Run one measurement in a process of its own; return what it found, and its memory."""
    environment = {**os.environ, **(environment or {})}
    _, peak, printed = cpu_of(command(way, size.records, size.epochs), env=environment)
    return {**json.loads(printed), "peak_mb": round(peak)}


def shadows_of(learner_class, count, epochs):
    """Return the CPU seconds of training ten models, and their accuracy on other records."""
    need_keras()
    records = purchases(4 * count, SETS["alike"], 0)
    rows = [np.random.default_rng(one).choice(3 * count, count, replace=False) for one in range(10)]
    network = Network(layers=OVERFITTED.layers, epochs=epochs, batch_size=100)
    start = time.process_time()
    trained = learner_class(network).train(records, rows, range(10))
    spent = time.process_time() - start
    right = trained.logits(records.features[3 * count :]).argmax(2) == records.labels[3 * count :]
    return {"cpu_s": round(spent, 2), "accuracy": round(float(right.mean()), 4)}


def epochs_of(count, epochs):
    """Return the CPU seconds of an epoch, plain and private, the rest of a training taken off."""
    records = purchases(count, SETS["alike"], 0)
    ways = {"plain": None, "private": CentralPrivacy(noise_multiplier=1.0)}
    found = {}
    for models in (1, 10):
        found[models] = {}
        for way, private in ways.items():
            seconds(records, models, 1, private)  # compiles
            few, many = (
                min(seconds(records, models, number, private) for _ in range(2))
                for number in (1, 1 + epochs)
            )
            found[models][way] = round((many - few) / epochs / models, 4)
    return found


def seconds(records, models, epochs, private):
    network = Network(layers=OVERFITTED.layers, epochs=epochs, batch_size=100, privacy=private)
    rows = [np.arange(len(records))] * models
    start = time.process_time()
    NetworkLearner(network).train(records, rows, range(models))
    return time.process_time() - start


def train_once(count, epochs):
    """Train two models on half of the records each; the peak is the process's own."""
    features, labels = carts(count, SETS["alike"], 0)
    records = records_of_arrays(features[:, :1], labels).with_features(features)
    rows = [np.arange(0, count, 2), np.arange(1, count, 2)]
    network = Network(layers=OVERFITTED.layers, epochs=epochs, batch_size=100)
    NetworkLearner(network).train(records, rows, range(2))
    return {"records": count}


def take(count, _):
    """Take records of two arrays."""
    return {"records": len(purchases(count, SETS["alike"], 0))}


MEASURES = {
    "together": lambda records, epochs: shadows_of(NetworkLearner, records, epochs),
    "fit": lambda records, epochs: shadows_of(OneByOne, records, epochs),
    "epochs": epochs_of,
    "training": train_once,
    "taking": take,
}


def real(name):
    path = SHARED / "data" / name
    if path.exists():
        return path
    print(f"MISSING: {name} does not lie in {SHARED / 'data'}")
    return None


def goal(what, wanted, value, is_met):
    verdict = {True: "met", False: "MISSED", None: ""}[None if is_met is None else bool(is_met)]
    return {"goal": what, "wanted": wanted, "measured": round(float(value), 3), "": verdict}


def show(rows):
    """Print rows as a table, one column for each key."""
    if not rows:
        return
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [keys, *[[text(row.get(key, "")) for key in keys] for row in rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(one.ljust(width) for one, width in zip(line, widths, strict=True)))


def text(value):
    if isinstance(value, list):
        return " ".join(map(text, value))
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def save(found, options):
    """Write what was found; parts that were not run stay as an earlier run has left them."""
    about = machine()
    for name in ("tensorflow", "tensorflow-cpu", "keras", "scikit-learn", "scipy", "dp-accounting"):
        try:
            about[name] = version(name)
        except PackageNotFoundError:
            continue
    if set(options.only) != set(PARTS) and options.json.exists():
        found = json.loads(options.json.read_text())["parts"] | found
    report = {"machine": about, "quick": options.quick, "parts": found}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"\nsaved to {options.json}")


if __name__ == "__main__":
    main()
