"""Which datasets are charged with another one, and what the ledger remembers of that."""

from dataclasses import replace
from decimal import Decimal

import pytest
from charging import OF_ANN, VISITS, cap, charge, release, spent

from policy_engine.errors import DeniedError, LedgerError
from policy_engine.release.budget import BudgetLedger
from policy_engine.release.budget.lineage import DataLineage, related


def of(dataset, account=VISITS):
    return replace(account, dataset=dataset)


ROWS = [("urn:rows", VISITS.dataset)]


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db")


def test_parts_and_what_has_them_are_related_and_other_parts_of_the_whole_are_not():
    lineage = DataLineage()
    lineage.add([("visits", "hospital"), ("labs", "hospital"), ("visits", "register")])
    lineage.add([("hospital", "visits")])  # a circle
    assert {*related("register", lineage)} == {"register", "visits", "labs", "hospital"}
    assert related("labs", lineage)[:2] == ("labs", "hospital")
    lineage = DataLineage()
    lineage.add([("visits", "hospital"), ("labs", "hospital")])
    assert related("visits", lineage) == ("visits", "hospital")


def test_what_an_output_tells_it_tells_of_its_origins_and_their_parts():
    lineage = DataLineage()
    lineage.add([("visits", "hospital"), ("labs", "hospital"), ("ward", "visits")])
    lineage.add_origins([("rows", "visits"), ("rows", "persons"), ("means", "rows")])
    assert {*related("means", lineage)} == {
        *("means", "rows", "visits", "persons", "ward", "hospital")
    }
    assert related("persons", lineage) == ("persons",)
    assert {*related("visits", lineage)} == {"visits", "ward", "hospital"}


def test_a_budget_of_a_part_holds_for_outputs_of_the_whole(ledger):
    ward = of("urn:ward")
    whole = charge(
        epsilon="0.5", accounts=(VISITS, ward), caps=(replace(cap("1", ward), set_by="p"),)
    )
    links = ((ward.dataset, VISITS.dataset),)
    release(ledger, replace(whole, links=links, policies=("p",)))
    output = charge("2", accounts=(of("urn:rows"),), caps=())
    with pytest.raises(DeniedError, match="budget"):
        release(ledger, replace(output, origins=(("urn:rows", VISITS.dataset),)))
    assert spent(ledger, ward) == Decimal("0.5")


def test_an_output_is_not_a_part_of_what_it_was_made_of(ledger):
    """What was made of two datasets joins neither with the other, whatever was released first."""
    origins = (("urn:rows", VISITS.dataset), ("urn:rows", "urn:labs"))
    output, labs = of("urn:rows"), of("urn:labs")
    of_output = charge("1", accounts=(output, VISITS, labs), caps=())
    release(ledger, replace(of_output, origins=origins))
    release(ledger, charge("2"))
    assert (spent(ledger), spent(ledger, output), spent(ledger, labs)) == (2, 1, 1)


def test_the_ledger_remembers_what_is_part_of_what(ledger):
    whole = of("urn:hospital")
    stated = charge("1", accounts=(VISITS, OF_ANN, whole, of("urn:hospital", OF_ANN)))
    release(ledger, replace(stated, links=((VISITS.dataset, whole.dataset),)))
    release(ledger, charge("2"))
    assert spent(ledger, whole) == spent(ledger, of("urn:hospital", OF_ANN)) == 2
    release(ledger, charge("3", accounts=(whole,), caps=()))
    assert (spent(ledger), spent(ledger, whole)) == (3, 3)
    assert BudgetLedger(ledger.store).balances() == ledger.balances()
    assert ledger.verify().intact


def test_a_listed_output_is_charged_to_its_data_and_not_the_other_way(ledger):
    ledger.list_uncovered([VISITS.dataset], "urn:rows", origins=ROWS)
    release(ledger, charge("1"))
    assert {one.account.dataset for one in ledger.balances()} == {VISITS.dataset}
    release(ledger, charge("2", accounts=(of("urn:rows"),), caps=()))
    assert (spent(ledger), spent(ledger, of("urn:rows"))) == (2, 1)


def test_the_unit_of_what_is_remembered_is_checked(ledger):
    ledger.list_uncovered([VISITS.dataset], "urn:rows", origins=ROWS)
    release(ledger, charge("1"))
    with pytest.raises(LedgerError, match="Name one unit of privacy"):
        ledger.reserve(charge("2", accounts=(replace(of("urn:rows"), unit="other"),), caps=()))


