"""What queries are answered from: the data that they mean, the logs and the ledgers."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.decision import Decider
from policy_engine.decision.knowing import Known
from policy_engine.errors import QueryError
from policy_engine.service.files.keys import key_file
from policy_engine.service.resources.decisions import Decisions
from policy_engine.service.resources.log_heads import OUTPUT_NAME, budget_head, output_head
from policy_engine.service.runs.folders import RunFolders

if TYPE_CHECKING:
    from policy_engine.decision.query.model import QueryResult


@dataclass(frozen=True)
class QueryInputs:
    """What the library is given with a query, in whoever's name it is asked."""

    decisions: Decisions
    folder: Path
    data: Callable[[str], AbstractContextManager[Mapping[str, Path]]]
    """The data that a query may mean, by IRI, of all that there is, while they are read."""

    def known_data(
        self, decider: Decider, assignee: str, data: Mapping[str, Path]
    ) -> dict[str, Path]:
        """Return the data of which policies say anything to an assignee."""
        knowledge = Known(decider, assignee)
        return {
            iri: path for iri, path in data.items() if knowledge.has(iri) or knowledge.parts(iri)
        }

    def permitted(self, sql: str, assignee: str, purpose: str) -> "QueryResult | None":
        """Return what the policies in force say of a query that they let be asked, and which check
        its answer has to pass; None where they do not. Nothing of it is run or logged."""
        from policy_engine.api.deciding import query_data  # noqa: PLC0415 (slow to import)

        decider = self.decisions.decider()
        with self.data(sql) as mentioned:
            data = self.known_data(decider, assignee, mentioned)
            question = sql, decider.in_force, assignee, data, purpose
            try:
                result = query_data(*question, run=False, compiled=decider, **self.common(decider))
            except QueryError:
                return None
        return result if result.permitted else None

    @property
    def ledger(self) -> Path:
        """The ledger of checked answers."""
        return self.folder / OUTPUT_NAME

    def common(self, decider: Decider) -> dict[str, Any]:
        """Return what any query is asked with: proofs, owners and the key of noise."""
        return {
            "certificates": decider.proofs,
            "owners": decider.owners,
            "noise_key": key_file(self.folder, "noise"),
        }

    def logged(self) -> dict[str, Any]:
        """Return the log of decisions, of a query that is answered. Raises LogError (G002) for a
        log that was cut, ServiceError (N013) for a key that is lost."""
        self.decisions.head.check()
        return {
            "log": self.decisions.path,
            "log_key": self.decisions.key,
        }

    def recorded(self) -> dict[str, Any]:
        """Return the ledger of answers, of a query that is answered; it has to have the last entry
        that is known of it.

        Raises LedgerError (K033) for one that was cut or is gone, ServiceError (N013) for a key
        that is lost.
        """
        head = output_head(self.folder)
        head.check()
        end = head.kept()
        return {
            "output_ledger": self.ledger,
            "output_ledger_key": head.key,
            "output_ledger_head": str(end) if end else "",
        }

    def follow(self) -> None:
        """Remember the ends of the log and the ledgers, which an answer may have added to."""
        self.decisions.head.follow()
        if self.ledger.exists():
            output_head(self.folder).follow()
        folders = RunFolders(self.folder)
        if folders.ledger.exists():
            budget_head(folders).follow()
