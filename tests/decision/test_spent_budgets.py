"""What was spent of a budget, as a constraint, by a ledger."""

from dataclasses import replace
from decimal import Decimal

import pytest
from ruling import ANN, NOON, READ, STAFF, TABLE, policy, rule, where
from typer.testing import CliRunner

from policy_engine import terms
from policy_engine.cli.commands import make_app
from policy_engine.decision import Decider, Request, World
from policy_engine.decision.spending import BudgetSpending
from policy_engine.errors import LedgerError
from policy_engine.policy import Party
from policy_engine.policy.model import (
    PER_ASSIGNEE_AND_PURPOSE,
    PER_DATASET,
    SPENT_DELTA,
    SPENT_EPSILON,
)
from policy_engine.release.budget import Account, Amount, BudgetLedger, Charge

RESEARCH, TEACHING, STUDY = "urn:research", "urn:teaching", "urn:study"


class Ledger:
    """What was spent, by the account."""

    def __init__(self, **accounts):
        self.accounts = {
            "all": Account(TABLE, "u"),
            "ann": Account(TABLE, "u", ANN, RESEARCH),
            "staff": Account(TABLE, "u", STAFF, RESEARCH),
            "teaching": Account(TABLE, "u", ANN, TEACHING),
            "other": Account("http://e.org/other", "u"),
        }
        self.amounts = {
            self.accounts[name]: Amount(Decimal(epsilon), Decimal("1e-9"))
            for name, epsilon in accounts.items()
        }

    def spent(self, _wider):
        return self.amounts


def bounded(unit, epsilon="0.3", **edges):
    bound = replace(where("spentEpsilon", "lteq", Decimal(epsilon), prefix=terms.PE), unit=unit)
    parties = (Party(ANN), Party(STAFF))
    return policy(rule("permission", constraints=(bound,), assignees=parties), **edges)


def decision(ledger, unit, *, target=TABLE, asked_for=RESEARCH, epsilon="0.3", **edges):
    asked = Request(assignee=ANN, action=READ, targets=(target,), purpose=asked_for)
    decider = Decider([bounded(unit, epsilon, **edges)], ledger=ledger)
    return decider.decide(asked, World(time=NOON))


@pytest.mark.parametrize("unit", [PER_DATASET, PER_ASSIGNEE_AND_PURPOSE])
def test_without_a_ledger_it_is_not_known_what_was_spent(unit):
    told = decision(None, unit)
    assert not told.permitted
    assert "pe:spentEpsilon is not known without a budget ledger" in told.reason


@pytest.mark.parametrize(
    ("spent", "permitted"),
    [({}, True), ({"all": "0.3"}, True), ({"all": "0.3000001"}, False), ({"ann": "4"}, True)],
)
def test_the_budget_of_a_dataset_is_that_of_all_who_ask(spent, permitted):
    assert decision(Ledger(**spent), PER_DATASET).permitted == permitted


@pytest.mark.parametrize(
    ("spent", "edges", "permitted"),
    [
        ({"ann": "0.3"}, {}, True),
        ({"ann": "0.4"}, {}, False),
        ({"all": "4", "teaching": "4", "other": "4"}, {}, True),
        ({"staff": "4"}, {}, True),
        ({"staff": "4"}, {"party": ((ANN, STAFF),)}, False),
    ],
)
def test_the_budget_of_a_party_is_its_own_and_that_of_all_it_belongs_to(spent, edges, permitted):
    told = decision(Ledger(**spent), PER_ASSIGNEE_AND_PURPOSE, **edges)
    assert told.permitted == permitted


def test_the_budget_for_a_wider_purpose_counts_too():
    ledger, unit = Ledger(ann="4"), PER_ASSIGNEE_AND_PURPOSE
    assert decision(ledger, unit, asked_for=STUDY).permitted
    edges = {"purpose": ((STUDY, RESEARCH),)}
    assert not decision(ledger, unit, asked_for=STUDY, **edges).permitted


