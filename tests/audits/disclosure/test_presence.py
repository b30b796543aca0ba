"""Who is in a release that has the values of some persons only."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from policy_engine.audits.disclosure.attacks.transparency import likelihood_linkage
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.presence import links_of_those_there, persons_there
from policy_engine.methods.masking import masking_class

BEFORE = {"pay": [10, 20, 30, 40, 50, 60], "age": [10, 20, 30, 40, 50, 60], "city": list("aabbba")}
AFTER = {"pay": [40, 20, 60], "age": [20, 60, 40], "city": list("aba")}
OWN = np.array([-1, 0, -1, 1, -1, 2])
"""The second, fourth and sixth were sampled, and then the pay of the first two of them swapped, and
the age of the others."""


def sampled(names, own=OWN, before=BEFORE, after=AFTER):
    columns = known_columns(pa.table(before), pa.table(after), names, None, {})
    swapping = masking_class("rank-swapping")
    columns = [
        one if one.name == "city" else replace(one, masking=swapping(name=one.name, p=0.4))
        for one in columns
    ]
    return TwoFiles(tuple(columns), own, len(after["pay"]), is_published=True)


def test_values_that_were_swapped_tell_who_is_in_the_release():
    assert persons_there(sampled(["pay"])).tolist() == [False, True, False, True, False, True]
    assert persons_there(sampled(["city"])) is None  # both cities are there
    assert persons_there(replace(sampled(["pay"]), is_published=False)) is None


def test_a_value_of_somebody_in_the_release_rules_out_nobody_who_has_it():
    files = sampled(["pay"])
    [pay] = files.columns
    twice = replace(pay, before=pay.before[[3, 1, 2, 3, 4, 5]])
    there = persons_there(replace(files, columns=(twice,)))
    assert there.tolist() == [True, True, False, True, False, True]


def test_who_is_sure_to_be_there_rules_out_others_with_the_same_values():
    # Only the third has 20; so the second is not there, who has the same age, and the first is.
    before = {"pay": [10, 10, 20], "age": [30, 40, 40]}
    files = sampled(
        ["pay", "age"], np.array([0, -1, 1]), before, {"pay": [10, 20], "age": [40, 30]}
    )
    assert persons_there(files).tolist() == [True, False, True]
    assert persons_there(files.known_by(["age"])) is None


def test_nobody_is_ruled_out_who_is_in_the_release():
    assert persons_there(sampled(["pay"], np.array([0, -1, -1, 1, -1, 2]))) is None


def test_others_than_those_in_the_release_are_not_found_and_those_there_by_their_ranks():
    # Of the three that were swapped, each is at most one rank away from its own.
    links = links_of_those_there(sampled(["pay", "age"]), likelihood_linkage)
    assert links.tolist() == [0, 1, 0, 1, 0, 1]
