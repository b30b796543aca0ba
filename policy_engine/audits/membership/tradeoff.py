"""What differential privacy takes from a model and from its attacker, over a grid."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from policy_engine.audits.membership.auditing import audit
from policy_engine.audits.membership.binning import bins_of, describe_bins
from policy_engine.audits.membership.learners.learner import Learner
from policy_engine.audits.membership.learners.network import NetworkLearner
from policy_engine.audits.membership.randomized_response import composed_epsilon
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.privacy.epsilon import EpsilonUpper
from policy_engine.audits.privacy.mitigation import mitigation_efficiency
from policy_engine.engines.engine import Progress, silent
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.classifier import CentralPrivacy, Network
from policy_engine.plan.lineage import MadeBy

Kind = Literal["original", "central", "local"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class TradeoffPoint(_Frozen):
    """One model: how private, how accurate, and what the attack on it reaches.

    `setting` is the noise multiplier of a `central` point, and what every attribute of a
    `local` one spends. `epsilon` is what the training spends at `delta`, or what a record does.
    `mean_precision` and `mean_recall` are over the classes, `precision` and `recall` over all
    records. The mitigation efficiencies (MOSAICrOWN D5.2, equation 4.2) are of the latter two.
    """

    kind: Kind
    setting: float | NotApplicable
    epsilon: float | NotApplicable
    delta: float | NotApplicable
    train_accuracy: float
    test_accuracy: float
    precision: Estimate | NotApplicable
    recall: Estimate
    mean_precision: float | NotApplicable
    mean_recall: float | NotApplicable
    phi_precision: float | NotApplicable
    phi_recall: float | NotApplicable


class Tradeoff(_Frozen):
    """Models of one data set and one architecture on the same splits; the original comes first.

    `bins` are sentences on how numbers were answered at random where records are perturbed.
    `made_by` is as in `MembershipAudit`.
    """

    data: str
    data_digest: str
    splits_digest: str
    classes: int
    architecture: Network
    attack: str
    shadow_models: int
    seed: int
    bins: tuple[str, ...]
    points: tuple[TradeoffPoint, ...]
    made_by: MadeBy = None

    @property
    def original(self) -> TradeoffPoint:
        """The model without differential privacy."""
        return self.points[0]

    def of(self, kind: Kind) -> tuple[TradeoffPoint, ...]:
        """Return the models of a kind, in the order of the grid."""
        return tuple(point for point in self.points if point.kind == kind)


@dataclass(frozen=True)
class Grid:
    """What is tried: noise multipliers or epsilons of a training, epsilons of every attribute.

    The defaults are those of MOSAICrOWN D5.2, section 4.3.3. Without `delta` it is one over the
    number of training records.
    """

    noise_multipliers: Sequence[float] = (2, 4, 6, 8, 16)
    epsilons: Sequence[float] = ()
    local_epsilons: Sequence[float] = (8, 5, 3, 1, 0.1)
    clipping_norm: float = 1.0
    delta: float | None = None

    def central(self) -> Iterator[CentralPrivacy]:
        """Yield the privacy of every central point."""
        for noise in self.noise_multipliers:
            yield CentralPrivacy(
                clipping_norm=self.clipping_norm, delta=self.delta, noise_multiplier=noise
            )
        for epsilon in self.epsilons:
            yield CentralPrivacy(
                clipping_norm=self.clipping_norm, delta=self.delta, epsilon=epsilon
            )


@dataclass(frozen=True)
class GridJob:
    """One model of the grid: its network and the settings that it is audited with."""

    kind: Kind
    network: Network
    settings: Settings


Auditing = Callable[[GridJob, Progress], MembershipAudit]
"""How a model of the grid is audited; all of them on the same splits."""


def tradeoff(
    records: Records,
    network: Network,
    settings: Settings,
    grid: Grid,
    *,
    auditing: Auditing | None = None,
    cache: Path | None = None,
    progress: Progress = silent,
) -> Tradeoff:
    """Return what each privacy of a grid costs the model and its attacker.

    The attack is the first of the settings, that of Shokri et al. where none is named. The
    original network has no privacy, whatever is given. Without `auditing`, every model is
    audited by `audit` on these records, and what it says is kept in the folder `cache`. Raises
    AuditError as `audit` does.
    """
    run = auditing or make_auditing(records, cache)
    attack = settings.attacks[0] if settings.attacks else "shokri"
    jobs = list(jobs_of(network, replace(settings, attacks=(attack,)), grid))
    audits: list[MembershipAudit] = []
    points: list[TradeoffPoint] = []
    for number, job in enumerate(jobs):
        audits.append(run(job, _part_progress(progress, number, len(jobs))))
        points.append(_point(job, audits[-1], attack, audits[0], records))
    first = audits[0]
    return Tradeoff(
        data=first.data,
        data_digest=first.data_digest,
        splits_digest=first.splits_digest,
        classes=len(first.classes),
        architecture=jobs[0].network,
        attack=attack,
        shadow_models=first.shadow_models,
        seed=settings.seed,
        bins=_bins(records, settings, grid),
        points=tuple(points),
    )


def _bins(records: Records, settings: Settings, grid: Grid) -> tuple[str, ...]:
    if not grid.local_epsilons:
        return ()
    return tuple(describe_bins(records, bins_of(records, settings.bins, settings.ranges)))


def jobs_of(network: Network, settings: Settings, grid: Grid) -> Iterator[GridJob]:
    """Yield the original model, then the central points, then the local ones."""
    plain = network.model_copy(update={"privacy": None})
    settings = replace(settings, local_epsilon=None)
    yield GridJob("original", plain, settings)
    for privacy in grid.central():
        yield GridJob("central", network.model_copy(update={"privacy": privacy}), settings)
    for epsilon in grid.local_epsilons:
        yield GridJob("local", plain, replace(settings, local_epsilon=epsilon))


def make_auditing(
    records: Records,
    cache: Path | None = None,
    learner_of: Callable[[Network], Learner] = NetworkLearner,
) -> Auditing:
    """Return how models are audited on records by `audit`; see there for the `cache`."""

    def run(job: GridJob, progress: Progress) -> MembershipAudit:
        learner = learner_of(job.network)
        return audit(
            records,
            learner,
            job.settings,
            architecture=job.network,
            cache=cache,
            progress=progress,
        )

    return run


def _point(
    job: GridJob,
    audit_of_point: MembershipAudit,
    attack: str,
    original: MembershipAudit,
    records: Records,
) -> TradeoffPoint:
    result, before = audit_of_point.attack(attack), original.attack(attack)
    setting, epsilon, delta = _privacy_spent(job, audit_of_point, records)
    pairs = {
        "phi_precision": (before.figures.precision, result.figures.precision),
        "phi_recall": (before.figures.recall, result.figures.recall),
    }
    return TradeoffPoint(
        kind=job.kind,
        setting=setting,
        epsilon=epsilon,
        delta=delta,
        train_accuracy=audit_of_point.target_train.accuracy,
        test_accuracy=audit_of_point.target_test.accuracy,
        precision=result.figures.precision,
        recall=result.figures.recall,
        mean_precision=result.mean_precision,
        mean_recall=result.mean_recall,
        **{name: _phi(job, pair, audit_of_point, original) for name, pair in pairs.items()},
    )


def _phi(
    job: GridJob,
    attacks: tuple[Estimate | NotApplicable, Estimate | NotApplicable],
    audit_of_point: MembershipAudit,
    original: MembershipAudit,
) -> float | NotApplicable:
    if job.kind == "original":
        return NotApplicable(reason="This is the original.")
    before, after = attacks
    if isinstance(before, NotApplicable):
        return before
    if isinstance(after, NotApplicable):
        return after
    accuracies = original.target_test.accuracy, audit_of_point.target_test.accuracy
    return mitigation_efficiency(
        accuracies, (before.value, after.value), len(audit_of_point.classes)
    )


def _privacy_spent(
    job: GridJob, audit_of_point: MembershipAudit, records: Records
) -> tuple[float | NotApplicable, float | NotApplicable, float | NotApplicable]:
    """Return the setting, the epsilon and the delta of a point."""
    if job.settings.local_epsilon is not None:
        each = job.settings.local_epsilon
        return each, composed_epsilon(records.encoding, each), 0.0
    none = NotApplicable(reason="The training is not private.")
    if job.network.privacy is None:
        return none, none, none
    upper = audit_of_point.epsilon_upper
    if isinstance(upper, EpsilonUpper):
        return upper.noise_multiplier, upper.value, upper.delta
    noise = job.network.privacy.noise_multiplier
    return (none if noise is None else noise), upper, upper


def _part_progress(progress: Progress, number: int, jobs: int) -> Progress:
    def tell(stage: str, done: int, total: int) -> None:
        progress(f"model {number + 1} of {jobs}: {stage}", done, total)

    return tell
