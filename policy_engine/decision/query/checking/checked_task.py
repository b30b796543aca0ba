"""What is needed to answer a query that has to pass a check, and the ledger that it is held to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policy_engine.data.catalog import MEMORY
from policy_engine.decision.query.checking.answer_populations import AnswerScope
from policy_engine.decision.query.checking.checkable_query import CheckableQuery
from policy_engine.decision.query.checking.ledger_checks import SCOPES, AnswerLedger, scope_keys
from policy_engine.decision.query.checking.reviewed_cells import AnswerReview
from policy_engine.decision.query.outputs import stored_data
from policy_engine.decision.query.query_request import QueryRequest
from policy_engine.decision.query.rewriting import TableView
from policy_engine.decision.query.scope import TableReading
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import LedgerError
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.policy import Hierarchy

if TYPE_CHECKING:
    from policy_engine.release.output_ledger import OutputLedger


@dataclass(frozen=True)
class CheckedTask:
    """What is needed to answer a query that has to pass a check."""

    reading: TableReading
    views: Mapping[str, TableView]
    check: OutputCheck
    tables: Tables
    asker: QueryRequest
    dialect: str
    ledger: "OutputLedger | None"
    hierarchy: Hierarchy | None
    noise_key: bytes | None
    review: AnswerReview | None = None


def file_digests(task: CheckedTask, views: Mapping[str, TableView]) -> dict[str, str]:
    """Return the digests of the files of views, by dataset; data in memory stays as it is."""
    datasets = {task.asker.asset(iri): task.asker.dataset(iri) for iri in views}
    return {
        iri: stored_data(one, task.tables.catalog).digest
        for iri, one in datasets.items()
        if one.location != MEMORY
    }


def answer_ledger(
    task: CheckedTask, checkable: CheckableQuery, entry: str, digests: Mapping[str, str]
) -> AnswerLedger:
    """Return the ledger of a task, under the scope that its check says.

    The data must have the `digests` that were taken before it was read once all of it was. The
    answer is called by the profile and the `entry` of the decision log, if any. That was made
    before anything was read, and cannot say what became of the answer: the ledger says it.
    """
    request, dataset = task.asker.request, task.asker.dataset(checkable.dataset)
    who = (request.assignee or "", request.purpose or "", dataset.iri)
    hierarchy = task.hierarchy or Hierarchy()
    keys = scope_keys(checkable.check.ledger_scope, *who, hierarchy)
    also = tuple(key for kind in SCOPES for key in scope_keys(kind, *who, hierarchy))
    data = digests.get(dataset.iri) or stored_data(dataset, task.tables.catalog).digest
    assert task.ledger is not None  # noqa: S101 (a query without one is refused before it runs)
    name = "".join([checkable.check.profile.title, f", decision {entry}" if entry else ""])

    def verify_data() -> None:
        if file_digests(task, checkable.views) != digests:
            message = "The data changed while the answer was computed. Nothing of it is shown."
            raise LedgerError.of("K051", message, "Ask again once the data stays as it is.")

    return AnswerLedger(task.ledger, AnswerScope(dataset.iri, data, keys, name, also), verify_data)
