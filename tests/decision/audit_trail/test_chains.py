"""Chains in an audit trail: of every kind, and nothing but their entries."""

from decimal import Decimal

import pytest

from policy_engine import DecisionLog, PolicyEngineError, decide_request, read_request
from policy_engine.data.chain.entries import START, now
from policy_engine.data.chain.hashing import HashChain
from policy_engine.decision.audit_trail.chains import ExportedChain, export_ledger, export_log
from policy_engine.release.budget import Account, BudgetLedger, Cap, Charge
from policy_engine.release.output_ledger.entries import make_entry
from policy_engine.release.output_ledger.store import OutputLedgerFile

POLICY = "policy: http://ex.com/p\ntarget: http://ex.com/T\naction: read\n"


@pytest.fixture
def charged(tmp_path):
    """Return the file of a budget ledger that paid for two releases, and keeps their answers."""
    account = Account("http://ex.com/T", "http://ex.com/T/person")
    ledger = BudgetLedger(tmp_path / "budget.db")
    for plan in "12":
        caps = (Cap(account, Decimal(9), Decimal(0)),)
        amounts = Decimal(1), Decimal(0)
        one = Charge((account,), caps, *amounts, "p", plan, "d", "http://ex.com/out", [])
        reservation = ledger.reserve(one)
        ledger.commit(reservation)
        ledger.keep(reservation, b"the answer, which is secret")
    return ledger.store.path


def test_a_ledger_is_exported_without_what_it_keeps(charged):
    chain = export_ledger(charged)
    assert chain.name == "budget ledger"
    assert b"secret" not in chain.content
    verification = ExportedChain.of(chain.name, chain.content).verified()
    assert verification.head == BudgetLedger(charged).verify().head


def test_an_output_ledger_is_told_from_a_budget_ledger(tmp_path):
    first = make_entry(HashChain(), (0, START), now(), state="opened", ledger="one")
    OutputLedgerFile(tmp_path / "outputs.db").create(first)
    chain = export_ledger(tmp_path / "outputs.db")
    assert chain.name == "output ledger"
    assert chain.verified().intact


def test_a_missing_ledger_is_refused(tmp_path):
    with pytest.raises(PolicyEngineError, match="B001"):
        export_ledger(tmp_path / "outputs.db")


def test_a_file_that_is_not_a_ledger_is_refused(tmp_path):
    (tmp_path / "x.db").write_text("no")
    with pytest.raises(PolicyEngineError, match="neither a budget ledger nor an output ledger"):
        export_ledger(tmp_path / "x.db")


@pytest.mark.parametrize("ending", ["jsonl", "sqlite"])
def test_a_log_is_exported_as_it_was_chained(tmp_path, ending):
    (tmp_path / "p.yaml").write_text(POLICY)
    request = read_request("http://ex.com/A", "read", ["http://ex.com/T"])
    log = DecisionLog.open(tmp_path / f"log.{ending}")
    for _ in range(3):
        log.append(decide_request([tmp_path / "p.yaml"], [], request))
    chain = export_log(log.path)
    assert [one.number for one in chain.entries()] == [1, 2, 3]
    assert chain.verified().intact


def test_an_entry_that_is_missing_is_found(charged):
    chain = export_ledger(charged)
    assert chain.verified().intact
    assert not ExportedChain(chain.name, (*chain.lines[:1], *chain.lines[2:])).verified().intact


def test_a_chain_without_entries_is_intact():
    assert ExportedChain.of("decision log", b"").verified().intact
