"""Statistics from a policy and visits to a certificate: charged once, and silent about the rest."""

import json
import re

import pyarrow as pa
import pytest
from asking_statistics import DAYS, MEDIAN, OUTPUT, ROWS, UNITS, VISITS, policy_text, visits

from policy_engine import apply_policy, certify_output, terms
from policy_engine.certificate.certificate import read_certificate
from policy_engine.decision import Decider, Request, decide
from policy_engine.errors import (
    CertificateError,
    DataError,
    DeniedError,
    PlanError,
    PolicyEngineError,
)
from policy_engine.policy import read_policy
from policy_engine.release.budget import BudgetLedger

PEOPLE = [(f"p{number}", "f" if number % 2 else "m", number % 15) for number in range(60)]
LAB = "http://e.org/lab"


def spent_bound(epsilon):
    """Return a constraint on what an assignee may get for a purpose."""
    return {
        "leftOperand": "pe:spentEpsilon",
        "operator": "lteq",
        "rightOperand": {"@value": epsilon, "@type": "xsd:decimal"},
        "unit": "pe:perAssigneeAndPurpose",
    }


def released(tmp_path, *aggregates, rows=PEOPLE, ledger="ledger.sqlite", text="", **changes):
    policy = text or policy_text(*(aggregates or (UNITS, DAYS)), **changes)
    return apply_policy(policy, {VISITS: visits(*rows)}, ledger=tmp_path / ledger)


def balances(tmp_path, ledger="ledger.sqlite"):
    """Return what each account of a ledger has spent, by its assignee."""
    some = BudgetLedger(tmp_path / ledger).balances()
    return {one.account.assignee: str(one.spent.epsilon) for one in some}


def test_a_release_is_charged_to_its_dataset_and_its_assignee(tmp_path):
    release = released(tmp_path, rule={"assignee": "http://e.org/lab"})
    assert release.table.column_names == ["sex", "persons", "days"]
    assert release.table.num_rows == 2
    assert balances(tmp_path) == {"": "1", "http://e.org/lab": "1"}


def test_the_same_release_is_returned_again_at_no_cost(tmp_path):
    first, again = released(tmp_path), released(tmp_path)
    assert first.table.equals(again.table)
    assert balances(tmp_path) == {"": "1"}


def test_another_version_of_the_data_is_charged_to_the_same_account(tmp_path):
    released(tmp_path)
    released(tmp_path, rows=PEOPLE[1:])
    assert balances(tmp_path) == {"": "2"}


def test_what_the_dataset_is_part_of_is_charged_too(tmp_path):
    part = {"target": {"@id": VISITS, "partOf": "http://e.org/All"}}
    released(tmp_path, rule=part)
    some = BudgetLedger(tmp_path / "ledger.sqlite").balances()
    assert [one.account.dataset for one in some] == [VISITS, "http://e.org/All"]


def test_a_release_beyond_the_budget_is_denied_and_nothing_is_read(tmp_path):
    budget = {"pe:over": VISITS, "pe:epsilon": "1.5", "pe:delta": "0", "pe:scope": "allAssignees"}
    policy = {"pe:budget": [budget]}
    released(tmp_path, policy=policy)
    with pytest.raises(DeniedError) as error:
        released(tmp_path, ROWS, policy=policy)
    assert error.value.problems[0].code == "B009"
    assert not re.search("1.5|0.5", str(error.value))
    assert balances(tmp_path) == {"": "1"}


def test_what_remains_is_told_of_budgets_that_the_ledger_knows(tmp_path):
    """The second policy says nothing of the whole, to which it is charged."""
    whole = "http://e.org/All"
    budget = {"pe:over": whole, "pe:epsilon": "3", "pe:delta": "0", "pe:scope": "allAssignees"}
    part = {"target": {"@id": VISITS, "partOf": whole}}
    first = released(tmp_path, rule=part, policy={"pe:budget": [budget]})
    again = released(tmp_path, ROWS, policy={"uid": "http://e.org/other"})
    remaining = [one.receipt.remaining[whole].epsilon for one in (first, again)]
    assert remaining == [2, 1]
    assert again.receipt.is_new


