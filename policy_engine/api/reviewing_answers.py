"""Answers to queries that a person decides about: submitted, accepted, and given to who asked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from policy_engine.api.deciding import ProofSource, StatusSource, TrustSource, query_data
from policy_engine.api.folder_pages import write_pages
from policy_engine.api.output_ledgers import open_output_ledger
from policy_engine.audits.outputs.explaining import confidential_verdict
from policy_engine.audits.outputs.layout import ShownTable
from policy_engine.data.keys import Key
from policy_engine.decision import World
from policy_engine.decision.query.checking.answer_evidence import evidence_json
from policy_engine.decision.query.checking.released_json import checked_json
from policy_engine.decision.query.checking.reviewed_cells import (
    AcceptedAnswer,
    AnswerReview,
    OfferedAnswer,
)
from policy_engine.decision.query.rows import (
    as_json,
    as_parquet,
    cell_json,
    leading_texts,
    read_parquet,
)
from policy_engine.errors import DeniedError, LedgerError, RequestError
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.policy import Hierarchy, ReadingOptions, Source
from policy_engine.policy.owners import OwnersSource
from policy_engine.release.output_folder.folder import (
    OutputFolder,
    stored_file,
    write_folder,
)
from policy_engine.release.output_folder.model import (
    AskedQuestion,
    FolderEvidence,
    OutputEvidence,
    Submission,
    SubmittedOutput,
)
from policy_engine.release.output_folder.prepared import (
    FILES,
    WHOLE,
    FolderContent,
    csv_text,
    without_nan,
)
from policy_engine.release.output_folder.standings import OutputStanding

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.decision.query.checking.checked_answer import CheckedAnswer
    from policy_engine.decision.query.model import QueryResult
    from policy_engine.release.output_ledger import OutputLedger

ANSWER = "answer"
"""The name of the only output of a folder with an answer."""
_TABLE = f"{ANSWER}.parquet"


def submit_answer(
    result: "QueryResult",
    sql: str,
    folder: str | Path,
    *,
    by: str,
    dialect: str = "duckdb",
    comment: str = "",
    exception: str = "",
    key: Key = None,
) -> OutputFolder:
    """Write the answer to a query to a new folder for a checker, and return that.

    It is what `query_data` returned for a `review`: an exception, if that was asked for, says why.
    `by` says who submits it, who is not to decide about it. The log of the folder is chained with a
    `key`. Raises RequestError (K025) for an answer that leaves nothing to a person, OutputError
    (O001, O002) where there is something or it cannot be written.
    """
    checked, decision = result.checked, result.decision
    if checked is None or checked.offered is None or decision is None:
        message = "The answer leaves nothing to a person: the rules, or the policy, decide all."
        raise RequestError.of("K025", message, "An exception may be asked for, with a reason.")
    request = decision.request
    question = AskedQuestion(
        sql=sql,
        assignee=request.assignee or "",
        purpose=request.purpose or "",
        dialect=dialect,
        dataset=checked.recorded.scope.dataset,
        is_exception=bool(exception),
        ledger=checked.offered.head,
    )
    answer = _SubmittedAnswer(checked, checked.offered)
    evidence = _evidence(checked, checked.offered, evidence_json(checked, sql, decision))
    submission = Submission(
        check=checked.profile,
        policy=decision.policy or "",
        data=checked.recorded.scope.data,
        outputs=(answer.submitted(question, comment, exception),),
        question=question,
    )
    content = FolderContent(submission, evidence, {**answer.files(), **answer.whole_files()})
    files = {**content.files, **write_pages(content, [answer])}
    write_folder(Path(folder), submission, evidence, files, by=by, key=key)
    return OutputFolder.read(Path(folder), key)


@dataclass(frozen=True, eq=False)
class _SubmittedAnswer:
    """An answer as a folder has it: as it was given, and as a person may let it out."""

    checked: "CheckedAnswer"
    offered: OfferedAnswer
    name: str = ANSWER

    def shown(self) -> Iterator[tuple[str, ShownTable]]:
        """Yield the answer as it was given."""
        if self.checked.is_released:
            yield "", _shown(self.checked.table)

    def held(self) -> Iterator[tuple[str, ShownTable]]:
        """Yield the answer as a person may let it out."""
        if self.offered.is_more:
            yield "", _shown(self.offered.table)

    def files(self) -> dict[str, bytes]:
        """Return the files of the answer as it was given, by their paths."""
        return _files(FILES, self.checked.table) if self.checked.is_released else {}

    def whole_files(self) -> dict[str, bytes]:
        """Return the files of what only a person lets out, by their paths."""
        return _files(WHOLE, self.offered.table) if self.offered.is_more else {}

    def submitted(self, question: AskedQuestion, comment: str, exception: str) -> SubmittedOutput:
        """Return what the folder says of the answer, without any figure."""
        public = checked_json(self.checked, with_rows=False)
        verdict = {
            "outcome": self.checked.outcome.value,
            **{name: public[name] for name in ("profile", "suppressed", "reasons")},
        }
        return SubmittedOutput(
            name=self.name,
            kind="answer",
            request=question.sql,
            status="review",
            verdict=verdict,
            files=tuple(stored_file(*one) for one in self.files().items()),
            whole=tuple(stored_file(*one) for one in self.whole_files().items()),
            comments=(comment.strip(),) if comment.strip() else (),
            exception=exception.strip(),
        )


def _files(folder: str, table: "pa.Table") -> dict[str, bytes]:
    text = csv_text(_shown(table))
    return {f"{folder}/{ANSWER}.csv": text, f"{folder}/{_TABLE}": as_parquet(table)}


def _shown(table: "pa.Table") -> ShownTable:
    rows = tuple(tuple(row.values()) for row in as_json(table))
    return ShownTable(tuple(table.column_names), rows, len(leading_texts(table)))


def _evidence(
    checked: "CheckedAnswer", offered: OfferedAnswer, query: Mapping[str, Any]
) -> FolderEvidence:
    verdict = checked.judged or checked.verdict
    confidential = without_nan(confidential_verdict(verdict))
    measures = [one.name for one in verdict.table.measures]
    names = dict(zip(measures, offered.aggregates, strict=True))
    for cell in confidential["suppressed"]:
        if checked.conditions is not None:
            column = measures.index(cell["column"])
            cell["condition"] = checked.conditions.told(cell["row"], column)
        cell["column"] = names[cell["column"]]
        cell["keys"] = cell_json(cell["keys"])
    for way in confidential["suppressions"]:
        way["column"] = names[way["column"]]
    one = OutputEvidence(
        name=ANSWER,
        verdict={**confidential, "query": query},
        attributes={"analysis_type": ANSWER},
        cells=tuple(tuple(row) for row in offered.cells.tolist()),
    )
    return FolderEvidence(check=verdict.check.model_dump(mode="json"), outputs=(one,))


def accept_answer(
    folder: str | Path,
    policies: Sequence[Source],
    data: Mapping[str, Any],
    output_ledger: "str | Path | OutputLedger",
    *,
    reason: str,
    by: str,
    is_own_allowed: bool = False,
    is_final: bool = False,
    key: Key = None,
    expect: str = "",
    certificates: Sequence[ProofSource] = (),
    hierarchy: Hierarchy | None = None,
    world: World | None = None,
    log: str | Path | None = None,
    log_key: str | Path | bytes | None = None,
    owners: OwnersSource | None = None,
    output_ledger_key: Key = None,
    output_ledger_head: str = "",
    noise_key: Key = None,
    confirm: Callable[[], None] | None = None,
    trust: TrustSource | None = None,
    status: Sequence[StatusSource] = (),
    **reading: Unpack[ReadingOptions],
) -> OutputStanding:
    """Accept the answer in a folder: it is computed again, entered in the ledger that earlier
    answers are in, and may then be given out.

    So what is asked later is judged against it. The policies must still permit it, the answer be
    the one that was submitted, and the ledger that which it was judged against, with what was
    answered since. `confirm` is called just before it is entered, and raises what is against it
    then. `key` and `expect` are of the folder's log, all else is as for
    `query_data`, for who asked. Raises LedgerError: the code of what the ledger has against it
    (K040 to K045, K050), and then nothing is recorded; K033 for another ledger; K028 as
    `OutputFolder.decide`, and for an answer that is no longer the same; K027 for a folder that was
    changed; DeniedError where the policies do not permit it any more; QueryError, DataError as
    `query_data`.
    """
    read = OutputFolder.read(Path(folder), key, expect)
    question = read.submission.question
    if question is None:
        message = f"{str(folder)!r} is of a session or of tables: it has no answer to a query."
        raise LedgerError.of("K028", message, "Its outputs are accepted one by one, by name.")
    ledger = open_output_ledger(
        output_ledger, output_ledger_key, output_ledger_head, "output_ledger"
    )

    def record() -> None:
        if ledger is not None:
            ledger.check_has(question.ledger)
        review = AnswerReview(question.is_exception, _accepted(read, by.strip(), confirm))
        result = query_data(
            question.sql,
            policies,
            question.assignee,
            data,
            question.purpose,
            certificates=certificates,
            hierarchy=hierarchy,
            world=world,
            dialect=question.dialect,
            log=log,
            log_key=log_key,
            owners=owners,
            output_ledger=ledger,
            noise_key=noise_key,
            review=review,
            trust=trust,
            status=status,
            **reading,
        )
        _check_recorded(result)

    return read.decide(
        ANSWER,
        accepts=True,
        reason=reason,
        by=by,
        is_own_allowed=is_own_allowed,
        is_final=is_final,
        record=record,
    )


def _accepted(read: OutputFolder, by: str, confirm: Callable[[], None] | None) -> AcceptedAnswer:
    """Return what a checker accepts of the answer in a folder."""
    [facts] = read.evidence.outputs
    check = OutputCheck.model_validate(read.evidence.check)
    table = read_parquet(read.content(f"{WHOLE}/{_TABLE}"))
    answer = AcceptedAnswer(by, facts.cells, table, read.submission.data, check)
    return replace(answer, confirm=confirm) if confirm else answer


def _check_recorded(result: "QueryResult") -> None:
    """Raise the errors of an answer that was not recorded."""
    if result.checked is None and result.reasons:
        is_other = any(one.code == "K028" for one in result.reasons)
        raise LedgerError(*result.reasons) if is_other else DeniedError(*result.reasons)
    if result.checked is None or not result.checked.is_released:
        message = "The policies let the answer be read without a check, or nothing of it is left."
        raise LedgerError.of("K028", message, "Ask again.")


def give_answer(
    folder: str | Path, assignee: str, *, by: str = "", key: Key = None, expect: str = ""
) -> "pa.Table":
    """Return the rows of an answer that was accepted, just as they were, to who asked.

    That is logged in the folder the first time. Raises LedgerError (K028) while nobody has decided,
    for an answer that was rejected, and for who did not ask; K027 for a folder that was changed.
    """
    read = OutputFolder.read(Path(folder), key, expect)
    question = read.submission.question
    if question is None or question.assignee != assignee:
        message = "The folder has no answer for this assignee."
        raise LedgerError.of("K028", message, "An answer is given to who asked for it alone.")
    [standing] = read.standings()
    if standing.word == "rejected":
        reason = standing.decision.decided.reason if standing.decision else ""  # type: ignore[union-attr]
        raise LedgerError.of("K028", "The answer was rejected: it is not given out.", reason)
    return read_parquet(read.hand_out(by=by or assignee)[_TABLE])
