"""Distances to samples, relative to those to references."""

import numpy as np

from policy_engine.audits.generative.attacks.density_ratio import (
    density_ratio,
    reference_distances,
    relative_to_references,
)
from policy_engine.audits.generative.attacks.monte_carlo import MonteCarlo
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.spaces.encoded_rows import EncodedRows
from policy_engine.audits.generative.spaces.images import Pixels
from policy_engine.kernels.estimates import NotApplicable


def line(name, values, labels=None):
    return RecordSet(name, np.array(values, float)[:, None], labels)


def scores(own, space):
    state = MonteCarlo(own, space, percentiles=())
    state.update(own.synthetic)
    return density_ratio(own, state)


def test_the_score_is_the_logarithm_of_a_ratio_of_distances():
    own = Material(
        members=line("members", [0]),
        holdout=line("holdout", [100]),
        synthetic=line("samples", [1, 108]),
        reference=line("reference", [4, -6, 102]),
        shape=(1,),
    )
    assert reference_distances(own, Pixels(), 1).tolist() == [4.0, 2.0]
    # The 20th of three is the third.
    assert reference_distances(own, Pixels()).tolist() == [102.0, 106.0]
    assert np.allclose(scores(own, Pixels()), [np.log(102 / 1), np.log(106 / 8)])


def test_references_are_those_of_the_class():
    own = Material(
        members=line("members", [0], np.array([0])),
        holdout=line("holdout", [0, 5], np.array([1, 2])),
        reference=line("reference", [7, 3, 1], np.array([0, 1, 1])),
        shape=(1,),
    )
    assert reference_distances(own, Pixels(), 1).tolist() == [7.0, 1.0, 7.0]


def test_a_copy_of_a_rare_row_precedes_one_of_a_common_row_and_both_all_others():
    texts = tuple("abcde")
    own = Material(
        members=line("members", [0, 1]),
        holdout=line("holdout", [2, 3]),
        synthetic=line("samples", [0, 1]),
        reference=line("reference", [1, 3]),
        columns=(AuditedColumn("c", is_number=False, texts=texts),),
    )
    rare, common, other, unlike = scores(own, EncodedRows.fit(own))
    assert rare > common > other > unlike
    assert np.isclose(rare, np.log(1 / 0.01))


def test_errors_of_another_attack_are_set_against_the_references():
    own = Material(
        members=line("members", [0]),
        holdout=line("holdout", [10]),
        reference=line("reference", [2, 14]),
        shape=(1,),
    )
    relative = relative_to_references(np.array([-3.0, -3.0]), own, Pixels())
    assert np.allclose(relative, [2 * np.log(14) - np.log(3), 2 * np.log(8) - np.log(3)])


def test_it_is_not_applicable_without_references():
    own = Material(line("members", [0]), line("holdout", [1]), line("samples", [2]), shape=(1,))
    assert isinstance(scores(own, Pixels()), NotApplicable)
    assert isinstance(relative_to_references(np.zeros(2), own, Pixels()), NotApplicable)
