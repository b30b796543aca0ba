"""Where a dataset or a release comes from, what was made of it, and who may read it: one hop."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel
from sqlalchemy import select

from policy_engine import terms
from policy_engine.decision import Request
from policy_engine.policy.model import READ, Rule
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.authorising import reach_of
from policy_engine.service.identity.roles import Role, Verb, Whose
from policy_engine.service.resources.datasets import OwnedDatasets
from policy_engine.service.resources.decisions import Decisions
from policy_engine.service.resources.releases import Releases, ReleaseView
from policy_engine.service.runs.kinds.sanitising import Sanitising
from policy_engine.service.store.database import Database
from policy_engine.service.store.runs import StoredRun


class SourceView(BaseModel):
    """A dataset that something was made from, by what policies call it."""

    iri: str
    dataset: str


class ReaderView(BaseModel):
    """A party that may read something now for a purpose, by the policies in force; "" is none."""

    assignee: str
    purpose: str


class LineageView(BaseModel):
    """What an asset was made from, by which version of which policy in which run; what was made of
    it; and who may read it."""

    iri: str
    made_from: list[SourceView]
    policy: str = ""
    version: int = 0
    run: str = ""
    made: list[ReleaseView]
    readers: list[ReaderView]


MOST = 200
"""So many parties, each with a purpose, are asked about."""


@dataclass(frozen=True)
class AssetLineage:
    """Looks one step up and one step down. What is not there for the caller is not told."""

    database: Database
    datasets: OwnedDatasets
    releases: Releases
    decisions: Decisions

    def of_dataset(self, actor: Actor, dataset_id: str) -> LineageView:
        """Return the lineage of a dataset. Raises ServiceError (N003)."""
        view = self.datasets.owned.read(actor, dataset_id)
        made = self._made_of(actor, view.iri)
        return LineageView(
            iri=view.iri, made_from=[], made=made, readers=self._readers(actor, view.iri)
        )

    def of_release(self, actor: Actor, release_id: str) -> LineageView:
        """Return the lineage of a release. Raises ServiceError (N003)."""
        view = self.releases.read(actor, release_id)
        sources = self._sources(view.run)
        return LineageView(
            iri=view.output,
            made_from=[SourceView(iri=iri, dataset=one) for iri, one in sources.items()],
            policy=view.policy,
            version=view.version,
            run=view.run,
            made=self._made_of(actor, view.output),
            readers=self._readers(actor, view.output),
        )

    def _sources(self, run_id: str) -> dict[str, str]:
        with self.database.reading() as session:
            chosen = select(StoredRun.settings).where(StoredRun.id == run_id)
            return dict(Sanitising.model_validate(session.scalar(chosen)).datasets)

    def _made_of(self, actor: Actor, iri: str) -> list[ReleaseView]:
        if reach_of(actor, Verb.READ_RELEASES) is None:
            return []
        views = self.releases.all(actor).items
        return [one for one in views if iri in map(terms.canonical, self._sources(one.run))]

    def _readers(self, actor: Actor, iri: str) -> list[ReaderView]:
        """Return who may read an asset: for its owner and who sees all decisions, else oneself."""
        reach = reach_of(actor, Verb.READ_DECISIONS)
        if reach is None:
            return []
        readers = _readers(self.decisions, iri)
        is_owner = Role.OWNER in actor.roles and self.decisions.owner_of(iri) == actor.id
        is_all = reach is Whose.ALL or is_owner
        return [one for one in readers if is_all or one.assignee == actor.party]


def _readers(decisions: Decisions, iri: str) -> Iterator[ReaderView]:
    """Yield the parties that rules about an asset name and that may read it, as it is decided."""
    decider = decisions.decider()
    permissions = [rule for policy in decider.policies for rule in policy.permissions]
    about = [one for one in permissions if iri in _assets(one)]
    names = {(party.iri, some) for one in about for party in one.assignees for some in _for(one)}
    for assignee, purpose in sorted(names)[:MOST]:
        request = Request(assignee=assignee, action=READ, targets=(iri,), purpose=purpose)
        if decider.decide(request).effect == "permit":
            yield ReaderView(assignee=assignee, purpose=purpose)


def _assets(rule: Rule) -> set[str]:
    """Return the assets of a rule, the datasets of those that are columns, and its output."""
    iris = {one.iri for one in rule.targets}
    return {*iris, *map(terms.dataset_of, iris), rule.output}


def _for(rule: Rule) -> Iterator[str]:
    yield ""
    yield from rule.purposes
