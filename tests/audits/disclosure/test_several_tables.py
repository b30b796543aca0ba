"""Two releases of one original, checked by hand."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.several import median_query_error, releases_together
from policy_engine.methods.maskings.noise import Noise

BEFORE = pa.table({"age": [20, 30, 40, 50], "city": ["a", "b", "a", "b"]})


def two_files(after, names):
    columns = known_columns(BEFORE, after, names, None, {})
    return TwoFiles(columns, np.arange(4), 4)


def test_two_releases_tell_together_what_neither_tells():
    ages, cities = two_files(BEFORE, ["age"]), two_files(BEFORE, ["city"])
    halves = pa.table({"age": [20, 30, 40, 50], "city": ["a", "b", "a", "b"]})
    first, second = releases_together(
        ["ages", "cities"], [cities, two_files(halves, ["age", "city"])]
    )
    assert (first.alone, first.linked.value, first.uniques) == (0.5, 0.5, 0)
    assert (second.linked.value, second.uniques, second.gained, second.combined) == (1, 4, 4, 0)
    assert releases_together(["ages"], [ages])[0].least == 1


def test_columns_that_do_not_tell_the_truth_make_no_class():
    changed = BEFORE.set_column(0, "age", [[20, 30, 50, 40]])
    [found] = releases_together(["changed"], [two_files(changed, ["age", "city"])])
    assert (found.columns, found.linked.value) == (("city",), 0.5)
    [found] = releases_together(["changed"], [two_files(changed, ["age"])])
    assert (found.columns, found.linked.value, found.least) == ((), 0.25, 4)


def test_persons_that_a_release_lacks_are_a_class_of_it():
    # The second release has the first two persons alone: who is there is known.
    half = TwoFiles(two_files(BEFORE, ["city"]).columns, np.array([0, 1, -1, -1]), 2)
    _, both = releases_together(["all", "half"], [two_files(BEFORE, ["city"]), half])
    assert (both.linked.value, both.uniques, both.combined) == (1, 4, 2)


def test_noise_drawn_twice_averages_out():
    # Once, 20 became 27 and 30 became 24: each is nearer to the other. With the second, none is.
    first = pa.table({"age": [27.0, 24, 40, 50]})
    second = pa.table({"age": [17.0, 30, 41, 49]})
    noise = Noise(name="age", masking="noise", sd_share=0.5)
    pair = [noisy(after, noise) for after in (first, second)]
    one, both = releases_together(["first", "second"], pair)
    assert (one.joined.value, both.joined.value, both.columns) == (0.5, 1, ())


def test_joined_releases_find_those_that_are_in_all_of_them():
    known = TwoFiles(two_files(BEFORE, ["age"]).columns, np.arange(4), 4, is_published=True)
    half = replace(known, own=np.array([0, 1, -1, -1]))
    one, both = releases_together(["all", "half"], [known, half])
    assert (one.joined.value, both.joined.value) == (1, 0.5)
    [unpublished] = releases_together(["all"], [replace(known, is_published=False)])
    assert unpublished.joined is None


def noisy(after, noise):
    files = two_files(after, ["age"])
    columns = tuple(replace(one, masking=noise) for one in files.columns)
    return replace(files, columns=columns, is_published=True)


def test_counts_of_an_untouched_file_are_exact():
    assert median_query_error(two_files(BEFORE, ["age", "city"])) == 0
    shuffled = BEFORE.set_column(0, "age", [[50, 40, 30, 20]])
    assert median_query_error(two_files(shuffled, ["age", "city"])) > 0
