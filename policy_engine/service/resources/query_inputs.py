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

if TYPE_CHECKING:
    from policy_engine.decision.query.model import QueryResult

_LEDGER = "outputs.sqlite"


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
        return self.folder / _LEDGER

    def common(self, decider: Decider) -> dict[str, Any]:
        """Return what any query is asked with: proofs, owners and the key of noise."""
        return {
            "certificates": (*decider.certificates, *decider.attestations),
            "owners": decider.owners,
            "noise_key": key_file(self.folder, "noise"),
        }

    def logged(self) -> dict[str, Any]:
        """Return the log of decisions, and the key of the ledger, of a query that is answered.
        Raises LogError (G002) for a log that was cut, ServiceError (N013) for a key that is lost.
        """
        self.decisions.head.check()
        return {
            "log": self.decisions.path,
            "log_key": self.decisions.key,
            "output_ledger_key": key_file(self.folder, "outputs", of=self.ledger),
        }
