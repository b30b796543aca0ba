"""Answers to queries from the rules to a person, into the ledger, and to who asked."""

import json
import re
from dataclasses import replace

import pyarrow as pa
import pytest
from output_checked import RESEARCHER
from reviewed_answers import BY_SECTOR, EVERYBODY, PEOPLE, TOTALS, accepted, asked, submitted

from policy_engine.api.ordering_outputs import order_folder
from policy_engine.api.reviewing_answers import give_answer, submit_answer
from policy_engine.errors import DeniedError, LedgerError, RequestError
from policy_engine.release.output_folder import steps
from policy_engine.release.output_folder.folder import OutputFolder
from policy_engine.release.output_ledger import OutputLedger

SHOWN = [
    {"region": "a", "n": None, "s": -10.0},
    {"region": "b", "n": 20, "s": -10.0},
    {"region": "c", "n": None, "s": None},
]
"""Both large counts would tell that there are two others, of the 42 whom everybody knows of."""
REVIEW = ("pe:mitigation", "eq", "review")


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "folder"


def test_what_is_accepted_is_given_to_who_asked_and_is_in_the_ledger(folder, ledger):
    read = submitted(folder, ledger)
    [standing] = read.standings()
    assert (standing.word, standing.output.status) == ("open", "review")
    assert accepted(folder, ledger).word == "accepted"
    assert give_answer(folder, RESEARCHER).to_pylist() == SHOWN
    last = OutputLedger(ledger).history()[-1].output
    assert (last.accepted, last.released, last.suppressed) == ("carl", 3, 3)
    with pytest.raises(LedgerError, match="K028"):
        give_answer(folder, "http://example.com/another")


@pytest.mark.nightly
def test_later_answers_are_judged_against_what_was_accepted(folder, ledger):
    alone = asked(ledger.with_name("other"), BY_SECTOR).checked.offered
    assert None not in alone.table["s"].to_pylist()
    submitted(folder, ledger)
    accepted(folder, ledger)
    assert None in asked(ledger, BY_SECTOR).checked.offered.table["s"].to_pylist()


def test_an_acceptance_that_would_break_the_ledger_is_refused(folder, ledger, tmp_path):
    submitted(folder, ledger)
    submitted(tmp_path / "near", ledger, BY_SECTOR.replace("COUNT(*) AS n, ", ""))
    accepted(tmp_path / "near", ledger)
    entries = len(OutputLedger(ledger).history())
    with pytest.raises(LedgerError, match="K044"):
        accepted(folder, ledger)
    assert len(OutputLedger(ledger).history()) == entries
    assert [one.word for one in OutputFolder.read(folder).standings()] == ["open"]
    with pytest.raises(LedgerError, match="K028"):
        give_answer(folder, RESEARCHER)


def test_an_answer_of_all_or_nothing_is_let_out_without_its_small_cells(folder, ledger):
    result = asked(ledger, more=(REVIEW,))
    assert not result.permitted
    submit_answer(result, TOTALS, folder, by="rita")
    accepted(folder, ledger, more=(REVIEW,))
    assert give_answer(folder, RESEARCHER).to_pylist() == SHOWN


def test_few_persons_are_let_out_by_no_exception(folder, ledger):
    submitted(folder, ledger, exception="The two are known.")
    accepted(folder, ledger)
    assert give_answer(folder, RESEARCHER).to_pylist() == SHOWN


def test_an_exception_lets_out_who_dominates(folder, ledger):
    table = PEOPLE.set_column(3, "gain", pa.array([1e6, *(100.0 + n for n in range(41))]))
    sql = "SELECT region, SUM(gain) AS s FROM T GROUP BY region"
    assert asked(ledger, sql, table=table).checked.offered is None
    submitted(folder, ledger, sql, exception="The firm agrees.", table=table)
    accepted(folder, ledger, table=table)
    assert give_answer(folder, RESEARCHER)["s"].to_pylist() == [1002071.0, 2570.0, None]


def test_what_leaves_nothing_to_a_person_is_not_submitted(folder, ledger):
    result = asked(ledger, EVERYBODY)
    with pytest.raises(RequestError, match="K025"):
        submit_answer(result, EVERYBODY, folder, by="rita")
    assert not folder.exists()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("by", ["rita", " rita "])
def test_who_asked_does_not_decide(folder, ledger, by):
    submitted(folder, ledger)
    with pytest.raises(LedgerError, match=r"K028.*submitted"):
        accepted(folder, ledger, by=by)
    assert accepted(folder, ledger, by=by, is_own_allowed=True).word == "accepted"


def test_data_or_a_check_that_changed_is_not_what_was_reviewed(folder, ledger):
    submitted(folder, ledger)
    other = PEOPLE.append_column("more", pa.array(range(42)))
    entries = len(OutputLedger(ledger).history())
    for changed in ({"table": other}, {"more": (("pe:minDegreesOfFreedom", "eq", 7),)}):
        with pytest.raises(LedgerError, match=r"K028.*not what was reviewed"):
            accepted(folder, ledger, **changed)
    assert len(OutputLedger(ledger).history()) == entries


def test_an_answer_is_not_accepted_past_the_ledger(folder, ledger, tmp_path):
    submitted(folder, ledger)
    read = OutputFolder.read(folder)
    with pytest.raises(LedgerError, match=r"K028.*ledger"):
        read.decide("answer", accepts=True, reason="Fine.", by="carl")
    with pytest.raises(LedgerError, match="K028"):
        read.release(tmp_path / "out", by="carl")


