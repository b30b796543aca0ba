"""Groups that an intruder makes again, of columns that were averaged together."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.attacks.transparency import likelihood_linkage
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.simulation import Simulation, masked_again, names_together
from policy_engine.methods.masking import masking_class
from policy_engine.plan.steps import Mask

# The third is nearer to the mean of the others, (11, 3), than to that of its group, (3, 1).
BEFORE = {"x": [0.0, 0, 9, 10, 11, 12, None], "y": [0.0, 1, 2, 3, 3, 3, None]}
AFTER = {"x": [3.0, 3, 3, 11, 11, 11, None], "y": [1.0, 1, 1, 3, 3, 3, None]}


def files(made=AFTER, known=("x", "y"), absent=0):
    """Return files of columns that make such means again, and of persons who are not among them."""
    averaged = masking_class("microaggregation")
    before = {name: BEFORE[name] + [8.0] * absent for name in BEFORE}
    columns = tuple(
        replace(
            one,
            masking=averaged(name=one.name, groupSize=3, together="all"),
            absent=absent,
        )
        for one in known_columns(pa.table(before), pa.table(AFTER), list(known), None, {})
    )
    again = {
        one.name: Simulation(one, lambda name, _: pa.array(made[name]), ("x", "y"))
        for one in columns
    }
    own = np.array([*range(7), *[-1] * absent])
    return TwoFiles(columns, own, 7, is_published=True, again=again, absent=absent)


def test_a_person_is_found_among_those_of_the_group_made_again():
    assert likelihood_linkage(files()) == pytest.approx([1 / 3] * 6 + [1])


def test_persons_who_were_never_in_the_original_are_in_no_group():
    assert likelihood_linkage(files(absent=1)) == pytest.approx([1 / 3] * 6 + [1, 0])


def test_groups_made_again_by_another_column_too_are_not_known():
    assert likelihood_linkage(files(known=("x",)))[2] == 0


def test_where_means_made_again_are_not_published_the_nearest_is_taken():
    other = {"x": [4.0, 4, 4, 10, 10, 10, None], "y": AFTER["y"]}
    assert likelihood_linkage(files(made=other))[2] == 0


def test_groups_are_made_again_of_all_columns_that_were_averaged_together():
    averaged = masking_class("microaggregation")
    draws = np.random.default_rng(1)
    table = pa.table({name: draws.normal(size=30) for name in "xyz"})
    together = [averaged(name=name, groupSize=3, together="all") for name in "xy"]
    step = Mask(columns=(*together, averaged(name="z", groupSize=3)))
    assert names_together(step, "y") == ("x", "y")
    assert names_together(step, "z") == ("z",)
    made = masked_again(table, step, {})
    means = [np.unique(made(name, 0), return_counts=True)[1] for name in "xy"]
    assert [one.tolist() for one in means] == [[3] * 10] * 2
