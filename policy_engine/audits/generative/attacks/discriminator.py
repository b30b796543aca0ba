"""What the discriminator of a model says: what it was trained on looks more real to it."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.asking import checked, shaped
from policy_engine.audits.generative.material import Ints, Material
from policy_engine.audits.generative.models.own_code import own_array, own_code
from policy_engine.audits.generative.models.protocols import Discriminates
from policy_engine.kernels.estimates import NotApplicable

_BATCH = 256
_NO_DISCRIMINATOR = NotApplicable(reason="The model has no discriminator.")


def discriminator(material: Material) -> NDArray[np.float64] | NotApplicable:
    """Return the discriminator's output for each audited record, (n,).

    The white-box attack of Hayes et al., "LOGAN: Membership Inference Attacks Against Generative
    Models", PoPETs 2019. Batches are drawn from all audited records, balanced by class: a
    discriminator that normalises over its batch says nothing of members that it sees alone.

    Raises AuditError (A032) for outputs that are not one number for each record.
    """
    model = material.model
    if model is None or not isinstance(model, Discriminates):
        return _NO_DISCRIMINATOR
    audited = material.audited
    scores = np.empty(len(audited))
    for rows in mixed_batches(len(audited), audited.labels, material.seed):
        labels = None if audited.labels is None else audited.labels[rows]
        with own_code("A032", "The model", "as it discriminates"):
            answer = model.discriminate(shaped(material, audited.values[rows]), label=labels)
        answers = own_array(answer, "The model").reshape(-1)
        scores[rows] = checked(answers, (len(rows),), "outputs")
    return scores


def mixed_batches(count: int, labels: Ints | None, seed: int) -> list[Ints]:
    """Return the rows of each batch: all about as large, and each with its share of every class.

    The order within a class is random, so that members and others are mixed without a look at
    who is which.
    """
    order = np.random.default_rng([seed, count]).permutation(count)
    if labels is not None:
        own = labels[order]
        by_class = np.argsort(own, kind="stable")
        ranks = np.empty(count)
        for places in np.split(by_class, np.flatnonzero(np.diff(own[by_class])) + 1):
            ranks[places] = (np.arange(len(places)) + 0.5) / len(places)
        order = order[np.argsort(ranks, kind="stable")]
    return np.array_split(order, max(-(-count // _BATCH), 1))