def test_an_answer_that_is_given_again_may_be_charged_to_what_is_known_since(tmp_path):
    released(tmp_path)
    target = {"@id": VISITS, "partOf": "http://e.org/All"}
    rule = {"target": target, "output": "http://e.org/other/rows"}
    other = policy_text(ROWS, rule=rule, policy={"uid": "http://e.org/other"})
    given = {"ledger": tmp_path / "ledger.sqlite", "policies": [other]}
    again = apply_policy(policy_text(UNITS, DAYS), {VISITS: visits(*PEOPLE)}, **given)
    assert (again.receipt.is_charged, again.receipt.is_new) == (True, False)


def test_a_denial_has_figures_for_the_owner_alone(tmp_path):
    budget = {"pe:over": VISITS, "pe:epsilon": "1.5", "pe:delta": "0", "pe:scope": "allAssignees"}
    text = policy_text(ROWS, rule={"assignee": LAB}, policy={"pe:budget": [budget]})
    given = {"ledger": tmp_path / "ledger.sqlite"}
    apply_policy(text, {VISITS: visits(*PEOPLE)}, **given)
    for party in ("", LAB):
        with pytest.raises(DeniedError) as error:
            apply_policy(text, {VISITS: visits(*PEOPLE[1:])}, party=party or None, **given)
        assert bool(error.value.problems[0].values) == (not party)


def test_statistics_need_a_ledger():
    with pytest.raises(PlanError, match="no ledger is given"):
        apply_policy(policy_text(UNITS), {VISITS: visits(*PEOPLE)})


def test_one_unit_of_privacy_is_that_of_a_dataset(tmp_path):
    released(tmp_path)
    table = visits(*PEOPLE).rename_columns(["household", "sex", "days"])
    text = policy_text(UNITS, privacyUnit={"@id": f"{VISITS}/household"})
    with pytest.raises(Exception, match="Name one unit of privacy"):
        apply_policy(text, {VISITS: table}, ledger=tmp_path / "ledger.sqlite")


def test_what_is_drawn_is_kept_when_it_cannot_be_written(tmp_path):
    text, data = policy_text(UNITS), {VISITS: visits(*PEOPLE)}
    (tmp_path / "taken.csv").write_text("")
    ledger = tmp_path / "ledger.sqlite"
    with pytest.raises(Exception, match="taken"):
        apply_policy(text, data, tmp_path / "taken.csv", ledger=ledger)
    first = apply_policy(text, data, ledger=ledger)
    assert apply_policy(text, data, tmp_path / "out.csv", ledger=ledger).table.equals(first.table)


def facts(certificate):
    """Return what a certificate says but for its time, its nonce and the digest of the noise."""
    hidden = {"time", "commitment", "output_digest"}
    return certificate.model_dump_json(exclude=hidden)


def test_neighbours_differ_in_noisy_figures_alone(tmp_path):
    """With and without a person: the same certificate, the same columns, keys and types."""
    text = policy_text(UNITS, ROWS, DAYS, MEDIAN)
    releases, stages = [], []
    for number, rows in enumerate((PEOPLE, PEOPLE[1:], [])):
        told = []
        releases.append(
            apply_policy(
                text,
                {VISITS: visits(*rows)},
                ledger=tmp_path / f"{number}.sqlite",
                progress=lambda *stage, told=told: told.append(stage),
            )
        )
        stages.append(told)
    assert len({facts(one.certificate) for one in releases}) == 1
    assert len({one.plan.model_dump_json() for one in releases}) == 1
    assert len({str(one.table.schema) for one in releases}) == 1
    assert len({tuple(one.table.column("sex").to_pylist()) for one in releases}) == 1
    assert stages[0] == stages[1] == stages[2]


