"""The requester of a query, and the decisions on everything it reads."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from policy_engine import terms
from policy_engine.data.catalog import Dataset
from policy_engine.data.column_names import column_iri
from policy_engine.decision import Request, RowAccess
from policy_engine.decision.history import History
from policy_engine.decision.query.model import Columns
from policy_engine.decision.telling import Telling, unchanged

Access = Callable[[Request, Collection[str], tuple[str, ...], History | None], RowAccess]
"""What decides on targets: the datasets with rows among them, and all that is read with them.

What was done so far is as a log tells it, if there is one.
"""


@dataclass(frozen=True)
class QueryRequest:
    """The requester and purpose (a request whose targets do not count), and what decides.

    `verify` refuses data that is not what was certified, where data is what has to be
    (`is_certified`). `history` is what was done so far.
    `assets` are the datasets by the IRIs of their tables, of which a release by buckets has two.
    """

    request: Request
    access: Access
    verify: Callable[[Dataset, History | None], None]
    is_certified: Callable[[Dataset], bool]
    assets: Mapping[str, Dataset]
    history: History | None = None
    told: Telling = unchanged
    """What of a decision is told to who asks."""

    def dataset(self, table: str) -> Dataset:
        """Return the dataset that a table of a query is of: decisions are about that."""
        return self.assets[table]

    def asset(self, table: str) -> str:
        """Return the IRI of the dataset that a table of a query is of."""
        return self.dataset(table).iri

    def ask(self, columns: Columns) -> RowAccess:
        """Return the decision on columns of datasets that are read together."""
        return self._ask(columns, columns)

    def ask_each(self, columns: Columns, together: RowAccess) -> dict[str, RowAccess]:
        """Return, by dataset, the rules that decide on its rows when everything is read together.

        `together` is the decision on everything: no other rule counts for a part.
        """
        if len(columns) == 1:
            return dict.fromkeys(columns, together)
        rules = {id(grant.rule) for grant in together.permissions}
        accesses = {}
        for iri, names in columns.items():
            part = self._ask({iri: names}, columns)
            shared = tuple(grant for grant in part.permissions if id(grant.rule) in rules)
            accesses[iri] = replace(part, permissions=shared)
        return accesses

    def _ask(self, part: Columns, whole: Columns) -> RowAccess:
        request = self.request.model_copy(update={"targets": self._targets(part)})
        datasets = dict.fromkeys(terms.canonical(self.asset(one)) for one in whole)
        return self.access(request, [*datasets], self._targets(whole), self.history)

    def _targets(self, columns: Columns) -> tuple[str, ...]:
        """Return columns as targets of a request; a whole dataset if none of a table is given."""
        iris = (
            iri
            for table, names in columns.items()
            for asset in [self.asset(table)]
            for iri in ([column_iri(asset, name) for name in names] or [asset])
        )
        return tuple(dict.fromkeys(map(terms.canonical, iris)))
