"""The black-box attacks: a model of the secret by the other columns and the target's answers."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.attribute.evidence import (
    Codes,
    KnownRecords,
    PublishedFigures,
    SecretEvidence,
)
from policy_engine.audits.attribute.learning import guess_by_forest, guess_by_network
from policy_engine.audits.membership.observations import LABEL_ANSWERS, Terms


class BlackBoxForest:
    """A forest that learns the secret from the other columns and what the model answers.

    It learns from members whose secrets the attacker knows, and sees the model's answer about each
    record as it is, as in Goldsteen et al. (Anonymizing Machine Learning Models, 2021).
    """

    notation = "black-box-forest"
    needs: Terms = LABEL_ANSWERS
    imputation = "forest"
    knows_members = True

    def guess(
        self,
        evidence: SecretEvidence,
        lesson: KnownRecords,
        published: PublishedFigures,  # noqa: ARG002 (the protocol's)
        seed: int,
    ) -> Codes:
        """Return what the forest says of each record, (n,)."""
        return guess_by_forest(_seen(lesson.evidence), lesson.secrets, _seen(evidence), seed)


class BlackBoxNetwork:
    """A network that learns the secret from the other columns and what the model answers.

    As the forest does; it may find what a forest does not, and the other way round.
    """

    notation = "black-box-network"
    needs: Terms = LABEL_ANSWERS
    imputation = "network"
    knows_members = True

    def guess(
        self,
        evidence: SecretEvidence,
        lesson: KnownRecords,
        published: PublishedFigures,  # noqa: ARG002 (the protocol's)
        seed: int,
    ) -> Codes:
        """Return what the network says of each record, (n,)."""
        return guess_by_network(_seen(lesson.evidence), lesson.secrets, _seen(evidence), seed)


class TriedForest:
    """A forest that learns the secret from the other columns and the answers to each value tried.

    It sees how sure the model is of the true label with each value in the place of the secret, and
    so joins what the confidence attack sees with what can be imputed. Whoever attacks need not have
    seen the model's answer about the record as it is.
    """

    notation = "tried-forest"
    needs: Terms = LABEL_ANSWERS
    imputation = "forest"
    knows_members = True

    def guess(
        self,
        evidence: SecretEvidence,
        lesson: KnownRecords,
        published: PublishedFigures,  # noqa: ARG002 (the protocol's)
        seed: int,
    ) -> Codes:
        """Return what the forest says of each record, (n,)."""
        return guess_by_forest(_tried(lesson.evidence), lesson.secrets, _tried(evidence), seed)


def _seen(evidence: SecretEvidence) -> NDArray[np.float32]:
    return np.concatenate([evidence.known, evidence.answers.astype(np.float32)], axis=1)


def _tried(evidence: SecretEvidence) -> NDArray[np.float32]:
    shares = evidence.true_class_shares
    best = shares.argmax(axis=1)[:, None] == np.arange(shares.shape[1])
    parts = [evidence.known, shares.astype(np.float32), best.astype(np.float32)]
    return np.concatenate(parts, axis=1)