def test_the_record_does_not_tell_how_many_rows_there_were(tmp_path):
    record = json.loads(released(tmp_path).record.to_json())
    assert record["input"]["rows"] == 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("bound", "achieved"), [("epsilon", 0.1), ("delta", 1e-9)])
def test_a_certificate_says_the_losses_of_its_noise(tmp_path, bound, achieved):
    facts = json.loads(released(tmp_path, delta="1e-6").certificate.to_jsonld())
    [one] = [one for one in facts["pe:certificate"]["measurements"] if one["bound"] == bound]
    one["achieved"] = achieved
    with pytest.raises(CertificateError, match="By its noise it has epsilon 1 and delta 0"):
        read_certificate(json.dumps(facts))


def test_a_certificate_is_read_back_and_permits_to_read(tmp_path):
    release = released(tmp_path, rule={"assignee": "http://e.org/lab"})
    text = release.certificate.to_jsonld()
    assert read_certificate(text) == release.certificate
    policy = read_policy(policy_text(UNITS, DAYS, rule={"assignee": "http://e.org/lab"}))
    request = Request(assignee="http://e.org/lab", targets=[OUTPUT], action=f"{terms.ODRL}read")
    assert decide([policy], [release.certificate], request).permitted
    other = request.model_copy(update={"targets": (VISITS,)})
    assert not decide([policy], [release.certificate], other).permitted


def test_texts_in_a_column_of_numbers_fail_nowhere(tmp_path):
    table = visits(*PEOPLE).set_column(2, "days", pa.array(["x"] * 60))
    text = policy_text(DAYS, MEDIAN)
    assert apply_policy(text, {VISITS: table}, ledger=tmp_path / "l").table.num_rows == 2


def test_an_output_does_not_show_its_epsilon(tmp_path):
    text = policy_text(UNITS)
    apply_policy(text, {VISITS: visits(*PEOPLE)}, tmp_path / "o.csv", ledger=tmp_path / "l")
    with pytest.raises(DataError, match="does not show") as error:
        certify_output(tmp_path / "o.csv", text)
    assert error.value.problems[0].code == "V006"


def with_rows(text):
    """Return a policy that releases the rows as well, under 2-anonymity."""
    document = json.loads(text)
    parameters = (
        ("mosaicrown:method", "eq", "k-anonymity"),
        ("mosaicrown:k", "eq", 2),
        ("mosaicrown:quasi-identifier", "isAllOf", [f"{VISITS}/sex"]),
        ("pe:insensitive", "isAllOf", [f"{VISITS}/person"]),
    )
    refinement = [
        {"leftOperand": name, "operator": operator, "rightOperand": value}
        for name, operator, value in parameters
    ]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": refinement}
    document["permission"].append({"target": VISITS, "action": [action], "output": ROWS_OUTPUT})
    return json.dumps(document)


ROWS_OUTPUT = "http://e.org/Rows"


def test_other_releases_of_the_policy_are_named_that_epsilon_does_not_cover(tmp_path):
    text, data = with_rows(policy_text(UNITS)), {VISITS: visits(*PEOPLE)}
    release = apply_policy(text, data, asset=OUTPUT, ledger=tmp_path / "l")
    assert release.certificate.uncovered == (ROWS_OUTPUT,)
    assert read_certificate(release.certificate.to_jsonld()) == release.certificate


