"""Caveats to the figures of an audit: what they do not show."""

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

MEMBERS_GIVEN = (
    "Members were given, not drawn at random: where they differ from the non-members in kind, such "
    "as by time or place, attacks distinguish the kinds, and every figure includes that. No bound "
    "on epsilon follows; the figure is what it would be if members had been drawn at random."
)
_SEEDED_NOISE = (
    "The noise of the training follows from the seed: the model is differentially private only "
    "towards those who do not know the seed, so train a model that is to be released with a secret "
    "seed."
)
_SYSTEM_NOISE = (
    "The batches and the noise of the training came from the operating system's random bits, not "
    "from the seed: another training with the same seed gives another model and other figures."
)


def settings_caveats(
    settings: Settings, records: Records, splits: Splits, learner: Learner
) -> Iterator[str]:
    """Yield what a reader of the figures must know about the settings."""
    if learner.gives == LABEL_ANSWERS:
        yield "The model gives only labels, so only the label-only attack was run."
    if len(splits.online_train) > settings.shadows:
        yield (
            f"Online shadow models come in pairs: {len(splits.online_train)} were trained instead "
            f"of {settings.shadows}."
        )
    if settings.local_epsilon is not None:
        record_epsilon = composed_epsilon(records.encoding, settings.local_epsilon)
        share = f"epsilon {settings.local_epsilon:g} for each attribute, "
        share += f"{record_epsilon:g} for a record"
        yield (
            f"All models were trained on perturbed records ({share}; labels unchanged), and "
            f"attacked with {settings.attack_domain} ones. The set of values of each column is "
            "assumed to be public."
        )
        yield from describe_bins(records, bins_of(records, settings.bins, settings.ranges))
    yield from small_sample_caveats(len(splits.target_test))


def uncalibrated_caveats(attacks: Iterable[str]) -> Iterator[str]:
    """Yield what attacks miss where none compares the model with models without the records."""
    attack_terms = terms.attacks()
    calibrated = [name for name, term in attack_terms.items() if term.flag("calibrated")]
    if not set(calibrated) & set(attacks):
        yield (
            f"No attack that compares the model with others was run ({join_names(calibrated)}): "
            "these need shadow models or references, and find members that attacks on one model "
            "miss."
        )


def small_sample_caveats(non_members: int) -> Iterator[str]:
    """Yield which false-positive rates so few non-members cannot show."""
    if non_members < 1000:
        percent = math.floor(non_members / 100)
        are = "records are not members" if non_members != 1 else "record is not a member"
        yield (
            f"{non_members:,} {are}: a false-positive rate of 0.1% means none of them, one of 1% "
            f"at most {percent}."
        )


def epsilon_caveats(records: Records, *, is_secret: bool) -> Iterator[str]:
    """Yield what the epsilon of a training does not count, and where its noise came from."""
    yield _SYSTEM_NOISE if is_secret else _SEEDED_NOISE
    fitted = [one.name for one in records.encoding if one.kind in ("number", "one-hot")]
    if fitted:
        yield (
            f"Epsilon covers only the training: the means, deviations and values by which "
            f"{join_names(fitted)} became features were computed from the records without noise."
        )
