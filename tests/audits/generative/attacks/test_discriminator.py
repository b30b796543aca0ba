from dataclasses import replace

import numpy as np
import pytest
from generative_models import material
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.audits.generative.attacks.discriminator import discriminator, mixed_batches
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import NotApplicable


class Normalising:
    """A discriminator that centres its output over the batch, and keeps the batches."""

    def __init__(self):
        self.batches = []

    def discriminate(self, x, **_):
        self.batches.append(x[:, 0])
        return x[:, 0] - x[:, 0].mean()


def labelled(one):
    sides = (replace(side, labels=np.arange(len(side)) % 10) for side in (one.members, one.holdout))
    members, holdout = sides
    return replace(one, members=members, holdout=holdout)


def test_members_and_others_share_batches_that_a_model_normalises_over():
    model = Normalising()
    members, holdout = np.ones((600, 1)), np.zeros((600, 1))
    scores = discriminator(labelled(material(members, holdout, model=model)))
    assert len(model.batches) == 5
    assert all(0.35 < batch.mean() < 0.65 for batch in model.batches)
    assert scores[:600].min() > scores[600:].max()  # of pure batches all would be 0


@given(labels=st.lists(st.integers(-1, 3), min_size=1, max_size=900), seed=st.integers(0, 5))
def test_every_batch_has_its_share_of_every_class(labels, seed):
    labels = np.array(labels)
    batches = mixed_batches(len(labels), labels, seed)
    assert sorted(np.concatenate(batches)) == [*range(len(labels))]
    assert max(map(len, batches)) <= 256
    assert max(map(len, batches)) - min(map(len, batches)) <= 1
    for label in np.unique(labels):
        share = (labels == label).sum() / len(batches)
        counts = [(labels[rows] == label).sum() for rows in batches]
        # The ranks of all classes are spread evenly, up to one record of each.
        assert max(abs(count - share) for count in counts) <= 2 * len(np.unique(labels))


def test_scores_belong_to_their_records():
    class Model:
        def discriminate(self, x, **_):
            return x[:, 0]

    values = np.arange(700.0)[:, None]
    scores = discriminator(material(values[:300], values[300:], model=Model()))
    assert scores.tolist() == [*range(700)]


@pytest.mark.parametrize("answer", [[np.nan, 1.0], [1.0], np.zeros((2, 2))])
def test_outputs_of_no_use_are_refused(answer):
    class Model:
        def discriminate(self, *_, **__):
            return answer

    with pytest.raises(AuditError) as error:
        discriminator(material([[1.0]], [[2.0]], model=Model()))
    assert error.value.code == "A032"


def test_a_model_without_a_discriminator_is_not_attacked():
    result = discriminator(material([[1.0]], [[2.0]], model=object()))
    assert isinstance(result, NotApplicable)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x: 1 / 0, "ZeroDivisionError as it discriminates"),  # noqa: ARG005
        (lambda x: [[1]] * (len(x) - 1) + [[1, 2]], "ValueError as it is read"),
    ],
)
def test_what_a_discriminator_raises_is_coded(answer, told):
    class Broken:
        def discriminate(self, x, **_):
            return answer(x)

    with pytest.raises(AuditError, match=told) as refusal:
        discriminator(material(np.ones((30, 1)), np.zeros((30, 1)), model=Broken()))
    assert refusal.value.code == "A032"