def test_releases_without_epsilon_are_listed_in_the_ledger(tmp_path):
    text, data, ledger = policy_text(UNITS), {VISITS: visits(*PEOPLE)}, tmp_path / "l"
    rows = apply_policy(with_rows(text), data, asset=ROWS_OUTPUT, ledger=ledger)
    assert rows.certificate.uncovered == ()
    for _ in range(2):
        apply_policy(with_rows(text), data, asset=ROWS_OUTPUT, ledger=ledger)
    release = apply_policy(text, data, ledger=ledger)
    assert release.certificate.uncovered == (ROWS_OUTPUT,)
    states = [one.state for one in BudgetLedger(ledger).history()]
    assert (states.count("announced"), states.count("published")) == (3, 3)  # of the rows
    charged = [one for one in states if one not in ("announced", "published")]
    assert charged == ["opened", "uncovered", "reserved", "spent", "kept"]
    assert BudgetLedger(ledger).verify().intact


def test_a_ledger_with_a_key_is_charged_with_it_alone(tmp_path):
    text, data, key = policy_text(UNITS), {VISITS: visits(*PEOPLE)}, b"k" * 32
    apply_policy(text, data, ledger=tmp_path / "l", ledger_key=key)
    with pytest.raises(PolicyEngineError):
        apply_policy(policy_text(ROWS), data, ledger=tmp_path / "l")
    assert BudgetLedger(tmp_path / "l", key).verify().intact


def test_a_party_is_charged_to_a_ledger_with_a_key(tmp_path):
    rule = {"assignee": LAB, "purpose": "urn:p", "constraint": [spent_bound("1.5")]}
    text, data, key = policy_text(UNITS, rule=rule), {VISITS: visits(*PEOPLE)}, b"k" * 32
    acting = {"party": LAB, "purpose": "urn:p", "ledger": tmp_path / "l", "ledger_key": key}
    assert apply_policy(text, data, **acting).table.num_rows == 2
    assert BudgetLedger(tmp_path / "l", key).verify().intact


@pytest.mark.parametrize("join", [None, "and"])
def test_a_bound_of_an_assignee_is_held_to(tmp_path, join):
    cap = spent_bound("1.5")
    constraint = [{join: [cap, cap]}] if join else [cap]
    rule = {"assignee": "http://e.org/lab", "constraint": constraint}
    released(tmp_path, rule=rule)
    with pytest.raises(DeniedError):
        released(tmp_path, ROWS, rule=rule)
    other = {"assignee": "http://e.org/office", "constraint": constraint}
    released(tmp_path, ROWS, rule=other)


def test_a_file_that_cannot_be_read_costs_nothing_and_tells_no_row(tmp_path):
    file, ledger = tmp_path / "visits.csv", tmp_path / "l"
    file.write_text("person,sex,days\na,f,1\nb,f,2,3\n")
    with pytest.raises(DataError) as error:
        apply_policy(policy_text(UNITS), {VISITS: file}, ledger=ledger)
    assert error.value.problems[0].code == "C007"
    assert "3" not in error.value.problems[0].message
    assert [one.state for one in BudgetLedger(ledger).history()] == [
        *("opened", "reserved", "cancelled"),
    ]


def test_statistics_of_an_output_of_the_data_are_charged_to_the_data(tmp_path):
    text, rows = policy_text(UNITS), tmp_path / "rows.csv"
    apply_policy(with_rows(text), {VISITS: visits(*PEOPLE)}, rows, asset=ROWS_OUTPUT)
    of_rows = policy_text(UNITS, by=()).replace(VISITS, ROWS_OUTPUT)
    release = apply_policy(of_rows, {ROWS_OUTPUT: rows}, ledger=tmp_path / "l")
    some = BudgetLedger(tmp_path / "l").balances()
    assert {one.account.dataset for one in some} == {VISITS, ROWS_OUTPUT}
    [upstream] = release.certificate.upstream
    assert upstream.inputs == (VISITS,)
    assert read_certificate(release.certificate.to_jsonld()) == release.certificate


def test_without_what_draws_nothing_is_charged(tmp_path, monkeypatch):
    monkeypatch.setattr("policy_engine.release.statistics.find_spec", lambda _: None)
    with pytest.raises(DataError, match="not installed"):
        released(tmp_path)
    assert not (tmp_path / "ledger.sqlite").exists()