def test_a_kept_answer_is_charged_to_what_is_known_since(ledger):
    release(ledger, charge("1"))
    whole = of("urn:hospital")
    stated = replace(charge("2"), links=((VISITS.dataset, whole.dataset),))
    release(ledger, stated)
    assert release(ledger, charge("1")) == b"42"
    assert (spent(ledger), spent(ledger, whole)) == (2, 2)


def test_what_a_policy_says_of_other_parts_is_remembered_too(ledger):
    """Siblings that a charged policy tells of are charged to their whole without its help."""
    whole, other = of("urn:hospital"), of("urn:labs")
    links = ((VISITS.dataset, whole.dataset), (other.dataset, whole.dataset))
    release(ledger, replace(charge("1", accounts=(VISITS, whole)), links=links))
    release(ledger, charge("2", accounts=(other,), caps=()))
    assert spent(ledger, whole) == 2


def test_links_of_a_charge_go_on_from_those_that_are_remembered(ledger):
    part, whole = of("urn:ward"), of("urn:hospital")
    release(
        ledger, replace(charge("1", accounts=(VISITS, part)), links=((VISITS.dataset, "urn:ward"),))
    )
    stated = replace(charge("2", accounts=(VISITS,)), links=(("urn:ward", whole.dataset),))
    release(ledger, stated)
    assert spent(ledger, whole) == 1


def test_origins_go_on_from_links_that_are_remembered_and_are_remembered_themselves(ledger):
    part, rows, source = of("urn:part"), of("urn:rows"), of("urn:source")
    caps = (cap("1.5", source, set_by="urn:maker"),)
    link, origin = (part.dataset, rows.dataset), (rows.dataset, source.dataset)
    release(ledger, replace(charge("1", accounts=(part, rows), caps=()), links=(link,)))
    stated = replace(charge("2", accounts=(part,), caps=caps), origins=(origin,))
    release(ledger, stated)
    assert spent(ledger, source) == 1
    with pytest.raises(DeniedError, match="budget"):
        ledger.reserve(charge("3", accounts=(part,), caps=caps))
    release(ledger, charge("4", "0.25", accounts=(source,), caps=()))
    assert (spent(ledger, source), spent(ledger, rows)) == (Decimal("1.25"), 2)


def test_what_was_given_back_has_said_nothing(ledger):
    whole = of("urn:hospital")
    stated = charge("1", accounts=(VISITS, whole))
    ledger.cancel(ledger.reserve(replace(stated, links=((VISITS.dataset, whole.dataset),))))
    release(ledger, charge("2"))
    assert (spent(ledger), spent(ledger, whole)) == (1, 0)


def test_a_replay_is_held_to_the_unit_of_what_it_is_charged_to(ledger):
    whole = of("urn:hospital")
    release(ledger, charge("1", accounts=(replace(whole, unit="visit"),), caps=()))
    release(ledger, charge("2"))
    again = charge("2", accounts=(VISITS, OF_ANN, whole))
    with pytest.raises(LedgerError, match="Name one unit of privacy"):
        ledger.reserve(again)


def test_a_release_of_an_output_is_one_of_its_origin(ledger):
    ledger.list_uncovered([VISITS.dataset], "urn:rows")
    ledger.list_uncovered(["urn:rows"], "urn:coarse")
    assert ledger.uncovered([VISITS.dataset]) == ("urn:coarse", "urn:rows")
    # What was made of labs is known only since.
    ledger.list_uncovered(["urn:samples"], "urn:table")
    ledger.list_uncovered(["urn:labs"], "urn:samples")
    assert ledger.uncovered(["urn:labs"]) == ("urn:samples", "urn:table")
    assert ledger.uncovered(["urn:samples"]) == ("urn:samples", "urn:table")


def test_a_release_of_another_part_is_not_of_the_same_data(ledger):
    links = (("urn:labs", "urn:hospital"), (VISITS.dataset, "urn:hospital"))
    ledger.list_uncovered(["urn:labs"], "urn:rows", links=links)
    assert ledger.uncovered([VISITS.dataset]) == ()
    assert ledger.uncovered(["urn:hospital"]) == ledger.uncovered(["urn:labs"]) == ("urn:rows",)
    stated = DataLineage()
    stated.add([("urn:labs", VISITS.dataset)])
    assert ledger.uncovered([VISITS.dataset], stated) == ("urn:rows",)


def test_releases_that_no_epsilon_covers_are_those_of_all_that_is_related(ledger):
    links = ((VISITS.dataset, "urn:hospital"),)
    release(ledger, replace(charge("1", accounts=(VISITS, of("urn:hospital"))), links=links))
    ledger.list_uncovered(["urn:hospital"], "urn:rows")
    assert ledger.uncovered([VISITS.dataset]) == ("urn:rows",)
