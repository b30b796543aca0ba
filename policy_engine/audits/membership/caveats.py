"""Caveats to the figures of an audit, so that nobody reads more into them."""

import math
from collections.abc import Iterable, Iterator

from policy_engine import terms
from policy_engine.audits.membership.binning import bins_of, describe_bins
from policy_engine.audits.membership.learners.learner import Learner
from policy_engine.audits.membership.observations import LABEL_ANSWERS
from policy_engine.audits.membership.randomized_response import composed_epsilon
from policy_engine.audits.membership.records import Records
from policy_engine.audits.membership.settings import Settings
from policy_engine.audits.membership.splits import Splits
from policy_engine.errors import join_names

MEMBERS_TOLD = (
    "Who is a member was told, not drawn by lot: where members differ from the others in kind, "
    "as by time or place, attacks tell the kinds apart, and every figure is of that as well. No "
    "bound on epsilon follows; the figure is what it would be, had a lot drawn the members."
)
_SEEDED = (
    "The noise of the training follows from the seed: a model is differentially private only "
    "towards those who do not know it, so a model to be released is to be trained from a seed "
    "kept secret."
)
_FROM_THE_SYSTEM = (
    "The batches and the noise of the model's training came of the operating system's random bits, "
    "not of the seed: another training from the same seed gives another model and other figures."
)


def settings_caveats(
    settings: Settings, records: Records, splits: Splits, learner: Learner
) -> Iterator[str]:
    """Yield what a reader of the figures must know about the settings."""
    if learner.gives == LABEL_ANSWERS:
        yield "The model gives labels alone: only the label-only attack was run."
    if len(splits.online_train) > settings.shadows:
        yield (
            f"Online shadow models come in pairs: {len(splits.online_train)} were trained in the "
            f"place of {settings.shadows}."
        )
    if settings.local_epsilon is not None:
        record_epsilon = composed_epsilon(records.encoding, settings.local_epsilon)
        share = f"epsilon {settings.local_epsilon:g} for each attribute, "
        share += f"{record_epsilon:g} for a record"
        yield (
            f"All models were trained on perturbed records ({share}; labels as they are), and "
            f"asked about {settings.attack_domain} ones. Which values a column has is taken to be "
            "public."
        )
        yield from describe_bins(records, bins_of(records, settings.bins, settings.ranges))
    yield from small_sample_caveats(len(splits.target_test))


def uncalibrated_caveats(attacks: Iterable[str]) -> Iterator[str]:
    """Yield what attacks miss where none compares the model with models without the records."""
    known = terms.attacks()
    calibrated = [name for name, term in known.items() if term.flag("calibrated")]
    if not set(calibrated) & set(attacks):
        yield (
            f"No attack that compares the model with others was run ({join_names(calibrated)}): "
            "these need shadow models or references, and find what attacks on one model miss."
        )


def small_sample_caveats(non_members: int) -> Iterator[str]:
    """Yield which false-positive rates so few non-members cannot show."""
    if non_members < 1000:
        percent = math.floor(non_members / 100)
        are = "records are not members" if non_members != 1 else "record is not a member"
        yield (
            f"{non_members:,} {are}: a false-positive rate of 0.1% stands for none of them, one "
            f"of 1% for at most {percent}."
        )


def epsilon_caveats(records: Records, *, is_secret: bool) -> Iterator[str]:
    """Yield what the epsilon of a training does not count, and where its noise came from."""
    yield _FROM_THE_SYSTEM if is_secret else _SEEDED
    fitted = [one.name for one in records.encoding if one.kind in ("number", "one-hot")]
    if fitted:
        yield (
            f"Epsilon is of the training alone: the means, deviations and values by which "
            f"{join_names(fitted)} became features were read off the records without noise."
        )
