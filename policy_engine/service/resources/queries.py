"""Queries of what there is, answered as far as policies let the caller read it."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from policy_engine import terms
from policy_engine.api.deciding import query_data
from policy_engine.decision.knowing import Known
from policy_engine.decision.query.query_limits import QueryStop, query_limits
from policy_engine.errors import DataError, OutputError, PolicyEngineError, QueryError, ServiceError
from policy_engine.policy.model import READ
from policy_engine.service.calls.refusals import ProblemView
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Verb
from policy_engine.service.resources.log_heads import budget_head
from policy_engine.service.resources.query_grounds import QueryGrounds
from policy_engine.service.resources.query_inputs import QueryInputs
from policy_engine.service.runs.folders import RunFolders

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.decision.query.model import QueryResult, StatisticsCost
    from policy_engine.service.asking.query_processes import QueryProcesses

MOST_ROWS = 10_000
"""Rows of an answer that are sent; a larger one is asked for in parts."""


class SqlQuestion(BaseModel):
    """A query in SQL, for a purpose; a dry one is only rewritten, and nothing is counted.

    With an `epsilon`, and a `delta`, exact decimals as texts, it asks for statistics under
    differential privacy, which are answered with noise and charged to the ledger of budgets.

    What output checks leave to a person is sent for review, with a `comment`. With an `exception`,
    all that is computed is asked for, and that says why.
    """

    sql: str
    purpose: str = ""
    dry_run: bool = False
    epsilon: Annotated[str, Field(max_length=100)] = ""
    delta: Annotated[str, Field(max_length=100)] = ""
    comment: Annotated[str, Field(max_length=2000)] = ""
    exception: Annotated[str, Field(max_length=2000)] = ""


class SuppressedCellView(BaseModel):
    """A cell that is not shown, by its row, and why, in codes."""

    row: int
    column: str
    keys: dict[str, Any]
    outcome: str
    codes: list[str]


class FigureNoise(BaseModel):
    """The noise of a quantity that a figure is made of: `half_width` is exceeded once in 20."""

    quantity: str
    mechanism: str
    half_width: float


class NoisyFigure(BaseModel):
    """A column of an answer that has noise. A mean or a variance of `n` rows is off by at most
    `half_width_times_n` divided by n, 19 times in 20."""

    name: str
    function: str
    noise: list[FigureNoise]
    half_width_times_n: float | None = None


class AnswerCost(BaseModel):
    """What statistics cost: nothing, where they were answered before for the caller. Of a dry
    query, what they would."""

    epsilon: str
    delta: str
    is_charged: bool
    figures: list[NoisyFigure]


class QueryAnswer(BaseModel):
    """The answer to a query: its rows, and what is not shown of them, or why it is denied.

    `sql` is the query as it was run, on the rows and columns that may be read; `cost` is that of
    statistics under differential privacy. What of the answer is left to a person was sent for
    `review`; where an exception `may_be_asked` for, cells are missing that a person might let out.
    """

    permitted: bool
    sql: str = ""
    columns: list[str] = []
    rows: list[dict[str, Any]] = []
    is_cut: bool = False
    suppressed: list[SuppressedCellView] = []
    meanings: dict[str, str] = {}
    advice: str = ""
    reasons: list[ProblemView] = []
    suggestion: str = ""
    decision: dict[str, Any] | None = None
    cost: AnswerCost | None = None
    review: str | None = None
    may_be_asked: bool = False


@dataclass(frozen=True)
class _Asker:
    """Who asks, by which party, and what the answer rests on."""

    actor: Actor
    assignee: str
    grounds: QueryGrounds


@dataclass(frozen=True)
class Queries:
    """Answers queries by the data of all datasets and releases, in the name of the caller.

    Roles never let anybody read data: policies decide that, and the answer says which rule did.
    """

    inputs: QueryInputs
    send: Callable[[Actor, "QueryResult", SqlQuestion], str | None]
    """Sends what is left to a person of an answer for review, and returns under which name."""
    budgets: Path
    """The ledger of budgets, which the service's runs charge as well."""
    memory: int = 0
    """Bytes that all queries at once may use; 0 for half of what there is."""
    seconds: float = 60.0
    processes: "QueryProcesses | None" = None
    """Where queries are answered, if not here."""

    def answer(
        self, actor: Actor, question: SqlQuestion, stop: QueryStop | None = None
    ) -> QueryAnswer:
        """Return the answer to a query; the decision on it is logged, unless it is a dry one.

        Another thread may `stop` it. Raises QueryError for what cannot be understood, for a query
        that needs more time or memory than it may (Q011), or is ended (Q012), ServiceError (N004)
        for a caller whom policies do not know.
        """
        if self.processes is not None:
            return QueryAnswer.model_validate(
                self.processes.ask(
                    "query",
                    actor,
                    question.model_dump(),
                    stop or QueryStop(),
                    self.inputs.decisions.tally,
                    is_charged=bool(question.epsilon),
                )
            )
        with (
            query_limits(self.memory, self.seconds, stop),
            self.inputs.data(question.sql) as mentioned,
        ):
            return self._answer(actor, question, mentioned)

    def _answer(
        self, actor: Actor, question: SqlQuestion, mentioned: Mapping[str, Path]
    ) -> QueryAnswer:
        began = time.monotonic()
        try:
            return self._answered(actor, question, mentioned)
        except QueryError as error:
            if error.code in _OF_NAMES:
                _wait_for_beat(began)
            raise

    def _answered(
        self, actor: Actor, question: SqlQuestion, mentioned: Mapping[str, Path]
    ) -> QueryAnswer:
        assignee = self.inputs.decisions.assignee_of(actor, "", Verb.QUERY)
        decider = self.inputs.decisions.decider()
        grounds = QueryGrounds(decider, self.inputs.decisions.decider)
        asker = _Asker(actor, assignee, grounds)
        knowledge = Known(decider, assignee)
        data = self.inputs.known_data(decider, assignee, mentioned)
        unseen = [iri for iri in data if not knowledge.has(iri)]
        try:
            result = self._result(asker, question, data)
        except QueryError as error:
            hidden = len(data) < len(mentioned) and error.code in _OF_NAMES
            other = self._logged(asker, question, mentioned) if hidden else None
            if other is not None and other.permitted:
                return self._reviewed(asker, question, other)
            if error.code in _OF_NAMES and (other is None or other.decision is None):
                self._log_nameless(asker, question, data)
            if unseen and error.code in _OF_NAMES:
                raise _nameless(knowledge, unseen) from None
            raise
        except DataError as error:
            if error.code in _OF_POLICIES:
                raise _misnamed() from None
            raise
        is_sent = result.checked is not None and result.checked.offered is not None
        if unseen and not (result.permitted or is_sent):
            is_whole = not all(result.columns.values())
            raise _nameless(knowledge, unseen, _WHOLE if is_whole else _NO_COLUMN)
        return self._reviewed(asker, question, result)

    def _reviewed(
        self, asker: "_Asker", question: SqlQuestion, result: "QueryResult"
    ) -> QueryAnswer:
        """Return an answer, of which what is left to a person was sent to one.

        Raises ServiceError (N004) where what permits it does so no longer.
        """
        answer = _answer(result)
        asker.grounds.check(result.columns)
        if result.checked is not None and result.checked.offered is not None:
            answer.review = self.send(asker.actor, result, question)
            if answer.review is None:
                answer.suggestion = " ".join(filter(None, (answer.suggestion, _NOT_SENT)))
        return answer

    def _logged(
        self, asker: "_Asker", question: SqlQuestion, data: Mapping[str, Path]
    ) -> "QueryResult | None":
        """Return the answer by all data, so that what is denied of them is in the log; None where
        the query cannot be understood, or data that the caller may know nothing of fail."""
        try:
            return self._result(asker, question, data)
        except (QueryError, DataError):
            return None

    def _log_nameless(self, asker: "_Asker", question: SqlQuestion, data: Iterable[str]) -> None:
        """Log that a query is denied that names what there is not, as one is that names what may
        not be read: how long the answer takes would else tell which it is."""
        if question.dry_run:
            return
        from policy_engine.decision.log import DecisionLog  # noqa: PLC0415 (slow to import)

        decider, decisions = asker.grounds.decider, self.inputs.decisions
        names = asker.assignee, READ, [*data] or [READ], question.purpose
        request = decisions.request(asker.actor, *names, decider)
        logged = self.inputs.logged()
        log = DecisionLog.open(logged["log"], logged["log_key"])
        with log.transaction():
            pass  # in which a query is asked what it may read, before it is decided
        with log.transaction() as transaction:
            decision = decider.decide(request, None, transaction.history)
            denied = decision if decision.effect == "deny" else None
            if denied is not None:
                transaction.append(denied)
        if denied is not None:
            decisions.tally.add(denied.effect)
        decisions.head.follow()

    def _result(
        self, asker: "_Asker", question: SqlQuestion, data: Mapping[str, Path]
    ) -> "QueryResult":
        is_run, is_noisy = not question.dry_run, bool(question.epsilon or question.delta)
        more = self.inputs.logged() if is_run else {}
        if is_noisy:
            head = budget_head(RunFolders(self.inputs.folder))
            head.check()
            more |= {"ledger": self.budgets, "ledger_key": head.key}
        elif is_run:
            from policy_engine.decision.query.checking.reviewed_cells import (  # noqa: PLC0415
                AnswerReview,
            )

            review = AnswerReview(is_exception=bool(question.exception.strip()))
            more |= {**self.inputs.recorded(), "review": review}
        decider, assignee = asker.grounds.decider, asker.assignee
        names = assignee, READ, [READ], question.purpose  # of targets, there is only the SQL
        request = self.inputs.decisions.request(asker.actor, *names, decider)
        result = query_data(
            question.sql,
            decider.in_force,
            assignee,
            data,
            request.purpose,
            run=is_run,
            compiled=decider,
            telling=asker.grounds.noting(self.inputs.decisions.told(asker.actor)),
            epsilon=question.epsilon or None,
            delta=question.delta or 0,  # without an epsilon, it is refused there
            **self.inputs.common(decider),
            **more,
        )
        if is_run:
            self.inputs.follow()
        if is_run and result.decision:
            self.inputs.decisions.tally.add(result.decision.effect)
        return result