def test_a_crash_after_the_ledger_gives_nothing_out_and_the_answer_is_accepted_again(
    folder, ledger, monkeypatch
):
    submitted(folder, ledger)
    with monkeypatch.context() as patch:
        patch.setattr(steps, "_entry", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            accepted(folder, ledger)
    assert OutputLedger(ledger).history()[-1].output.accepted == "carl"
    with pytest.raises(LedgerError, match="K028"):
        give_answer(folder, RESEARCHER)
    assert accepted(folder, ledger).word == "accepted"
    assert OutputLedger(ledger).history()[-1].state == "repeated"
    assert give_answer(folder, RESEARCHER).to_pylist() == SHOWN


def test_an_answer_is_accepted_once(folder, ledger):
    submitted(folder, ledger)
    accepted(folder, ledger)
    entries = len(OutputLedger(ledger).history())
    with pytest.raises(LedgerError, match=r"K028.*accepted already"):
        accepted(folder, ledger)
    assert len(OutputLedger(ledger).history()) == entries


def test_a_log_that_cannot_be_written_after_the_ledger_is_told_and_nothing_is_given(
    folder, ledger, monkeypatch
):
    submitted(folder, ledger)

    def refuse(*_, **__):
        raise LedgerError.of("K027", "The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(steps.OpenLog, "add", refuse)
        with pytest.raises(LedgerError, match=r"(?s)K027.*in the ledger as accepted.*disk is full"):
            accepted(folder, ledger)
    assert OutputLedger(ledger).history()[-1].output.accepted == "carl"
    with pytest.raises(LedgerError, match="K028"):
        give_answer(folder, RESEARCHER)


def test_what_was_rejected_is_never_given(folder, ledger):
    submitted(folder, ledger)
    read = OutputFolder.read(folder)
    read.decide("answer", accepts=False, reason="Too close to the firm.", by="carl")
    with pytest.raises(LedgerError, match=r"K028.*rejected"):
        give_answer(folder, RESEARCHER)


def test_the_researchers_side_has_no_figure_of_what_is_withheld(folder, ledger):
    submitted(folder, ledger, exception="The two are known.")
    public = (folder / "outputs.json").read_text() + (folder / "researcher.html").read_text()
    evidence = json.loads((folder / "evidence.json").read_text())
    figures = {cell["value"] for cell in evidence["outputs"][0]["verdict"]["query"]["cells"]}
    assert 2 in figures
    assert not any(text in public for text in ("K002", "-10", "units"))
    page = (folder / "checker.html").read_text()
    assert "-10" in page
    assert "COUNT(*): c" in page


def test_a_checker_sees_by_which_figures_a_condition_was_judged(folder, ledger):
    sql = "SELECT COUNT(*) AS n FROM T WHERE region <> 'c'"
    submitted(folder, ledger, sql, exception="The two are known.")
    page = (folder / "checker.html").read_text()
    told = page[page.index("the conditions of these cells") :]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", told)[:5]
    assert cells == ["t.region", "40", "2", "5", "rows"]
    assert "columns that may be secret" not in (folder / "researcher.html").read_text()


def test_a_file_that_was_changed_is_not_accepted(folder, ledger):
    submitted(folder, ledger)
    (folder / "held" / "answer.parquet").write_bytes(b"other")
    with pytest.raises(LedgerError, match="K027"):
        accepted(folder, ledger)


def test_answers_about_data_that_changed_are_let_out_by_a_person_alone(folder, ledger):
    asked(ledger, EVERYBODY)
    table = PEOPLE.append_column("more", pa.array(range(42)))
    result = asked(ledger, EVERYBODY, table=table)
    assert (result.permitted, result.checked.codes) == (False, ("K047",))
    submit_answer(result, EVERYBODY, folder, by="rita")
    accepted(folder, ledger, table=table)
    assert give_answer(folder, RESEARCHER).to_pylist() == [{"n": 42}]


def test_a_policy_that_no_longer_permits_it_lets_nothing_out(folder, ledger, monkeypatch):
    submitted(folder, ledger)
    submission = OutputFolder.read(folder).submission
    question = submission.question.model_copy(update={"assignee": "http://example.com/other"})
    changed = submission.model_copy(update={"question": question})
    read = replace(OutputFolder.read(folder), submission=changed)
    monkeypatch.setattr(OutputFolder, "read", lambda *_: read)
    with pytest.raises(DeniedError):
        accepted(folder, ledger)


@pytest.mark.nightly
def test_answers_are_in_the_queue_of_a_checker(folder, ledger):
    submitted(folder, ledger)
    assert [one.name for one in order_folder(folder).places] == ["answer"]


def test_an_answer_is_not_accepted_with_another_ledger(folder, ledger, tmp_path):
    submitted(folder, ledger)
    other = tmp_path / "other"
    asked(other, EVERYBODY)
    with pytest.raises(
        LedgerError, match="not that which the answer was judged against"
    ) as refused:
        accepted(folder, other)
    assert (refused.value.code, len(OutputLedger(other).history())) == ("K033", 2)
    asked(ledger, EVERYBODY)
    assert accepted(folder, ledger).word == "accepted"