ALL = "http://e.org/All"
PART = {"target": {"@id": VISITS, "partOf": ALL}}


def budget(epsilon, over=VISITS, uid="http://e.org/policy"):
    """Return what a policy says that sets a budget."""
    one = {"pe:over": over, "pe:epsilon": epsilon, "pe:delta": "0", "pe:scope": "allAssignees"}
    return {"uid": uid, "pe:budget": [one]}


def test_a_policy_without_a_budget_does_not_spend_beyond_that_of_another(tmp_path):
    released(tmp_path, policy=budget("1"))
    with pytest.raises(DeniedError):
        released(tmp_path, policy={"uid": "http://e.org/other"})
    released(tmp_path, policy=budget("2"), rows=PEOPLE[1:])
    assert balances(tmp_path) == {"": "2"}


def test_who_does_not_say_what_the_data_are_part_of_is_charged_to_it_as_well(tmp_path):
    released(tmp_path, rule=PART, policy=budget("1", ALL))
    for policy in (budget("1", ALL), {"uid": "http://e.org/other"}):
        with pytest.raises(DeniedError):
            released(tmp_path, ROWS, policy=policy)


def test_what_a_policy_in_force_makes_a_known_whole_of_is_charged(tmp_path):
    making = {"target": "http://e.org/Source", "output": ALL}
    uid = "http://e.org/maker"
    maker = policy_text(rule=making, policy=budget("1.5", "http://e.org/Source", uid))
    released(tmp_path, rule=PART)
    with pytest.raises(DeniedError):
        apply_policy(
            policy_text(epsilon={"@value": "1.6", "@type": "xsd:decimal"}),
            {VISITS: visits(*PEOPLE)},
            ledger=tmp_path / "ledger.sqlite",
            policies=[maker],
        )


def test_statistics_of_the_whole_are_charged_to_its_parts(tmp_path):
    released(tmp_path, rule=PART, policy=budget("1"))
    whole = policy_text(policy={"uid": "http://e.org/whole"}).replace(VISITS, ALL)
    with pytest.raises(DeniedError):
        apply_policy(whole, {ALL: visits(*PEOPLE)}, ledger=tmp_path / "ledger.sqlite")
    known = json.loads(whole)
    known["permission"].append({**PART, "action": "odrl:read"})
    apply_policy(json.dumps(known), {ALL: visits(*PEOPLE)}, ledger=tmp_path / "l")
    assert {one.account.dataset for one in BudgetLedger(tmp_path / "l").balances()} == {VISITS, ALL}


@pytest.mark.parametrize("over", [VISITS, ALL])
def test_budgets_and_parts_of_the_other_policies_in_force_count(tmp_path, over):
    house = tmp_path / "house.jsonld"
    rule = {**PART, "uid": "http://e.org/house#release", "output": "http://e.org/HouseStatistics"}
    house.write_text(policy_text(rule=rule, policy=budget("1", over, "http://e.org/house")))
    text = policy_text(UNITS, rule={"assignee": LAB})
    acting = {"party": LAB, "policies": [house], "ledger": tmp_path / "l"}
    apply_policy(text, {VISITS: visits(*PEOPLE)}, **acting)
    with pytest.raises(DeniedError):
        apply_policy(text, {VISITS: visits(*PEOPLE[1:])}, **acting)
    with pytest.raises(DeniedError):
        apply_policy(text, {VISITS: visits(*PEOPLE[1:])}, ledger=tmp_path / "l")


@pytest.mark.parametrize("kind", [pa.binary(), pa.list_(pa.int64()), pa.month_day_nano_interval()])
def test_a_column_of_no_use_costs_nothing(tmp_path, kind):
    table = visits(*PEOPLE).set_column(2, "days", pa.nulls(60, kind))
    with pytest.raises(DataError) as error:
        apply_policy(policy_text(DAYS), {VISITS: table}, ledger=tmp_path / "l")
    assert error.value.problems[0].code == "C009"
    assert BudgetLedger(tmp_path / "l").history()[-1].state == "cancelled"


