"""Linkability: what two parties know, linked by synthetic rows."""

import numpy as np
import pytest
from risk_tables import HOLDOUT, MEMBERS, OTHERS, material

from policy_engine.audits.generative.risks.linkability import (
    LinkabilitySettings,
    link,
    split_columns,
)
from policy_engine.audits.generative.risks.tables import draw_tables

SETTINGS = LinkabilitySettings()


def table(members, holdout, synthetic, **more):
    return material(members, holdout, synthetic, "abcd", **more)


def test_copies_link_their_members():
    risk = link(table(MEMBERS, HOLDOUT, MEMBERS), SETTINGS)
    assert (risk.attacks, risk.asked) == (300, 2_000)
    assert risk.train.value == 1
    assert risk.control.value < 0.1
    assert risk.baseline.value < 0.05
    assert risk.value.low > 0.98
    assert risk.is_evidence


@pytest.mark.parametrize("seed", range(3))
def test_independent_rows_link_members_as_often_as_others(seed):
    risk = link(table(MEMBERS, HOLDOUT, OTHERS, seed=seed), SETTINGS)
    assert risk.value.low <= 0 <= risk.value.high


def test_copies_of_the_holdout_are_no_risk_of_members():
    rows = np.concatenate([HOLDOUT[:150], OTHERS])
    risk = link(table(MEMBERS, HOLDOUT, rows), SETTINGS)
    assert risk.value.high < 0
    swapped = link(table(HOLDOUT, MEMBERS, rows), SETTINGS)
    assert (swapped.train, swapped.control) == (risk.control, risk.train)


def test_no_order_of_equal_rows_links_anybody():
    # Each party finds 50 equal rows, of which one is found by both.
    columns = [[row // 50, row % 50] for row in range(2_500)]
    members = [[row % 50, row // 50 % 50] for row in range(2_000)]
    risk = link(material(members, members[::-1], columns), SETTINGS)
    # Both take the first in one order: that is the same of 99 for one in 99.
    assert risk.train.low <= 1 / 99 <= risk.train.high


def test_more_neighbours_link_more():
    one, many = (
        link(table(MEMBERS, HOLDOUT, OTHERS), LinkabilitySettings(neighbours=k)) for k in (1, 10)
    )
    assert many.control.low > one.control.high
    assert many.baseline.value > one.baseline.value


def test_naive_links_are_as_likely_as_k_rows_share_one():
    risk = link(table(MEMBERS, HOLDOUT, OTHERS[:4]), LinkabilitySettings(neighbours=2))
    # Of 4 rows, 2 miss 2 others once in 6.
    assert risk.baseline.low <= 5 / 6 <= risk.baseline.high


def test_the_most_telling_columns_are_divided():
    rows = [[row % 2, row % 3, 0, row] for row in range(30)]
    tables = draw_tables(material(rows, rows, rows), np.random.default_rng(0))
    assert split_columns(tables) == ((0, 3), (1, 2))


def test_nobody_knows_secrets_if_two_columns_remain():
    rows = [[row % 2, row % 3, row] for row in range(30)]
    for secrets, parties in (((2,), ((1,), (0,))), ((1, 2), ((0, 2), (1,)))):
        table_with_secrets = material(rows, rows, rows, secrets=secrets)
        tables = draw_tables(table_with_secrets, np.random.default_rng(0))
        assert split_columns(tables) == parties


def test_parties_can_be_named():
    rows = np.column_stack([MEMBERS, np.zeros(300)])
    both = material(rows, HOLDOUT[:, [0, 1, 2, 3, 0]], rows, "abcde")
    blind = link(both, LinkabilitySettings(parties=((4,), (0, 1, 2, 3))))
    assert blind.train.value < 0.05
    assert link(both, LinkabilitySettings(parties=((0, 4), (1,)))).train.value == 1


@pytest.mark.parametrize("parties", [((0,), (0, 1)), ((), (1,))])
def test_parties_share_nothing(parties):
    with pytest.raises(ValueError, match="two parties cannot know"):
        link(table(MEMBERS, HOLDOUT, OTHERS), LinkabilitySettings(parties=parties))


@pytest.mark.parametrize(
    ("columns", "rows", "k", "reason"), [(1, 300, 1, "one column"), (2, 3, 4, "fewer than 4")]
)
def test_not_applicable_to_too_small_a_table(columns, rows, k, reason):
    sides = (side[:, :columns] for side in (MEMBERS, HOLDOUT, OTHERS[:rows]))
    assert reason in link(table(*sides), LinkabilitySettings(neighbours=k)).reason


def test_same_seed_same_risk():
    one, same, other = (
        link(
            table(MEMBERS, HOLDOUT, OTHERS, seed=seed),
            LinkabilitySettings(attacks=100, neighbours=20),
        )
        for seed in (5, 5, 6)
    )
    assert one == same
    assert one != other


def test_the_columns_of_both_parties_are_named():
    from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet

    values = np.random.default_rng(0).normal(size=(40, 3))
    sides = (RecordSet(name, values + place) for place, name in enumerate("mhs"))
    columns = tuple(AuditedColumn(name, is_number=True) for name in "xyz")
    risk = link(Material(*sides, columns=columns), LinkabilitySettings(parties=((0, 2), (1,))))
    assert risk.parties == (("x", "z"), ("y",))
