from dataclasses import replace

import numpy as np
import pytest
from generative_models import Memory, material

from policy_engine.audits.generative.attacks.shadow_generators import shadow_generators
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.models.shadow_rows import shadow_rows
from policy_engine.kernels.estimates import NotApplicable

RANDOM = np.random.default_rng(3)
MEMBERS, HOLDOUT, OTHERS = (RANDOM.normal(size=(20, 2)) for _ in range(3))
REFERENCE = RecordSet("reference", OTHERS)


class Sampler(Memory):
    reconstruct = None


def fitted(kind, calls=None):
    def fit(records, seed):
        if calls is not None:
            calls.append((len(records), seed))
        return kind(records.values)

    return fit


def test_errors_of_reconstructions_are_compared_with_those_of_others():
    one = material(MEMBERS, HOLDOUT, model=Memory(MEMBERS), reference=REFERENCE)
    scores = shadow_generators(one, fitted(Memory))
    others = np.square(MEMBERS - OTHERS.mean(axis=0)).mean(axis=1)
    assert scores[:20] == pytest.approx(np.log(others) - np.log(1e-9))
    holdout = np.square(HOLDOUT[0] - OTHERS.mean(axis=0)).mean()
    own = np.square(HOLDOUT[0] - MEMBERS.mean(axis=0)).mean()
    assert scores[20] == pytest.approx(np.log(holdout / own))


def test_every_shadow_is_fitted_on_as_many_records_as_there_are_members():
    calls = []
    one = material(MEMBERS[:7], HOLDOUT, model=Memory(MEMBERS), reference=REFERENCE)
    shadow_generators(one, fitted(Memory, calls), shadows=3)
    assert calls == [(7, 0), (7, 1), (7, 2)]


def test_distances_to_samples_are_compared_where_nothing_is_reconstructed():
    one = material(MEMBERS, HOLDOUT, model=Sampler(MEMBERS), reference=REFERENCE)
    scores = shadow_generators(one, fitted(Sampler), samples=1_000)
    distances = np.square(HOLDOUT[:, None] - np.stack([MEMBERS, OTHERS])[:, None]).sum(axis=3)
    own, other = distances.min(axis=2)
    assert scores[20:] == pytest.approx(np.log(other / own), abs=1e-4)
    assert scores[:20].min() > scores[20:].max()


def test_the_same_records_and_model_give_no_difference():
    one = material(MEMBERS, HOLDOUT, model=Sampler(OTHERS), reference=REFERENCE)
    scores = shadow_generators(one, fitted(lambda _: Sampler(OTHERS)))
    assert not scores.any()


def test_rows_of_tables_are_compared_with_those_of_trees():
    columns = (
        AuditedColumn("a", is_number=True),
        AuditedColumn("b", is_number=False, texts=("x", "y", "z")),
    )
    rows = [
        np.column_stack([RANDOM.normal(size=200).round(3), RANDOM.integers(-1, 3, 200)])
        for _ in range(3)
    ]
    labels = [RANDOM.integers(0, 2, 200) for _ in range(3)]
    sets = [RecordSet("rows", *pair) for pair in zip(rows, labels, strict=True)]
    one = Material(
        members=sets[0],
        holdout=sets[1],
        synthetic=sets[0],
        reference=sets[2],
        columns=columns,
        classes=("n", "y"),
    )
    scores = shadow_generators(one)
    assert (scores[:200] > 0).mean() > 0.9
    assert abs((scores[200:] > 0).mean() - 0.5) < 0.2
    assert np.array_equal(scores, shadow_generators(one))


def test_shadow_rows_have_the_values_of_what_they_learn():
    columns = (
        AuditedColumn("a", is_number=True),
        AuditedColumn("b", is_number=False, texts=("x", "y")),
    )
    values = np.array([[1.5, 0], [np.nan, 1], [2.5, -1]] * 20)
    drawn = shadow_rows(RecordSet("rows", values, np.arange(60) % 2), columns, 90, 0)
    assert drawn.values.shape == (90, 2)
    numbers = drawn.values[:, 0]
    assert {*numbers[~np.isnan(numbers)]} == {1.5, 2.5}
    assert np.isnan(numbers).any()
    assert {*drawn.values[:, 1]} == {-1, 0, 1}
    assert {*drawn.labels} == {0, 1}


def test_what_is_lacking_is_said():
    one = material(MEMBERS, HOLDOUT, model=Memory(MEMBERS))
    lacking = [
        shadow_generators(one),
        shadow_generators(replace(one, model=None, reference=REFERENCE)),
        shadow_generators(replace(one, reference=REFERENCE)),  # below 0: no default
    ]
    assert all(isinstance(result, NotApplicable) for result in lacking)
    assert len({result.reason for result in lacking}) == 3