_NOT_SENT = (
    "Nobody was asked to review it: too many of your reviews are open, or the data have no owner."
)
_OF_NAMES = ("Q003", "Q004")
_BEAT = 0.1
"""Seconds to a multiple of which a refusal of names takes."""


def _wait_for_beat(began: float) -> None:
    """Wait until what began then has taken a multiple of the beat: what is left between a name that
    there is not and one that may not be read is a few milliseconds."""
    time.sleep(_BEAT - (time.monotonic() - began) % _BEAT)


_OF_POLICIES = ("C001", "C005")
"""What is wrong with the names that policies have for data, each of which such an error tells."""


def _misnamed() -> PolicyEngineError:
    message = "A policy about these data names columns that they lack."
    return ServiceError.of("N004", message, "Their owner has to correct it.")


_NO_COLUMN = "The query reads a column that there is not, or that you may not read so."
_WHOLE = (
    "The query names no column of some data, and so reads them as a whole, which you may not. To "
    "count rows, count a column: count(COLUMN) in place of count(*)."
)


def _nameless(
    knowledge: Known, datasets: Iterable[str], message: str = _NO_COLUMN
) -> PolicyEngineError:
    """Return the one error for a column that there is not, and for one that may not be read.

    Who is permitted some columns of a dataset learns of no other by it.
    """
    names = sorted({terms.local_name(one) for iri in datasets for one in knowledge.parts(iri)})
    return QueryError.of("Q004", message, f"Columns that policies name to you: {', '.join(names)}.")


