"""Sentences about what attacks reach."""

import numpy as np
import pytest

from policy_engine.audits.disclosure.result import DisclosureAudit, Linkage, Windows
from policy_engine.audits.disclosure.risks.wording import share_words
from policy_engine.audits.disclosure.wording import notes


@pytest.mark.parametrize(("alone", "said"), [(None, "."), (0.25, "; for 25.0%, a single record.")])
def test_it_is_told_what_the_windows_of_rank_swapping_leave(alone, said):
    windows = Windows(contains_own=1, alone=alone)
    attack = Linkage.of("intersection-linkage", ("age",), np.array([1.0, 0]), 2, windows=windows)
    audit = DisclosureAudit(
        original="a", release="b", rows=2, released=2, paired=2, matched_by=("row",),
        known=("age",), methods={}, attacks=(attack,),
    )  # fmt: skip
    own = "For 100.0% of the persons, the window of rank swapping contains their own record"
    assert notes(audit) == (f"{own}{said}",)


@pytest.mark.parametrize(
    ("share", "words"), [(0, "0.0%"), (0.0017, "0.2%"), (0.00093, "0.093%"), (3.7e-7, "0.000037%")]
)
def test_small_shares_have_two_digits_and_no_exponent(share, words):
    assert share_words(share) == words
