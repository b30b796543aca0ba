"""Audits made by hand: scores drawn from two bells, and figures counted on them."""

import numpy as np

from policy_engine.audits.membership.figures import AtPrior, Figures, Histogram, Roc, TprAtFpr
from policy_engine.audits.membership.result import (
    AttackResult,
    AuditSide,
    Compared,
    EncodedColumn,
    Gain,
    MembershipAudit,
    SingleAndSet,
    Slice,
)
from policy_engine.audits.membership.tradeoff import Tradeoff, TradeoffPoint
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.classifier import CentralPrivacy, Network

NONE = NotApplicable(reason="it was not asked for")
UPPER = EpsilonUpper(
    delta=1e-4,
    noise_multiplier=2.0,
    sampling_rate=0.01,
    steps=20_000,
    rdp=3.03,
    pld=2.74,
    classic=3.55,
    value=2.74,
    substitution=7.93,
    substitution_delta=1e-6,
)
LOWER = EpsilonLower(
    attack="lira-online",
    delta=1e-6,
    members="drawn",
    pairs=800,
    guesses=200,
    correct=125,
    value=0.31,
    ceiling=5.6,
)


def share(hits, of):
    """Return a share with the interval of a normal approximation, near enough for a picture."""
    value = hits / of if of else 0.0
    half = 1.96 * float(np.sqrt(value * (1 - value) / of)) if of else 1.0
    return Estimate(value=value, low=max(0.0, value - half), high=min(1.0, value + half))


def estimate(value, low=None, high=None):
    return Estimate(value=value, low=value if low is None else low, high=high or value)


def gained(value, half=0.05, p=None, **parts):
    """Return what is gained in AUC and in calls, alike."""
    p = (0.0001 if abs(value) > half else 0.5) if p is None else p
    facts = {"difference": estimate(value, value - half, value + half), "p": p}
    one = Compared(**(facts | {"smallest": 0.07, "needed": 1234} | parts))
    return Gain(auc=one, accuracy=one)


def figures(scores, is_member, threshold=0.0):
    called = scores > threshold
    members, others = scores[is_member], scores[~is_member]
    hits, alarms = int(called[is_member].sum()), int(called[~is_member].sum())
    tpr, fpr = hits / len(members), alarms / len(others)
    above = np.sort(others)[::-1]
    auc = float((members[:, None] > others).mean() + (members[:, None] == others).mean() / 2)
    return Figures(
        members=len(members),
        non_members=len(others),
        precision=share(hits, hits + alarms) if hits + alarms else NONE,
        recall=share(hits, len(members)),
        accuracy=share(hits + len(others) - alarms, len(scores)),
        advantage=estimate(tpr - fpr, tpr - fpr - 0.02, tpr - fpr + 0.02),
        auc=estimate(auc, auc - 0.01, min(1.0, auc + 0.01)),
        tpr_at_fpr=tuple(
            TprAtFpr(
                fpr=at,
                tpr=share(int((members > above[int(at * len(others))]).sum()), len(members)),
            )
            for at in (0.01, 0.001)
        ),
        at_priors=tuple(
            AtPrior(
                prior=at,
                precision=estimate(tpr * at / (tpr * at + fpr * (1 - at))) if hits else NONE,
            )
            for at in (0.5, 0.1, 0.01)
        ),
    )