def _answer(result: "QueryResult") -> QueryAnswer:
    from policy_engine.decision.query.checking.released_json import (  # noqa: PLC0415 (slow)
        checked_json,
    )

    decision = result.decision.model_dump(mode="json") if result.decision else None
    answer = QueryAnswer(
        permitted=result.permitted,
        sql=result.sql,
        reasons=[ProblemView.model_validate(one.as_json()) for one in result.reasons],
        suggestion=result.suggestion,
        decision=decision,
        cost=_cost(result.cost) if result.cost else None,
    )
    if result.checked is not None:
        checked = checked_json(result.checked, with_rows=False)
        answer.suppressed = [SuppressedCellView(**one) for one in checked["suppressed"]]
        answer.meanings = checked["reasons"]
        answer.advice = result.checked.advice
        check = result.checked.verdict.check
        answer.may_be_asked = bool(answer.suppressed) and check.mitigation != "deny"
    table = result.checked.table if result.checked else result.table
    if table is not None:
        answer.columns = list(table.column_names)
        answer.rows = _rows(table)
        answer.is_cut = table.num_rows > MOST_ROWS
        last = len(answer.rows)
        answer.suppressed = [one for one in answer.suppressed if one.row < last]
    return answer


def _rows(table: "pa.Table") -> list[dict[str, Any]]:
    """Return the first rows. Raises QueryError (Q008) for a time that is not in the years 1 to
    9999: it is the query that is at fault, and not the service."""
    from policy_engine.decision.query.rows import as_json  # noqa: PLC0415 (slow to import)

    try:
        return as_json(table.slice(0, MOST_ROWS))
    except OutputError as error:
        raise QueryError(*(replace(one, code="Q008") for one in error.problems)) from None


def _cost(cost: "StatisticsCost") -> AnswerCost:
    figures = [
        NoisyFigure(
            name=name,
            function=figure.function,
            noise=[
                FigureNoise(
                    quantity=one.quantity, mechanism=one.mechanism, half_width=one.half_width
                )
                for one in figure.noise
            ],
            half_width_times_n=figure.half_width_times_n,
        )
        for name, figure in cost.figures.items()
    ]
    return AnswerCost(
        epsilon=f"{cost.epsilon:f}",
        delta=f"{cost.delta:f}",
        is_charged=cost.is_charged,
        figures=figures,
    )
