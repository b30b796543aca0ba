"""Outputs in a ledger: those that share persons are checked as one."""

import numpy as np
import pandas as pd
import pytest

from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.microdata import Microdata, coded, numbers_of
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.audits.outputs.tabulating import ShownAggregate, TableRows, tabulate
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES
from policy_engine.release.linked_outputs import (
    LinkedScope,
    link_output,
    with_review,
    with_withheld,
)
from policy_engine.release.output_ledger import OutputLedger

CHECK = OutputCheck(profile=PROFILES["sacro"], mitigation="suppress")
SCOPE = LinkedScope("urn:people", "digest", 60, ("dataset",))
# Thirty persons of region A and thirty of B.
PEOPLE = pd.DataFrame({"person": range(60), "region": ["A"] * 30 + ["B"] * 30, "pay": range(60)})


def counted(frame, *functions):
    """Return aggregates by region of some of the people, who keep their numbers."""
    data = Microdata.of(PEOPLE, "person")
    units = data.units[frame.index]
    values = {"pay": numbers_of("pay", data.column("pay"))[frame.index]}
    key = coded("region", Microdata.of(frame).column("region"))
    rows = TableRows((key,), units, values, ((0,),), False)  # noqa: FBT003
    shown = [ShownAggregate(one, one, "" if one == "size" else "pay") for one in functions]
    return tabulate(rows, shown)


@pytest.fixture
def linked(tmp_path):
    """Return a function that links an output to those before it in one ledger."""
    ledger = OutputLedger(tmp_path / "ledger")

    def link(made, check=CHECK, scope=SCOPE):
        return link_output(judge(made.table, check), made, scope, ledger, "t")

    link.ledger = ledger
    return link


def test_counts_of_everybody_are_recorded_and_released(linked):
    assert linked(counted(PEOPLE, "size")).released.all()
    [_, entry] = linked.ledger.history()
    assert (entry.output.released, entry.output.suppressed, entry.output.units) == (2, 0, 60)


def test_a_count_without_one_person_is_withheld_after_that_with_them(linked):
    linked(counted(PEOPLE, "size"))
    second = linked(counted(PEOPLE.iloc[1:], "size"))
    assert second.released.tolist() == [[False], [True]]


def test_a_policy_that_denies_withholds_all_cells_with_the_one_at_fault(linked):
    linked(counted(PEOPLE, "size"))
    denying = OutputCheck(profile=PROFILES["sacro"], mitigation="deny")
    second = linked(counted(PEOPLE.iloc[1:], "size"), denying)
    assert not second.released.any()
    assert second.reasons[1, 0] & Reason.DENIED_WITH_OTHERS.bit


def test_outputs_of_other_scopes_are_not_compared(linked):
    linked(counted(PEOPLE, "size"))
    other = LinkedScope("urn:people", "digest", 60, ("project:1",))
    assert linked(counted(PEOPLE.iloc[1:50], "size"), scope=other).released.all()
    assert not linked(counted(PEOPLE.iloc[1:50], "size")).released.all()


def test_all_but_one_person_are_not_counted_in_any_scope(linked):
    assert not linked(counted(PEOPLE.iloc[1:], "size")).released.all()


def test_what_the_rules_withhold_altogether_is_not_recorded(linked):
    few = counted(PEOPLE.iloc[[0, 30]], "size")
    assert not linked(few).released.any()
    assert not linked.ledger.store.exists()


def test_a_mean_beside_a_count_without_one_person_tells_no_sum(linked):
    linked(counted(PEOPLE, "mean"))
    second = linked(counted(PEOPLE.iloc[1:], "mean"))
    assert second.released.tolist() == [[False], [True]]


def verdict_of_two():
    """Return a verdict that shows both counts."""
    return judge(counted(PEOPLE, "size").table, CHECK)


def test_cells_that_other_tables_do_not_allow_are_withheld():
    changed = with_withheld(verdict_of_two(), np.array([True, False]))
    assert changed.released.tolist() == [[True], [False]]
    assert changed.reasons[1, 0] == Reason.REVEALS_SUPPRESSED.bit


def test_a_person_has_to_decide_about_every_cell():
    changed = with_review(verdict_of_two(), None)
    assert not changed.released.any()
    assert {changed.outcome_of(mask) for mask in changed.reasons[:, 0].tolist()} == {"review"}
