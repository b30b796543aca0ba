"""All attacks on the secrets of one model's members, and of others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from policy_engine.audits.attribute.asking import AskedModel, SecretMaterial
from policy_engine.audits.attribute.attacks import SecretAttack
from policy_engine.audits.attribute.evidence import (
    Codes,
    KnownRecords,
    PublishedFigures,
    SecretEvidence,
)
from policy_engine.audits.attribute.imputing import IMPUTERS, Imputer
from policy_engine.audits.attribute.measuring import AttackNames, Truths, attack_result, share_right
from policy_engine.audits.attribute.result import (
    ImputationResult,
    OmittedSecretAttack,
    SecretAttackResult,
)
from policy_engine.audits.attribute.secret import check_secret_counts
from policy_engine.audits.membership.observations import Bools
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import Estimate, clopper_pearson

MOST_ATTACKED = 20_000
"""So many members, and as many others, are attacked at most."""
_FEWEST = 20
_DRAW, _FOLD, _ATTACK, _IMPUTE, _POPULATION = range(5)


@dataclass(frozen=True, eq=False)
class SecretSides:
    """The rows of the members, of as many others, and of further ones that are not attacked."""

    members: Codes
    others: Codes
    rest: Codes


@dataclass(frozen=True, eq=False)
class SecretAttacks:
    """What attacks reach on one model: see `AttributeAudit` for the fields."""

    attacks: tuple[SecretAttackResult, ...]
    imputations: tuple[ImputationResult, ...]
    not_run: tuple[OmittedSecretAttack, ...]
    known_records: int
    imputed_from: int
    train: Estimate
    test: Estimate


def attack_model(
    material: SecretMaterial,
    sides: SecretSides,
    model: AskedModel,
    attacks: Sequence[SecretAttack],
    seed: int,
    progress: Progress = silent,
) -> SecretAttacks:
    """Attack the secrets of members and of others, and impute them without the model.

    Whoever attacks knows the secrets of one half of the members while those of the other half are
    attacked. An imputation learns from the same secrets, or from as many records of all kinds as
    the model learnt from: so much anybody could know without it. Raises AuditError (A035) where
    there are too few records for that, or of a value.
    """
    drawn = drawn_sides(sides, seed)
    check_secret_counts(material.secret, drawn.members, drawn.others)
    folds = _Folds.of(drawn, seed)
    rows = np.concatenate([drawn.members, drawn.others])
    evidence = material.evidence(model, rows)
    secrets = material.secret.codes
    truths = Truths(secrets[rows], folds.is_member)
    possible = [one for one in attacks if one.needs <= model.gives]
    stages = len(possible) + len(IMPUTERS)
    imputed = {}
    for place, name in enumerate(IMPUTERS):
        progress("attacks", place, stages)
        imputed[name] = _impute(IMPUTERS[name], material, drawn, folds, seed)
    published = _published(evidence.take(folds.is_member), truths, len(material.secret.values))
    results = []
    for place, attack in enumerate(possible):
        progress("attacks", len(IMPUTERS) + place, stages)
        guesses = _attack(attack, evidence, truths, folds, published, seed)
        best = _choose(imputed, attack, truths, folds)
        compared = np.choose(folds.fold, [imputed[name] for name in best])
        three = guesses, compared, imputed[attack.imputation]
        names = AttackNames(attack.notation, " and ".join(dict.fromkeys(best)), attack.imputation)
        results.append(attack_result(names, three, truths, material.secret.values))
    progress("attacks", stages, stages)
    is_right = evidence.answers.argmax(axis=1) == evidence.labels
    return SecretAttacks(
        attacks=tuple(results),
        imputations=tuple(
            ImputationResult(
                imputation=name,
                members=share_right(one[truths.is_member], truths.secrets[truths.is_member]),
                others=share_right(one[~truths.is_member], truths.secrets[~truths.is_member]),
            )
            for name, one in imputed.items()
        ),
        not_run=tuple(_omitted(attacks, model)),
        known_records=len(drawn.members) // 2,
        imputed_from=len(_population(drawn, folds, 0)),
        train=_share(is_right[truths.is_member]),
        test=_share(is_right[~truths.is_member]),
    )


def check_attackable(material: SecretMaterial, sides: SecretSides, seed: int) -> None:
    """Raise AuditError (A035) where there are too few records to attack, or of a value."""
    drawn = drawn_sides(sides, seed)
    check_secret_counts(material.secret, drawn.members, drawn.others)
    _check_members(drawn)


def _share(is_right: Bools) -> Estimate:
    return clopper_pearson(int(is_right.sum()), len(is_right))


def _omitted(attacks: Sequence[SecretAttack], model: AskedModel) -> Iterator[OmittedSecretAttack]:
    for one in attacks:
        if not one.needs <= model.gives:
            reason = "the model gives labels alone, and no confidences"
            yield OmittedSecretAttack(attack=one.notation, reason=reason)


def drawn_sides(sides: SecretSides, seed: int) -> SecretSides:
    """Return at most so many records of each side, by lot."""
    random = np.random.default_rng([seed, _DRAW])
    size = min(len(sides.members), len(sides.others), MOST_ATTACKED)
    members, others = (
        np.sort(random.permutation(one)[:size]) for one in (sides.members, sides.others)
    )
    return SecretSides(members, others, random.permutation(sides.rest))


@dataclass(frozen=True, eq=False)
class _Folds:
    """The halves of the records that are attacked, members first."""

    fold: Codes
    is_member: Bools

    @classmethod
    def of(cls, sides: SecretSides, seed: int) -> "_Folds":
        members, others = len(sides.members), len(sides.others)
        random = np.random.default_rng([seed, _FOLD])
        halves = [random.permutation(np.arange(one) % 2) for one in (members, others)]
        return cls(np.concatenate(halves), np.arange(members + others) < members)

    def known(self, fold: int) -> Codes:
        """Return the members whose secrets are known where a fold is attacked."""
        return np.flatnonzero(self.is_member & (self.fold != fold))


def _check_members(sides: SecretSides) -> None:
    """Raise AuditError (A035) where there are too few members to learn from."""
    members = len(sides.members)
    if members < 2 * _FEWEST:
        message = f"{members:,} members, or others, are too few to learn from and to attack: "
        raise AuditError.of("A035", f"{message}{2 * _FEWEST} are needed.", "Give more records.")


def _population(sides: SecretSides, folds: _Folds, fold: int) -> Codes:
    """Return records of all kinds, in the shares that they have, of none in a fold.

    As many as the model learnt from. The rest was put in a random order.
    """
    rows = np.concatenate([sides.members, sides.others])[folds.fold != fold]
    half = len(sides.rest) // 2
    pool = np.concatenate([rows, sides.rest[fold * half : (fold + 1) * half]])
    random = np.random.default_rng([len(pool), fold, _POPULATION])
    return random.permutation(np.sort(pool))[: len(sides.members)]


def _seed(seed: int, *path: int) -> int:
    return int(np.random.SeedSequence([seed, *path]).generate_state(1)[0])


def _published(members: SecretEvidence, truths: Truths, values: int) -> PublishedFigures:
    counts = np.bincount(truths.secrets[truths.is_member], minlength=values)
    classes = members.answers.shape[1]
    cells = members.labels * classes + members.answers.argmax(axis=1)
    confusion = np.bincount(cells, minlength=classes**2).reshape(classes, classes)
    return PublishedFigures(counts / counts.sum(), confusion.astype(np.int64))


def _attack(
    attack: SecretAttack,
    evidence: SecretEvidence,
    truths: Truths,
    folds: _Folds,
    published: PublishedFigures,
    seed: int,
) -> Codes:
    """Return the guesses at all records, each half by who knows the secrets of the other."""
    guesses = np.zeros(len(evidence), dtype=np.int64)
    for fold in (0, 1):
        is_attacked, rows = folds.fold == fold, folds.known(fold)
        lesson = KnownRecords(evidence.take(rows), truths.secrets[rows])
        own_seed = _seed(seed, _ATTACK, fold)
        guesses[is_attacked] = attack.guess(evidence.take(is_attacked), lesson, published, own_seed)
    return guesses


def _impute(
    imputer: Imputer, material: SecretMaterial, sides: SecretSides, folds: _Folds, seed: int
) -> Codes:
    """Return guesses at all records by somebody who never saw the model.

    From records of all kinds or, as some attackers, from members whose secrets are known.
    """
    rows, secrets = np.concatenate([sides.members, sides.others]), material.secret.codes
    guesses = np.zeros(len(rows), dtype=np.int64)
    for fold in (0, 1):
        is_attacked = folds.fold == fold
        lesson = rows[folds.known(fold)]
        if not imputer.knows_members:
            lesson = _population(sides, folds, fold)
        guesses[is_attacked] = imputer.guess(
            material.known[lesson],
            secrets[lesson],
            material.known[rows[is_attacked]],
            _seed(seed, _IMPUTE, fold),
        )
    return guesses


def _choose(
    imputed: Mapping[str, Codes], attack: SecretAttack, truths: Truths, folds: _Folds
) -> list[str]:
    """Return the best imputation for each half of the records: by the members of the other half.

    That it is best by chance of those that are attacked would hide what a model tells. None knows
    more than the attack.
    """
    names = [name for name, one in IMPUTERS.items() if attack.knows_members >= one.knows_members]
    best = []
    for fold in (0, 1):
        rows = folds.known(fold)
        right = {name: int((imputed[name][rows] == truths.secrets[rows]).sum()) for name in names}
        best.append(max(right, key=lambda name: right[name]))
    return best