def roc(scores, is_member):
    order = np.sort(np.unique(scores))[::-1]
    order = order[:: max(1, len(order) // 300)]
    fpr = [0.0, *(float((scores[~is_member] >= at).mean()) for at in order), 1.0]
    tpr = [0.0, *(float((scores[is_member] >= at).mean()) for at in order), 1.0]
    return Roc(fpr=tuple(fpr), tpr=tuple(tpr))


def histogram(scores, is_member):
    edges = np.histogram_bin_edges(scores, 30)
    members = np.histogram(scores[is_member], edges)[0]
    others = np.histogram(scores[~is_member], edges)[0]
    return Histogram(
        edges=tuple(map(float, edges)),
        members=tuple(map(int, members)),
        non_members=tuple(map(int, others)),
    )


def part(kind, name, scores, is_member, chosen):
    return Slice(kind=kind, name=name, figures=figures(scores[chosen], is_member[chosen]))


def attack(notation="loss", shift=1.0, *, records=400, of=3, tail=0.0, seed=0, **parts):
    """Return an attack whose members score `shift` higher; a share `tail` of them far higher."""
    random = np.random.default_rng([seed, len(notation)])
    is_member = np.arange(records) < records // 2
    label = np.arange(records) % of
    scores = random.normal(size=records) + shift * (is_member - 0.5)
    scores += 6.0 * (is_member & (random.random(records) < tail))
    if notation == "label-only":
        scores = np.where(random.random(records) < 0.5 + shift * is_member, 1.0, -1.0)
    by_class = tuple(part("class", str(one), scores, is_member, label == one) for one in range(of))
    wrong = np.arange(records) % 5 == 0
    slices = (
        part("correctness", "classified wrongly", scores + 0.5 * is_member, is_member, wrong),
        part("correctness", "classified correctly", scores, is_member, ~wrong),
        part("column", "city = Rome", scores, is_member, label == 1),
    )
    facts = {
        "attack": notation,
        "needs": ("labels",) if notation == "label-only" else ("confidences",),
        "shadow_models": 0 if notation in ("label-only", "loss") else 10,
        "figures": figures(scores, is_member),
        "mean_precision": 0.61,
        "mean_recall": 0.7,
        "classes": by_class,
        "slices": slices,
        "worst": slices[0],
        "gain": NONE if notation == "label-only" else gained(0.1 * shift),
        "roc": roc(scores, is_member),
        "histogram": histogram(scores, is_member),
    }
    return AttackResult(**(facts | parts))


def audit(**parts):
    facts = {
        "data": "patients.csv",
        "data_digest": "a" * 64,
        "records": 5_000,
        "classes": ("flu", "cold", "asthma"),
        "features": 12,
        "encoding": (
            EncodedColumn(name="age", kind="number", width=1, says="mean 0, deviation 1"),
            EncodedColumn(name="city", kind="one-hot", width=11, says="11 values"),
        ),
        "architecture": Network(privacy=CentralPrivacy(noise_multiplier=2.0)),
        "shadow_models": 10,
        "seed": 7,
        "splits_digest": "b" * 64,
        "target_train": AuditSide(records=1_000, accuracy=0.97),
        "target_test": AuditSide(records=1_000, accuracy=0.86),
        "attacks": (
            attack("shokri", 0.9),
            attack("label-only", 0.1),
            attack("lira-online", 1.2, tail=0.1),
        ),
        "games": (
            SingleAndSet(
                attack="lira-online",
                records=100,
                repetitions=200,
                models=1,
                single=estimate(0.72, 0.71, 0.73),
                set=estimate(0.995, 0.98, 1.0),
            ),
        ),
        "baseline": "label-only",
        "strongest": "lira-online",
        "epsilon_upper": UPPER,
        "epsilon_lower": LOWER,
        "verdict": ("An attacker gains something.", "It is little."),
        "warnings": ("One label appears twice.",),
        "versions": {"policy-engine": "0.5", "numpy": "2.4"},
    }
    return MembershipAudit(**(facts | parts))


def point(kind="original", epsilon=NONE, **parts):
    facts = {
        "kind": kind,
        "setting": epsilon,
        "epsilon": epsilon,
        "delta": NONE,
        "train_accuracy": 0.9,
        "test_accuracy": 0.7,
        "precision": estimate(0.6, 0.58, 0.62),
        "recall": estimate(0.7, 0.68, 0.72),
        "mean_precision": 0.61,
        "mean_recall": 0.7,
        "phi_precision": NONE,
        "phi_recall": NONE,
    }
    return TradeoffPoint(**(facts | parts))


def tradeoff(*points):
    return Tradeoff(
        data="patients.csv",
        data_digest="a" * 64,
        splits_digest="b" * 64,
        classes=3,
        architecture=Network(),
        attack="shokri",
        shadow_models=10,
        seed=7,
        bins=(),
        points=(point(), *points),
    )
