import numpy as np
import pytest
from generative_models import Memory, material

from policy_engine.audits.generative.attacks.reconstruction import reconstruction
from policy_engine.audits.generative.material import AuditedColumn
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import NotApplicable

MEMBERS, HOLDOUT = [[0.0, 0.0], [2.0, 4.0]], [[1.0, 3.0], [5.0, 2.0]]


def test_a_score_is_the_negative_mean_square_error():
    scores = reconstruction(material(MEMBERS, HOLDOUT, model=Memory(np.array(MEMBERS))))
    assert scores.tolist() == [0, 0, -(0 + 1) / 2, -(16 + 0) / 2]  # the mean is (1, 2)


def test_the_error_over_passes_is_the_mean_of_errors_and_not_that_of_the_mean():
    given = material(MEMBERS, HOLDOUT, model=Memory(np.array(MEMBERS)))
    scores = reconstruction(given, passes=2_000)
    assert scores == pytest.approx([-1, -1, -1.5, -9], abs=0.2)  # the noise has a variance of 1
    assert np.array_equal(scores, reconstruction(given, passes=2_000))


def test_labels_are_those_of_the_records():
    class Model:
        def reconstruct(self, x, *, label, **_):
            assert label.tolist() == [0, 0, 1]
            return x

    given = material(MEMBERS, HOLDOUT[:1], model=Model())
    sides = [given.members, given.holdout]
    for side, labels in zip(sides, ([0, 0], [1]), strict=True):
        object.__setattr__(side, "labels", np.array(labels))
    assert reconstruction(given).tolist() == [0, 0, 0]


@pytest.mark.parametrize("answer", [np.full((4, 2), np.nan), np.zeros((4, 3)), np.zeros(4), "x"])
def test_reconstructions_of_no_use_are_refused(answer):
    class Model:
        def reconstruct(self, *_, **__):
            return answer

    with pytest.raises(AuditError) as error:
        reconstruction(material(MEMBERS, HOLDOUT, model=Model()))
    assert error.value.code == "A032"


def test_what_does_not_reconstruct_is_not_attacked():
    class Model:
        def sample(self, n, **_):
            return np.zeros((n, 2))

    for model in (None, Model()):
        assert isinstance(reconstruction(material(MEMBERS, HOLDOUT, model=model)), NotApplicable)
    columns = (AuditedColumn("a", is_number=True), AuditedColumn("b", is_number=True))
    given = material(MEMBERS, HOLDOUT, model=Memory(np.array(MEMBERS)), columns=columns)
    assert isinstance(reconstruction(given), NotApplicable)