DPV = "https://w3id.org/dpv#"
RESEARCH = f"{DPV}ResearchAndDevelopment"


@pytest.mark.parametrize("later", [{"purpose": RESEARCH}, {}])
def test_what_was_spent_for_a_narrower_purpose_was_spent_for_the_wider_and_for_any(tmp_path, later):
    rule = {"assignee": LAB, "constraint": [spent_bound("1.5")]}
    released(tmp_path, rule={**rule, "purpose": f"{DPV}AcademicResearch"})
    with pytest.raises(DeniedError):
        released(tmp_path, ROWS, rule={**rule, **later})
    released(tmp_path, ROWS, rule={**rule, "purpose": f"{DPV}Marketing"})


@pytest.mark.parametrize("first", [{"purpose": RESEARCH}, {}])
def test_what_was_made_for_a_wider_purpose_counts_for_the_narrower(tmp_path, first):
    released(tmp_path, rule={"assignee": LAB, **first})
    rule = {"assignee": LAB, "purpose": f"{DPV}AcademicResearch"}
    text = policy_text(ROWS, rule={**rule, "constraint": [spent_bound("0.5")]})
    with pytest.raises(DeniedError) as error:
        apply_policy(text, {VISITS: visits(*PEOPLE)}, ledger=tmp_path / "ledger.sqlite")
    assert error.value.problems[0].code == "B009"
    request = Request(
        assignee=LAB, targets=[VISITS], action=f"{terms.ODRL}anonymize", purpose=rule["purpose"]
    )
    decider = Decider([read_policy(text)], ledger=BudgetLedger(tmp_path / "ledger.sqlite"))
    assert "pe:spentEpsilon is beyond the budget" in decider.decide(request).reason


def test_a_purpose_that_a_constraint_names_is_charged(tmp_path):
    purpose = {"leftOperand": "purpose", "operator": "eq", "rightOperand": {"@id": RESEARCH}}
    released(tmp_path, rule={"assignee": LAB, "constraint": [purpose]})
    rule = {"assignee": LAB, "purpose": RESEARCH, "constraint": [spent_bound("1.5")]}
    with pytest.raises(DeniedError):
        released(tmp_path, ROWS, rule=rule)


def test_who_asks_is_charged_beside_the_assignees_of_the_rule(tmp_path):
    bob, ledger = {"@id": "http://e.org/Bob", "partOf": LAB}, tmp_path / "ledger.sqlite"
    document = json.loads(policy_text(UNITS, rule={"assignee": LAB}))
    document["permission"].append({"target": VISITS, "action": "odrl:read", "assignee": bob})
    data = {VISITS: visits(*PEOPLE)}
    apply_policy(json.dumps(document), data, party="http://e.org/Bob", ledger=ledger)
    assert balances(tmp_path) == {"": "1", LAB: "1", "http://e.org/Bob": "1"}
    rule = {"assignee": bob, "constraint": [spent_bound("1.5")]}
    with pytest.raises(DeniedError):
        released(tmp_path, ROWS, rule=rule)


def test_a_bound_on_an_output_counts_what_was_spent_of_the_data(tmp_path):
    rule, rows = {"assignee": LAB, "constraint": [spent_bound("1.5")]}, tmp_path / "rows.csv"
    released(tmp_path, rule=rule)
    text = with_rows(policy_text(UNITS))
    apply_policy(text, {VISITS: visits(*PEOPLE)}, rows, asset=ROWS_OUTPUT)
    of_rows = policy_text(UNITS, by=(), rule=rule).replace(VISITS, ROWS_OUTPUT)
    with pytest.raises(DeniedError):
        apply_policy(of_rows, {ROWS_OUTPUT: rows}, ledger=tmp_path / "ledger.sqlite")