@pytest.mark.parametrize(
    ("spent", "permitted"), [("ann", False), ("teaching", True), ("whole", True), ("staff", True)]
)
def test_a_rule_for_a_purpose_is_bound_by_the_account_of_that_purpose(spent, permitted):
    ledger = Ledger()
    whole = Account(TABLE, "u", ANN, "urn:academic")
    account = {**ledger.accounts, "whole": whole}[spent]
    ledger.amounts = {account: Amount(Decimal(4), Decimal(0))}
    edges = {"purpose": ((STUDY, RESEARCH), (RESEARCH, whole.purpose)), "party": ((ANN, STAFF),)}
    one = bounded(PER_ASSIGNEE_AND_PURPOSE, **edges)
    own = replace(one.permissions[0], purposes=(RESEARCH,), assignees=(Party(ANN),))
    asked = Request(assignee=ANN, action=READ, targets=(TABLE,), purpose=STUDY)
    decider = Decider([replace(one, permissions=(own,))], ledger=ledger)
    assert decider.decide(asked, World(time=NOON)).permitted == permitted


def test_the_budget_of_a_column_is_that_of_its_dataset():
    assert not decision(Ledger(all="4"), PER_DATASET, target=f"{TABLE}/age").permitted


def test_the_budget_of_an_output_is_that_of_what_it_is_made_from():
    made_from = {"out": ["middle"], "middle": [f"{TABLE}/age", "out"]}
    spending = BudgetSpending(Ledger(all="0.25"), lambda asset: made_from.get(asset, ()))
    asked = ["out"], {ANN}, {RESEARCH: []}
    assert spending.value(SPENT_EPSILON, PER_DATASET, *asked) == 0.25
    assert spending.value(SPENT_DELTA, PER_DATASET, *asked) == 1e-9
    assert spending.value(SPENT_EPSILON, PER_ASSIGNEE_AND_PURPOSE, *asked) == 0


def test_a_decision_tells_no_number_of_what_others_were_charged():
    told = decision(Ledger(all="3.14159"), PER_DATASET)
    assert "its constraint is unsatisfied: pe:spentEpsilon is beyond the budget" in told.reason
    assert "3.14" not in told.model_dump_json()
    assert type(told).model_validate_json(told.model_dump_json()) == told


POLICY = f"""{{
  "@context": ["http://www.w3.org/ns/odrl.jsonld",
               {{"pe": "{terms.PE}", "xsd": "{terms.XSD}"}}],
  "@type": "Set", "uid": "urn:p",
  "permission": {{"target": "{TABLE}", "action": "read", "assignee": "{ANN}", "constraint":
    {{"leftOperand": "pe:spentEpsilon", "operator": "lteq", "unit": "pe:perDataset",
      "rightOperand": {{"@value": "4", "@type": "xsd:decimal"}}}}}}
}}"""


def test_decide_takes_a_ledger(tmp_path):
    file, path = tmp_path / "policy.jsonld", tmp_path / "budget.db"
    file.write_text(POLICY)
    arguments = ["decide", "--policy", file, "--assignee", ANN, "--target", TABLE]

    def run(*more):
        return CliRunner().invoke(make_app("decide"), [str(one) for one in (*arguments, *more)])

    assert run().exit_code == 1
    outcome = run("--ledger", path)
    assert isinstance(outcome.exception, LedgerError)
    assert "B001" in str(outcome.exception)
    ledger = BudgetLedger(path)
    for plan, code in (("1", 0), ("2", 1)):
        charge = Charge((Account(TABLE, "u"),), (), Decimal(4), Decimal(0), "p", plan, "d", "urn:o")
        ledger.commit(ledger.reserve(charge))
        assert run("--ledger", path).exit_code == code


def test_decide_takes_the_key_of_a_ledger(tmp_path):
    file, path, key = tmp_path / "policy.jsonld", tmp_path / "budget.db", tmp_path / "key"
    file.write_text(POLICY)
    key.write_bytes(b"k" * 32)
    ledger = BudgetLedger(path, key)
    charge = Charge((Account(TABLE, "u"),), (), Decimal(4), Decimal(0), "p", "1", "d", "urn:o")
    ledger.commit(ledger.reserve(charge))
    arguments = ["decide", "--policy", file, "--assignee", ANN, "--target", TABLE]

    def run(*more):
        return CliRunner().invoke(make_app("decide"), [str(one) for one in (*arguments, *more)])

    assert run("--ledger", path, "--ledger-key", key).exit_code == 0
    assert "C013" in str(run("--ledger", path).exception)
    assert "--ledger-key is for a ledger" in str(run("--ledger-key", key).exception)
